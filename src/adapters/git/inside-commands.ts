/**
 * The commands that run inside the writer's boundary. Git there may be told
 * anything by the writer's files, so each is bounded, and what it prints is only
 * read by the parsers beside this.
 */
import type { Baseline, InsideCommand } from '../../ports/writers/git.ts';
import { EXPORTS, MAX_REFS } from './bundle-header.ts';
import { DETACHED_RESET, WIP } from './inside-scripts.ts';

const TIMEOUT_MS = 120_000;
const MAX_LIST_BYTES = 1024 * 1024;
const MAX_STATUS_BYTES = 8 * 1024 * 1024;

const ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_PAGER: 'cat',
  GIT_EDITOR: 'false',
  LC_ALL: 'C',
};

function inside(argv: InsideCommand['argv'], maxOutputBytes = MAX_LIST_BYTES): InsideCommand {
  return { argv, env: ENVIRONMENT, maxOutputBytes, timeoutMs: TIMEOUT_MS };
}

/** The first checkout, of a clone that has none. */
export function checkoutCommand(): InsideCommand {
  return inside(['git', 'reset', '--hard', '--quiet']);
}

/** Read by `parseStatus`. */
export function statusCommand(): InsideCommand {
  const format = ['--porcelain=v2', '-z', '--branch', '--show-stash', '--untracked-files=all'];
  return inside(['git', '--no-optional-locks', 'status', ...format, '--ignore-submodules=none'], MAX_STATUS_BYTES);
}

const REF_FORMAT = '--format=%(objectname)%00%(symref)%00%(refname)%00';

/** Branches with commits of their own, one more than may come out. Read by `parseRefs`. */
export function workBranchesCommand({ commit }: Baseline): InsideCommand {
  return inside(['git', 'for-each-ref', `--count=${MAX_REFS + 1}`, REF_FORMAT, `--no-merged=${commit}`, 'refs/heads']);
}

/** Any branches, two at most: a clone at its baseline has one. Read by `parseRefs`. */
export function anyBranchesCommand(): InsideCommand {
  return inside(['git', 'for-each-ref', '--count=2', REF_FORMAT, 'refs/heads']);
}

/** Read by `parseWorktrees`. */
export function worktreesCommand(): InsideCommand {
  return inside(['git', 'worktree', 'list', '--porcelain', '-z']);
}

/** Prints a commit when one of them is on no branch, in no export and not in the baseline. Read by `parseAny`. */
export function otherWorkCommand({ commit }: Baseline): InsideCommand {
  const known = ['--not', commit, '--branches', `--glob=${EXPORTS}*`];
  return inside(['git', 'rev-list', '--max-count=1', `--exclude=${EXPORTS}*`, '--all', ...known]);
}

/** The commits of stashes, the newest first. Read by `parseIds`. */
export function stashesCommand(): InsideCommand {
  return inside(['git', 'rev-list', '--walk-reflogs', `--max-count=${MAX_REFS + 1}`, 'refs/stash', '--']);
}

/** Beside what `wipCommand` exports. @param named Names of ours. */
export function exportCommand(named: readonly { readonly name: string; readonly commit: string }[]): InsideCommand {
  const lines = named.map(({ name, commit }) => `create ${EXPORTS}${name} ${commit}\n`);
  return { ...inside(['git', 'update-ref', '--no-deref', '--stdin']), input: Buffer.from(lines.join('')) };
}

/**
 * Makes one commit of all that is not committed, untracked files included,
 * without touching the index or the files. Read by `parseWip`.
 * @param name Of the export; judged already. Undefined: nothing is exported, and no export goes.
 */
export function wipCommand({ commit }: Baseline, name: string | undefined): InsideCommand {
  const who = { GIT_AUTHOR_NAME: 'pi-session-mcp', GIT_AUTHOR_EMAIL: 'pi-session-mcp@localhost' };
  const committer = { GIT_COMMITTER_NAME: who.GIT_AUTHOR_NAME, GIT_COMMITTER_EMAIL: who.GIT_AUTHOR_EMAIL };
  const command = inside(['sh', '-c', WIP, 'sh', commit, EXPORTS, name ?? '']);
  return { ...command, env: { ...command.env, ...who, ...committer } };
}

/** @param refs Full names, judged already; each has commits that the baseline does not have. */
export function bundleCommand({ commit }: Baseline, refs: readonly string[], maxOutputBytes: number): InsideCommand {
  return inside(['git', 'bundle', 'create', '--quiet', '--version=2', '-', ...refs, `^${commit}`], maxOutputBytes);
}

/** @param pack What a later baseline adds; read from stdin. */
export function unpackCommand(pack: Uint8Array): InsideCommand {
  return { ...inside(['git', 'index-pack', '--stdin', '--fix-thin']), input: pack };
}

/** Throws away every ref, change and untracked file, and starts at the baseline; ignored files stay. */
export function resetCommand({ commit, branch }: Baseline): InsideCommand {
  return inside(['sh', '-c', DETACHED_RESET, 'sh', commit, branch]);
}
