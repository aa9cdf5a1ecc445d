/** Under which names a clone's work comes out: its own where they may, and otherwise ours (docs/writers-git.md). */
import type { InsideBranch, RefusedReason, WriterStatus } from '../../ports/writers/git.ts';
import { MAX_REFS } from './bundle-header.ts';
import { collisions, firstOf, judgeBranch, judgeName, WIP_SUFFIX } from './ref-names.ts';

export interface NamedCommit {
  readonly name: string;
  readonly commit: string;
}

export interface Naming {
  /** Branches that come out as they are called. */
  readonly branches: readonly InsideBranch[];
  /** What comes out under a name of ours: branches that may not come out under their own, and stashes. */
  readonly substitutes: readonly NamedCommit[];
  /** Of all that is not committed. */
  readonly wip: string;
  readonly refused: Readonly<Partial<Record<RefusedReason, number>>>;
  /** Stashes for which there was no room. */
  readonly stashesLeft: number;
}

/**
 * @param stashes Their commits, the newest first.
 * @param landed Names of what was collected before.
 */
export function nameWork(status: WriterStatus, stashes: readonly string[], landed: readonly string[]): Naming {
  const wish = wipOf(status.branch);
  const { branches, turnedAway, refused } = sort(status.branches, [...landed, ...(wish ? [wish] : [])]);
  const taken = branches.map(({ name }) => name);
  const commits = new Set(branches.map(({ commit }) => commit));
  const substitutes: NamedCommit[] = [];
  const give = (prefix: 'refused' | 'stash', commit: string): void => {
    // Under one name or the other, it is out.
    if (commits.has(commit)) return;
    commits.add(commit);
    const name = freeName(prefix, taken, landed);
    taken.push(name);
    substitutes.push({ name, commit });
  };
  for (const { commit } of turnedAway) give('refused', commit);
  // One is for what is not committed.
  const room = MAX_REFS - 1 - branches.length - substitutes.length;
  for (const commit of stashes.slice(0, room)) give('stash', commit);
  const isRefused = turnedAway.some(({ name }) => name === status.branch);
  const stem = substitutes.find(({ commit }) => isRefused && commit === status.commit)?.name ?? 'unnamed';
  const stands = (name: string) => !collisions([name], [...taken, ...landed]).has(name);
  const isFree = !isRefused && wish !== undefined && !collisions([wish], landed).has(wish);
  const wip = isFree ? wish : firstOf((number) => `${stem}${number > 1 ? `-${number}` : ''}${WIP_SUFFIX}`, stands);
  return { branches, substitutes, wip, refused, stashesLeft: Math.max(stashes.length - room, 0) };
}

/** Undefined: it may not be called after this branch. */
function wipOf(branch: string | null): string | undefined {
  if (branch === null) return `detached${WIP_SUFFIX}`;
  const name = `${branch}${WIP_SUFFIX}`;
  return judgeBranch(branch) === undefined && judgeName(name) === undefined ? name : undefined;
}

function sort(all: readonly InsideBranch[], present: readonly string[]) {
  const judge = ({ name, isLink }: InsideBranch): RefusedReason | undefined =>
    judgeBranch(name) ?? (isLink ? 'link' : undefined);
  const sound = all.filter((branch) => judge(branch) === undefined).map(({ name }) => name);
  const pairs = collisions(sound, present);
  const branches: InsideBranch[] = [];
  const turnedAway: InsideBranch[] = [];
  const refused: Partial<Record<RefusedReason, number>> = {};
  for (const branch of all) {
    const reason = judge(branch) ?? pairs.get(branch.name);
    if (reason === undefined) branches.push(branch);
    else {
      turnedAway.push(branch);
      refused[reason] = (refused[reason] ?? 0) + 1;
    }
  }
  return { branches, turnedAway, refused };
}

/** The first that stands beside everything else. Each name that is there is in the way of one number at most. */
function freeName(prefix: string, taken: readonly string[], landed: readonly string[]): string {
  const stands = (name: string) => !taken.includes(name) && !collisions([name], [...taken, ...landed]).has(name);
  return firstOf((number) => `${prefix}-${number}`, stands);
}
