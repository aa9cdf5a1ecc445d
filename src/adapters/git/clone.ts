/**
 * The private clone: the history of one commit and nothing else of the source.
 * No other branch, tag, remote, configuration, hook or unreachable object comes
 * along, and no file is shared with it.
 */
import { mkdir, open, realpath, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Baseline, CloneOutcome } from '../../ports/writers/git.ts';
import type { HostGit, HostRepository } from './host-git.ts';
import { type Layout, layoutAt } from './layout.ts';
import { removeTree } from './remove-tree.ts';
import { readSource } from './source.ts';

export interface CloneRequest {
  /** The operator's checkout. */
  readonly checkout: string;
  /** Becomes the layout's root; its parent is private to this user. */
  readonly root: string;
  readonly revision: string;
  /** The writer's branch, and whom its commits name. */
  readonly branch: string;
}

/**
 * Builds the clone beside its place and then exchanges it, so that a crash leaves
 * either what was there or what is asked for, and another try starts from both.
 * Git works in what it has just made itself, never in what a writer has seen.
 */
export async function makeClone(git: HostGit, request: CloneRequest, signal: AbortSignal): Promise<CloneOutcome> {
  try {
    return await attempt(git, request, signal);
  } catch {
    return { ok: false, code: 'failed' };
  }
}

async function attempt(git: HostGit, request: CloneRequest, signal: AbortSignal): Promise<CloneOutcome> {
  const parent = dirname(request.root);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const root = join(await realpath(parent), request.root.slice(parent.length + 1));
  const source = await readSource(git, request.checkout, root, request.revision, signal);
  if (!source.ok) return source;
  const baseline = { commit: source.commit, branch: request.branch };
  const [fresh, old] = [`${root}.new`, `${root}.old`];
  const failed: CloneOutcome = { ok: false, code: 'failed' };
  if (!(await removeTree(fresh))) return failed;
  if (!(await fill(git, source.repository, layoutAt(fresh), baseline, signal))) return failed;
  if (signal.aborted || !(await removeTree(old))) return failed;
  await rename(root, old).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(fresh, root);
  await syncDirectory(parent);
  // What is left of it goes with the next clone.
  await removeTree(old);
  return { ok: true, baseline };
}

async function fill(
  git: HostGit,
  source: HostRepository,
  layout: Layout,
  baseline: Baseline,
  signal: AbortSignal,
): Promise<boolean> {
  for (const path of [layout.root, layout.work, join(layout.work, '.git'), dirname(layout.config), layout.hooks]) {
    await mkdir(path, { mode: 0o700 });
  }
  const clone = await git.create(layout.git, baseline.branch, signal);
  if (!clone) return false;
  const pack = { repository: source, args: ['pack-objects', '--quiet', '--revs', '--stdout', '--delta-base-offset'] };
  const taken = await git.pipe(
    { ...pack, input: `${baseline.commit}\n` },
    { repository: clone, args: ['index-pack', '--stdin'] },
    signal,
  );
  if (!taken) return false;
  const update = ['update-ref', `refs/heads/${baseline.branch}`, baseline.commit];
  const { code } = await git.run({ repository: clone, args: update }, signal);
  if (code !== 0) return false;
  await mkdir(join(layout.git, 'hooks'), { mode: 0o700 });
  // Places for the mounts. As they are, git on the host takes the directory for no repository.
  await writeFile(join(layout.git, 'config'), '');
  await writeFile(join(layout.git, 'commondir'), '');
  await writeFile(layout.commonDir, '.\n');
  await writeFile(layout.config, configuration(baseline.branch));
  await writeBaseline(layout, baseline);
  return true;
}

/** Written whole or not at all; the writer never sees this place writable. */
export async function writeBaseline(layout: Layout, { commit, branch }: Baseline): Promise<void> {
  const next = `${layout.baseline}.new`;
  const file = await open(next, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify({ schemaVersion: 1, commit, branch })}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(next, layout.baseline);
  await syncDirectory(dirname(layout.baseline));
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** No remote, no helper, no include; an identity, because commits need one. */
function configuration(name: string): string {
  return `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
[user]
	name = ${name}
	email = ${name}@localhost
[branch]
	autoSetupMerge = false
[commit]
	gpgSign = false
`;
}
