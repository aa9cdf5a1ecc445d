/**
 * Which processes belong to a scope, and how they end. Used by the server while
 * it lives and by the reaper after it.
 */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { isSameProcess, type ProcessEntry } from './process-table.ts';
import { isInScope } from './scope-marker.ts';

/** A bash call's shell: leader of its own process group and session. */
export interface Root {
  readonly pid: number;
  readonly started: string | undefined;
}

export interface MemberQuery {
  readonly scope: string;
  readonly roots: readonly Root[];
  /** Never ended, and not walked through. */
  readonly spared: ReadonlySet<number>;
}

const SCAN_BOUND_MS = 2_000;
/** Signals between two yields. */
const CHUNK = 32;

function isUnderRoot(entry: ProcessEntry, root: Root, leader: ProcessEntry | undefined): boolean {
  if (entry.group !== root.pid && entry.session !== root.pid) return false;
  if (root.started === undefined) return true;
  // The number of a group is free again once the group is empty: a leader that started at another
  // time, or a member that is older than the shell, shows that this is somebody else's group.
  if (leader) return leader.started === root.started;
  return Number(entry.started) >= Number(root.started);
}

/** Marked processes, processes in a root's group or session, and the descendants of both. */
export function findMembers(table: readonly ProcessEntry[], query: MemberQuery): ProcessEntry[] {
  const byPid = new Map(table.map((entry) => [entry.pid, entry]));
  const children = new Map<number, ProcessEntry[]>();
  for (const entry of table) {
    const siblings = children.get(entry.parent);
    if (siblings) siblings.push(entry);
    else children.set(entry.parent, [entry]);
  }
  const members = new Map<number, ProcessEntry>();
  const pending = table.filter(
    (entry) =>
      (entry.scope !== undefined && isInScope(entry.scope, query.scope)) ||
      query.roots.some((root) => isUnderRoot(entry, root, byPid.get(root.pid))),
  );
  for (let entry = pending.pop(); entry; entry = pending.pop()) {
    if (entry.pid <= 1 || query.spared.has(entry.pid) || members.has(entry.pid)) continue;
    members.set(entry.pid, entry);
    pending.push(...(children.get(entry.pid) ?? []));
  }
  return [...members.values()];
}

function send(signal: 'SIGSTOP' | 'SIGKILL', entry: ProcessEntry): void {
  // Right before the signal: the pid may be somebody else's by now.
  if (!isSameProcess(entry)) return;
  try {
    process.kill(entry.pid, signal);
  } catch {
    // Gone in between, or not ours to end: the next scan tells.
  }
}

async function sendAll(signal: 'SIGSTOP' | 'SIGKILL', entries: readonly ProcessEntry[]): Promise<void> {
  for (let index = 0; index < entries.length; index += CHUNK) {
    if (index > 0) await nextTurn();
    for (const entry of entries.slice(index, index + CHUNK)) send(signal, entry);
  }
}

/** Stops members until a scan shows no new one; not complete when a scan failed. */
async function stopMembers(
  query: () => MemberQuery,
  readTable: () => Promise<readonly ProcessEntry[]>,
  inTime: () => boolean,
): Promise<{ readonly members: readonly ProcessEntry[]; readonly complete: boolean }> {
  const stopped = new Set<string>();
  let members: readonly ProcessEntry[] = [];
  try {
    do {
      members = findMembers(await readTable(), query());
      const fresh = members.filter((entry) => !stopped.has(`${entry.pid} ${entry.started}`));
      if (fresh.length === 0) break;
      await sendAll('SIGSTOP', fresh);
      for (const entry of fresh) stopped.add(`${entry.pid} ${entry.started}`);
    } while (inTime());
    return { members, complete: true };
  } catch {
    return { members, complete: false };
  }
}

/**
 * Ends all members and scans again until none is left, for at most about two
 * seconds. Resolves to false when something is left or cannot be seen.
 *
 * A member that cleared its environment and left its session is known by its
 * parent alone, and killing the parent would lose it. So all members are stopped
 * first, until a scan shows no new one, and killed only then.
 */
export async function endMembers(
  query: () => MemberQuery,
  readTable: () => Promise<readonly ProcessEntry[]>,
  boundMs = SCAN_BOUND_MS,
): Promise<boolean> {
  const start = performance.now();
  const inTime = (): boolean => performance.now() - start < boundMs;
  for (let wait = 2; ; wait = Math.min(wait * 2, 100)) {
    const found = await stopMembers(query, readTable, inTime);
    // Also when a scan failed: what is stopped must not stay so.
    await sendAll('SIGKILL', found.members);
    if (!found.complete) return false;
    if (found.members.length === 0) return true;
    if (!inTime()) return false;
    await pause(wait);
  }
}
