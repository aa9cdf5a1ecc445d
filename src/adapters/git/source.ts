/** The operator's checkout: may it be the source of a writer, and which commit is meant? */
import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import type { CloneOutcome } from '../../ports/writers/git.ts';
import type { HostGit, HostRepository } from './host-git.ts';

export type CloneRefusal = Extract<CloneOutcome, { readonly ok: false }>['code'];

export type SourceOutcome =
  | { readonly ok: true; readonly repository: HostRepository; readonly commit: string }
  | { readonly ok: false; readonly code: CloneRefusal };

/**
 * A linked worktree or the checkout of a submodule is a source like any other.
 * What lacks objects (shallow, partial) or has longer ids is refused.
 * @param root The writer's own directory: neither may lie in the other.
 */
export async function readSource(
  git: HostGit,
  checkout: string,
  root: string,
  revision: string,
  signal: AbortSignal,
): Promise<SourceOutcome> {
  const real = await realpath(checkout).catch(() => undefined);
  if (real === undefined) return { ok: false, code: 'source_unavailable' };
  if (isWithin(real, root) || isWithin(root, real)) return { ok: false, code: 'source_unsupported' };
  const repository = await git.find(real, signal);
  if (!repository) return { ok: false, code: 'source_unavailable' };
  const about = await git.run(
    { repository, args: ['rev-parse', '--show-object-format', '--is-shallow-repository'] },
    signal,
  );
  if (about.code !== 0) return { ok: false, code: 'source_unavailable' };
  if (about.stdout.toString('latin1') !== 'sha1\nfalse\n') return { ok: false, code: 'source_unsupported' };
  const partial = await git.run(
    {
      repository,
      args: [
        'config',
        '--local',
        '--includes',
        '--name-only',
        '--get-regexp',
        '^(extensions\\.partialclone|remote\\..*\\.promisor)$',
      ],
    },
    signal,
  );
  // 1: no such setting.
  if (partial.code !== 1) return { ok: false, code: 'source_unsupported' };
  const commit = await commitOf(git, repository, revision, signal);
  return commit === undefined ? { ok: false, code: 'baseline_missing' } : { ok: true, repository, commit };
}

async function commitOf(
  git: HostGit,
  repository: HostRepository,
  revision: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`];
  const { code, stdout } = await git.run({ repository, args }, signal);
  const [, commit] = /^([0-9a-f]{40})\n$/.exec(stdout.toString('latin1')) ?? [];
  return code === 0 ? commit : undefined;
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`);
}
