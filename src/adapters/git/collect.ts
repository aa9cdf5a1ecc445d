/** Everything that a writer has made, out of its clone: asked for inside, judged outside. */
import type {
  Baseline,
  Collection,
  CollectOutcome,
  IncompleteReason,
  InsideCommand,
  RunInside,
  StatusOutcome,
  WriterStatus,
} from '../../ports/writers/git.ts';
import { EXPORTS, MAX_REFS } from './bundle-header.ts';
import { type Naming, nameWork } from './export-names.ts';
import type { HostGit, HostRepository } from './host-git.ts';
import { add, CAPS, type ImportCaps, importBundle, type Refused } from './import-bundle.ts';
import {
  anyBranchesCommand,
  bundleCommand,
  exportCommand,
  otherWorkCommand,
  stashesCommand,
  statusCommand,
  wipCommand,
  workBranchesCommand,
  worktreesCommand,
} from './inside-commands.ts';
import {
  parseAny,
  parseIds,
  parseRefs,
  parseStatus,
  parseWip,
  parseWorktrees,
  type WipAnswer,
} from './inside-output.ts';
import { readLanded } from './landing.ts';

export interface CollectRequest {
  readonly inside: RunInside;
  readonly checkout: HostRepository;
  readonly folder: string;
  readonly writer: string;
  readonly base: Baseline;
  readonly caps?: ImportCaps;
}

/** Runs a command inside and reads what it printed; undefined when either goes wrong. */
export async function askInside<T>(
  inside: RunInside,
  command: InsideCommand,
  parse: (stdout: Uint8Array) => T | undefined,
  signal: AbortSignal,
): Promise<T | undefined> {
  const result = await inside(command, signal);
  return result.kind === 'exited' && result.code === 0 ? parse(result.stdout) : undefined;
}

export async function readStatus(inside: RunInside, base: Baseline, signal: AbortSignal): Promise<StatusOutcome> {
  const lines = await askInside(inside, statusCommand(), parseStatus, signal);
  const worktrees = lines && (await askInside(inside, worktreesCommand(), parseWorktrees, signal));
  const branches = worktrees && (await askInside(inside, workBranchesCommand(base), parseRefs, signal));
  const heads = branches && (await askInside(inside, anyBranchesCommand(), parseRefs, signal));
  if (!lines || !worktrees || !branches || !heads) return { ok: false };
  const status: WriterStatus = {
    ...lines,
    worktrees,
    branches: branches.slice(0, MAX_REFS - 1),
    hasMoreBranches: branches.length > MAX_REFS - 1,
    allBranches: heads.length,
  };
  return { ok: true, status };
}

/** Is the clone exactly what it was made as? */
export function isAtBaseline(status: WriterStatus, { commit, branch }: Baseline): boolean {
  const isUntouched = status.changes + status.stashes + status.branches.length === 0 && status.worktrees === 1;
  return isUntouched && status.branch === branch && status.commit === commit && status.allBranches === 1;
}

/** What is asked for in one bundle: full names inside. */
interface Wanted {
  readonly refs: readonly string[];
  readonly shortfalls: Shortfalls;
}

type Shortfalls = Collection['incomplete'];

