/**
 * Owns the processes that tools start: marks them, ends them with their call or
 * session, and sees to it that they end with the server however it dies.
 */
import { randomUUID } from 'node:crypto';
import type { Diagnostics } from '../../ports/diagnostics.ts';
import { type ProcessEntry, readProcessTable, startTimeOf } from './process-table.ts';
import { createReaperGuard } from './reaper-guard.ts';
import { SCOPE_VARIABLE, scopeName } from './scope-marker.ts';
import { endMembers, type MemberQuery, type Root } from './scope-members.ts';

export interface ChildScopeOptions {
  /** The reaper's script: `dist/reaper.js`, or its source. */
  readonly reaperPath: string;
  readonly diagnostics: Diagnostics;
  /** Defaults to this process's own executable. */
  readonly nodePath?: string;
  readonly serverId?: string;
}

/** One bash call, or one granted server. */
export interface ToolCallScope {
  /** To be set in the environment of everything that the call starts. */
  readonly variables: Readonly<Record<string, string>>;
  /** The call's shell runs; it must lead its own process group. */
  started(pid: number): void;
  /** Ends everything that the call started, also what left its process group. */
  kill(): Promise<void>;
  /** The shell has ended; what it left in the background stays until the session ends. */
  ended(): void;
}

export interface ChildScope {
  readonly serverId: string;
  /** Marks this process's own environment, for children that the agent's tools start by themselves. */
  markServer(): void;
  /** To be called before a tool of the session may start a child. */
  arm(sessionId: string): void;
  openCall(sessionId: string): ToolCallScope;
  /** Ends all that is left of the session. Costs nothing when none of its tools started a child. */
  endSession(sessionId: string): Promise<void>;
  /** Synchronous end of the process: leaves everything to the reaper, or without one ends the known groups. */
  abandon(): void;
}

function endGroup(root: Root): void {
  try {
    process.kill(-root.pid, 'SIGKILL');
  } catch {
    // Empty by now.
  }
}

/** A group that still has members keeps its number; an empty one must be forgotten before that is reused. */
function groupIsAlive(root: Root): boolean {
  try {
    process.kill(-root.pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** One scan serves every caller that asked before it began. */
function shareScans(scan: () => Promise<ProcessEntry[]>): () => Promise<ProcessEntry[]> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<ProcessEntry[]> | undefined;
  return () => {
    next ??= running.then(() => {
      const current = scan();
      next = undefined;
      running = current.catch(() => {});
      return current;
    });
    return next;
  };
}

export function createChildScope(options: ChildScopeOptions): ChildScope {
  const serverId = options.serverId ?? randomUUID();
  const since = Number(startTimeOf(process.pid) ?? 0);
  /** Sessions whose tools may have started children → the shells of theirs that may still have members. */
  const sessions = new Map<string, Set<Root>>();
  let calls = 0;
  const readTable = shareScans(() => readProcessTable(since));
  const guard = createReaperGuard(
    { node: options.nodePath ?? process.execPath, reaper: options.reaperPath, scope: serverId, since },
    () => options.diagnostics.report('warn', 'tool_child_reaper_unavailable'),
  );

  function tellGuard(): void {
    guard.tell([...sessions.values()].flatMap((roots) => [...roots]));
  }

  function arm(sessionId: string): Set<Root> {
    const known = sessions.get(sessionId);
    if (!known) sessions.set(sessionId, new Set());
    guard.ensure();
    return sessions.get(sessionId) ?? new Set();
  }

  async function end(scope: string, roots: () => readonly Root[]): Promise<boolean> {
    const query = (): MemberQuery => ({
      scope,
      roots: roots(),
      spared: new Set([process.pid, process.ppid, guard.pid() ?? 0]),
    });
    const clean = await endMembers(query, readTable);
    if (!clean) options.diagnostics.report('warn', 'tool_children_left');
    return clean;
  }

  return {
    serverId,
    markServer() {
      process.env[SCOPE_VARIABLE] = serverId;
    },
    arm: (sessionId) => void arm(sessionId),
    openCall(sessionId) {
      const roots = arm(sessionId);
      calls += 1;
      const scope = scopeName(serverId, sessionId, calls);
      let root: Root | undefined;
      return {
        variables: { [SCOPE_VARIABLE]: scope },
        started(pid) {
          root = { pid, started: startTimeOf(pid) };
          roots.add(root);
          tellGuard();
        },
        kill: async () => void (await end(scope, () => (root ? [root] : []))),
        ended() {
          for (const known of roots) if (!groupIsAlive(known)) roots.delete(known);
          tellGuard();
        },
      };
    },
    async endSession(sessionId) {
      const roots = sessions.get(sessionId);
      if (!roots) return;
      const clean = await end(scopeName(serverId, sessionId), () => [...roots]);
      // What could not be ended now stays known, so that the reaper tries again.
      if (!clean) return;
      sessions.delete(sessionId);
      if (sessions.size === 0) guard.release();
      else tellGuard();
    },
    abandon() {
      if (guard.pid() !== undefined) return;
      for (const roots of sessions.values()) roots.forEach(endGroup);
    },
  };
}
