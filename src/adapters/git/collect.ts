/** Everything that a writer has made, out of its clone: asked for inside, judged outside. */
import type {
  Baseline,
  CollectOutcome,
  IncompleteReason,
  InsideBranch,
  InsideCommand,
  RefusedReason,
  RunInside,
  StatusOutcome,
  WriterStatus,
} from '../../ports/writers/git.ts';
import { EXPORTS, MAX_REFS } from './bundle-header.ts';
import type { HostGit, HostRepository } from './host-git.ts';
import { CAPS, type ImportCaps, importBundle } from './import-bundle.ts';
import {
  anyBranchesCommand,
  bundleCommand,
  otherWorkCommand,
  statusCommand,
  wipCommand,
  workBranchesCommand,
  worktreesCommand,
} from './inside-commands.ts';
import { parseAny, parseRefs, parseStatus, parseWip, parseWorktrees, type WipAnswer } from './inside-output.ts';
import { collisions, judgeBranch, judgeName, WIP_SUFFIX } from './ref-names.ts';

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

/** Collects as far as it can; what could not come out makes it incomplete, and nothing in the clone goes away. */
export async function collectWork(git: HostGit, request: CollectRequest, signal: AbortSignal): Promise<CollectOutcome> {
  const { inside, base, caps = CAPS } = request;
  const failed: CollectOutcome = { ok: false, code: 'inside_failed' };
  const read = await readStatus(inside, base, signal);
  if (!read.ok) return failed;
  const name = `${wipStem(read.status)}${WIP_SUFFIX}`;
  const wip = await askInside(inside, wipCommand(base, name), parseWip, signal);
  const other = wip && (await askInside(inside, otherWorkCommand(base), parseAny, signal));
  if (!wip || other === undefined) return failed;
  const chosen = choose(read.status.branches);
  const wanted = [...chosen.refs, ...(wip.kind === 'clean' ? [] : [`${EXPORTS}${name}`])];
  const shortfalls = shortfallsOf(read.status, wip, other);
  if (wanted.length === 0) return { ok: true, collection: conclude([], chosen.refused, shortfalls) };
  const bundled = await inside(bundleCommand(base, wanted, caps.bundleBytes), signal);
  if (bundled.kind === 'output_too_large') return { ok: false, code: 'bundle_too_large' };
  if (bundled.kind !== 'exited' || bundled.code !== 0) return failed;
  const outcome = await importBundle(git, { ...request, bundle: Buffer.from(bundled.stdout) }, signal);
  if (!outcome.ok) return outcome;
  const refused: Partial<Record<RefusedReason, number>> = { ...chosen.refused };
  for (const [reason, count] of Object.entries(outcome.refused) as [RefusedReason, number][]) {
    refused[reason] = (refused[reason] ?? 0) + count;
  }
  const turnedAway = Object.values(outcome.refused).reduce((sum, count) => sum + count, 0);
  const isShort = outcome.refs.length + turnedAway < wanted.length;
  return {
    ok: true,
    collection: conclude(outcome.refs, refused, isShort ? [...shortfalls, 'missing_refs'] : shortfalls),
  };
}

/** Work in progress is named after its branch, when that is a name that may come out. */
function wipStem({ branch }: WriterStatus): string {
  if (branch === null) return 'detached';
  return judgeBranch(branch) === undefined && judgeName(`${branch}${WIP_SUFFIX}`) === undefined ? branch : 'unnamed';
}

function choose(branches: readonly InsideBranch[]): {
  readonly refs: readonly string[];
  readonly refused: Readonly<Partial<Record<RefusedReason, number>>>;
} {
  const refs: string[] = [];
  const refused: Partial<Record<RefusedReason, number>> = {};
  const pairs = collisions(branches.map(({ name }) => name));
  for (const { name, isLink } of branches) {
    const reason = judgeBranch(name) ?? (isLink ? 'link' : pairs.get(name));
    if (reason === undefined) refs.push(`refs/heads/${name}`);
    else refused[reason] = (refused[reason] ?? 0) + 1;
  }
  return { refs, refused };
}

function shortfallsOf(status: WriterStatus, wip: WipAnswer, hasOther: boolean): IncompleteReason[] {
  const reasons: readonly (readonly [boolean, IncompleteReason])[] = [
    [status.hasMoreBranches, 'too_many_branches'],
    [status.stashes > 0, 'stash'],
    // A stash is such a commit, too; it is named once.
    [hasOther && status.stashes === 0, 'other_refs'],
    [status.worktrees > 1, 'linked_worktrees'],
    [status.nested > 0, 'nested_repositories'],
    [wip.kind === 'partial', 'partial_wip'],
  ];
  return reasons.filter(([holds]) => holds).map(([, reason]) => reason);
}

function conclude(
  refs: Extract<CollectOutcome, { readonly ok: true }>['collection']['refs'],
  refused: Readonly<Partial<Record<RefusedReason, number>>>,
  shortfalls: readonly IncompleteReason[],
) {
  const isRefused = Object.keys(refused).length > 0;
  return { refs, refused, incomplete: isRefused ? (['refused_refs', ...shortfalls] as const) : shortfalls };
}
