/**
 * Where a bundle is taken apart: a repository of its own that is thrown away
 * afterwards. It sees the checkout's objects and adds none to them.
 */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Baseline, ImportRefusal } from '../../ports/writers/git.ts';
import type { BundleRef } from './bundle-header.ts';
import type { HostGit, HostRepository } from './host-git.ts';
import { removeTree } from './remove-tree.ts';

/** Git calls these warnings by default, or nothing at all. */
const STRICT = '--strict=badFilemode=error,gitattributesSymlink=error';

export interface Quarantine {
  readonly repository: HostRepository;
  dispose(): Promise<void>;
}

/**
 * @param folder Private to this user; the quarantine becomes an entry of it.
 * Undefined: it cannot be made.
 */
export async function openQuarantine(
  git: HostGit,
  checkout: HostRepository,
  folder: string,
  signal: AbortSignal,
): Promise<Quarantine | undefined> {
  const args = ['rev-parse', '--path-format=absolute', '--git-path', 'objects'];
  const { code, stdout } = await git.run({ repository: checkout, args }, signal);
  const objects = stdout.toString('utf8').replace(/\n$/, '');
  if (code !== 0 || !objects.startsWith('/') || objects.includes('\n')) return undefined;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const place = await mkdtemp(join(folder, 'import-'));
  const dispose = async (): Promise<void> => void (await removeTree(place));
  const repository = await git.create(join(place, 'git'), 'none', signal);
  if (!repository) {
    await dispose();
    return undefined;
  }
  await mkdir(join(repository.gitDir, 'objects', 'info'), { recursive: true });
  await writeFile(join(repository.gitDir, 'objects', 'info', 'alternates'), `${objects}\n`);
  return { repository, dispose };
}

export interface JudgedRef extends BundleRef {
  /** Where the branch left the baseline's history. */
  readonly fork: string;
}

export type ExamineOutcome =
  | { readonly ok: true; readonly refs: readonly JudgedRef[]; readonly unrelated: number }
  | { readonly ok: false; readonly code: ImportRefusal };

/** Takes the pack in with every check that git has, then asks what the names in the header point at. */
export async function examine(
  git: HostGit,
  { repository }: Quarantine,
  bundle: { readonly refs: readonly BundleRef[]; readonly prerequisites: readonly string[]; readonly pack: Buffer },
  base: Baseline,
  signal: AbortSignal,
): Promise<ExamineOutcome> {
  if (!(await areInHistory(git, repository, bundle.prerequisites, base, signal))) {
    return { ok: false, code: 'prerequisites_refused' };
  }
  const index = ['index-pack', '--stdin', '--fix-thin', STRICT, `--max-input-size=${bundle.pack.length}`];
  const taken = await git.run({ repository, args: index, input: bundle.pack }, signal);
  if (taken.code !== 0) return { ok: false, code: 'objects_refused' };
  const refs: JudgedRef[] = [];
  for (const ref of bundle.refs) {
    const fork = await forkOf(git, repository, ref.commit, base, signal);
    if (fork !== undefined) refs.push({ ...ref, fork });
  }
  // Everything that the branches reach has to be there, and sound enough to be walked.
  const walk = await git.run(
    {
      repository,
      args: ['rev-list', '--objects', '--quiet', '--stdin'],
      input: [...refs.map(({ commit }) => commit), `^${base.commit}`, ''].join('\n'),
    },
    signal,
  );
  if (walk.code !== 0) return { ok: false, code: 'objects_refused' };
  return { ok: true, refs, unrelated: bundle.refs.length - refs.length };
}

/** What a bundle needs has to be of the baseline's history: anything else would say something about the checkout. */
async function areInHistory(
  git: HostGit,
  repository: HostRepository,
  commits: readonly string[],
  base: Baseline,
  signal: AbortSignal,
): Promise<boolean> {
  const input = [...commits, `^${base.commit}`, ''].join('\n');
  const { code, stdout } = await git.run({ repository, args: ['rev-list', '--max-count=1', '--stdin'], input }, signal);
  return code === 0 && stdout.length === 0;
}

/** Undefined: not a commit, or of another history. */
async function forkOf(
  git: HostGit,
  repository: HostRepository,
  commit: string,
  base: Baseline,
  signal: AbortSignal,
): Promise<string | undefined> {
  const type = await git.run({ repository, args: ['cat-file', '-t', commit] }, signal);
  if (type.code !== 0 || type.stdout.toString('latin1') !== 'commit\n') return undefined;
  const { code, stdout } = await git.run({ repository, args: ['merge-base', commit, base.commit] }, signal);
  const [, fork] = /^([0-9a-f]{40})\n/.exec(stdout.toString('latin1')) ?? [];
  return code === 0 ? fork : undefined;
}
