/** What of the operator's checkout is not in a clone of it, for a word about that. */
import type { HostGit, HostRepository } from './host-git.ts';

export interface CheckoutRemarks {
  /** Changes or new files that are not committed. */
  readonly hasChanges: boolean;
  /** Submodules, whose content no clone has. */
  readonly hasSubmodules: boolean;
}

const STATUS = ['status', '--porcelain', '-z', '--untracked-files=normal', '--ignore-submodules=all', '--no-renames'];

/**
 * Looks only. Content filters are the one thing of a repository's own configuration that `git status` would run
 * (docs/writers-git.md), so they are emptied; where that cannot be done, nothing is said. Never rejects.
 * @param checkout Root of the working tree. @param commit Where the clone starts.
 */
export async function remarkOn(
  git: HostGit,
  { checkout, repository, commit }: { checkout: string; repository: HostRepository; commit: string },
  signal: AbortSignal,
): Promise<CheckoutRemarks> {
  const modules = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}:.gitmodules`];
  const filters = ['config', '--includes', '-z', '--name-only', '--get-regexp', '^filter\\.'];
  const hasSubmodules = (await git.run({ repository, args: modules }, signal)).code === 0;
  const { code, stdout } = await git.run({ repository, args: filters }, signal);
  const emptied = code === 0 || code === 1 ? emptyFilters(stdout.toString('utf8')) : undefined;
  if (emptied === undefined) return { hasChanges: false, hasSubmodules };
  const args = [`--work-tree=${checkout}`, ...emptied, ...STATUS];
  const status = await git.run({ repository, args }, signal);
  return { hasChanges: status.code === 0 && status.stdout.length > 0, hasSubmodules };
}

/** @param names Settings, each ended by NUL. @returns `undefined` when one cannot be named on a command line. */
function emptyFilters(names: string): string[] | undefined {
  const settings = names.split('\0').filter((name) => name !== '');
  const drivers = new Set(settings.map((name) => name.slice('filter.'.length, name.lastIndexOf('.'))));
  if ([...drivers].some((driver) => driver.includes('='))) return undefined;
  return [...drivers].flatMap((driver) =>
    ['clean=', 'smudge=', 'process=', 'required=false'].flatMap((value) => ['-c', `filter.${driver}.${value}`]),
  );
}
