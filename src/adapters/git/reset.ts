/** Starting a clone anew in its place: all of it happens inside, ignored files (caches, dependencies) stay. */
import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Baseline, CloneOutcome, RunInside } from '../../ports/writers/git.ts';
import { writeBaseline } from './clone.ts';
import { askInside, isAtBaseline, readStatus } from './collect.ts';
import type { HostGit } from './host-git.ts';
import { resetCommand, unpackCommand } from './inside-commands.ts';
import type { Layout } from './layout.ts';
import { readSource } from './source.ts';

const MAX_PACK_BYTES = 128 * 1024 * 1024;

export interface ResetRequest {
  readonly git: HostGit;
  readonly inside: RunInside;
  readonly checkout: string;
  readonly layout: Layout;
  readonly base: Baseline;
  readonly revision: string;
}

/** The new baseline is recorded once the clone has been seen to stand at it; until then this may be repeated. */
export async function resetClone(request: ResetRequest, signal: AbortSignal): Promise<CloneOutcome> {
  const { git, inside, checkout, layout, base, revision } = request;
  const failed: CloneOutcome = { ok: false, code: 'failed' };
  try {
    const root = join(await realpath(dirname(layout.root)), basename(layout.root));
    const source = await readSource(git, checkout, root, revision, signal);
    if (!source.ok) return source;
    const next = { commit: source.commit, branch: base.branch };
    const pack = await git.run(
      {
        repository: source.repository,
        args: ['pack-objects', '--quiet', '--revs', '--stdout', '--thin', '--delta-base-offset'],
        input: `${next.commit}\n^${base.commit}\n`,
        maxOutputBytes: MAX_PACK_BYTES,
      },
      signal,
    );
    if (pack.code !== 0) return failed;
    const done = () => true;
    const isEmpty = pack.stdout.readUInt32BE(8) === 0;
    if (!isEmpty && !(await askInside(inside, unpackCommand(pack.stdout), done, signal))) return failed;
    if (!(await askInside(inside, resetCommand(next), done, signal))) return failed;
    const read = await readStatus(inside, next, signal);
    if (!read.ok || !isAtBaseline(read.status, next)) return failed;
    await writeBaseline(layout, next);
    return { ok: true, baseline: next };
  } catch {
    return failed;
  }
}