/** Collects as far as it can; what could not come out makes it incomplete, and nothing in the clone goes away. */
export async function collectWork(git: HostGit, request: CollectRequest, signal: AbortSignal): Promise<CollectOutcome> {
  const { inside, base, checkout, writer } = request;
  const failed: CollectOutcome = { ok: false, code: 'inside_failed' };
  const read = await readStatus(inside, base, signal);
  if (!read.ok) return failed;
  const landed = await readLanded(git, checkout, writer, signal);
  if (!landed) return { ok: false, code: 'checkout_unavailable' };
  const { stashes: count } = read.status;
  const stashes = count > 0 ? await askInside(inside, stashesCommand(), parseIds, signal) : [];
  const naming = nameWork(read.status, stashes ?? [], [...landed.keys()]);
  const wip = await askInside(inside, wipCommand(base, naming.wip), parseWip, signal);
  if (!wip) return failed;
  const substitutes = naming.substitutes.length > 0 ? await exportAll(inside, naming, signal) : [];
  const other = await askInside(inside, otherWorkCommand(base), parseAny, signal);
  if (other === undefined) return failed;
  const missing = naming.substitutes.length - substitutes.length;
  const hasMore = read.status.hasMoreBranches || naming.stashesLeft > 0 || !stashes;
  const shortfalls = shortfallsOf(read.status, wip, { other, hasMore, missing });
  const own = [
    ...naming.branches.map(({ name }) => `refs/heads/${name}`),
    ...(wip.kind === 'clean' ? [] : [`${EXPORTS}${naming.wip}`]),
  ];
  const all = await bringOut(git, request, { refs: [...own, ...substitutes], shortfalls }, naming, signal);
  if (all.ok || substitutes.length === 0 || all.code === 'landing_failed') return all;
  // What is called by our names must not keep the rest in.
  return bringOut(
    git,
    request,
    { refs: own, shortfalls: { ...shortfalls, missing_refs: substitutes.length } },
    naming,
    signal,
  );
}

async function exportAll(inside: RunInside, { substitutes }: Naming, signal: AbortSignal): Promise<readonly string[]> {
  const isDone = await askInside(inside, exportCommand(substitutes), () => true, signal);
  return isDone ? substitutes.map(({ name }) => `${EXPORTS}${name}`) : [];
}

async function bringOut(
  git: HostGit,
  request: CollectRequest,
  { refs, shortfalls }: Wanted,
  naming: Naming,
  signal: AbortSignal,
): Promise<CollectOutcome> {
  const { inside, base, caps = CAPS } = request;
  if (refs.length === 0) return { ok: true, collection: conclude({ refs: [], kept: 0 }, naming.refused, shortfalls) };
  const bundled = await inside(bundleCommand(base, refs, caps.bundleBytes), signal);
  if (bundled.kind === 'output_too_large') return { ok: false, code: 'bundle_too_large' };
  if (bundled.kind !== 'exited' || bundled.code !== 0) return { ok: false, code: 'inside_failed' };
  const outcome = await importBundle(git, { ...request, bundle: Buffer.from(bundled.stdout) }, signal);
  if (!outcome.ok && outcome.code === 'too_much_earlier_work') {
    const tooMuch = { ...shortfalls, too_much_earlier_work: 1 };
    return { ok: true, collection: conclude({ refs: [], kept: 0 }, naming.refused, tooMuch) };
  }
  if (!outcome.ok) return outcome;
  const missing = refs.length - outcome.refs.length - countOf(outcome.refused);
  const left = missing > 0 ? { ...shortfalls, missing_refs: (shortfalls.missing_refs ?? 0) + missing } : shortfalls;
  return { ok: true, collection: conclude(outcome, add(naming.refused, outcome.refused), left) };
}

interface Found {
  /** Work that no branch and no name of ours holds. */
  readonly other: boolean;
  /** Than there is room for. */
  readonly hasMore: boolean;
  /** That could not be given a name of ours. */
  readonly missing: number;
}

function shortfallsOf(
  { stashes, worktrees, nested }: WriterStatus,
  wip: WipAnswer,
  { other, hasMore, missing }: Found,
): Shortfalls {
  const reasons: readonly (readonly [IncompleteReason, number])[] = [
    ['too_many_branches', Number(hasMore)],
    ['stash', stashes],
    ['other_refs', Number(other)],
    ['linked_worktrees', worktrees - 1],
    ['nested_repositories', nested],
    ['partial_wip', Number(wip.kind === 'partial')],
    ['missing_refs', missing],
  ];
  return Object.fromEntries(reasons.filter(([, count]) => count > 0));
}

function conclude(
  { refs, kept }: Pick<Collection, 'refs' | 'kept'>,
  refused: Refused,
  shortfalls: Shortfalls,
): Collection {
  const count = countOf(refused);
  return { refs, kept, refused, incomplete: count > 0 ? { refused_refs: count, ...shortfalls } : shortfalls };
}

function countOf(refused: Refused): number {
  return Object.values(refused).reduce((sum, count) => sum + count, 0);
}
