/** The client's process: which one it is, what it can be told, and when it is gone. */
import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { isPidInUse, type StartTimeOf } from '../adapters/fs/event-spool-instance.ts';

export interface ClientProcess {
  readonly pid: number;
  /** With the pid it is one process for good; undefined where the platform cannot say. */
  readonly started: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const WATCH_INTERVAL_MS = 1_000;
/** From a hook up to its client; a shell or two lie between. */
const MAX_ANCESTORS = 8;
/** Subcommands of Codex that answer and end: nobody is there to be woken. */
const HEADLESS = new Set(['exec', 'e', 'review']);

/**
 * Is somebody at the other end who stays? In `claude -p` and in a stream of JSON
 * the hook would not run beside the client but hold it up, so only a session with
 * a terminal counts. Claude Code sets both variables anew for every process.
 */
export function isClaudeAttended(env: Environment): boolean {
  return env['CLAUDE_CODE_ENTRYPOINT'] === 'cli' && env['CLAUDE_CODE_SESSION_ATTENDED'] === '1';
}

/** What Claude Code says that it is, or whoever has started the hook. */
export function claudeProcess(env: Environment, startTimeOf: StartTimeOf): ClientProcess {
  const named = Number(env['CLAUDE_PID']);
  const pid = Number.isSafeInteger(named) && named > 1 ? named : process.ppid;
  return { pid, started: startTimeOf(pid) };
}

export interface CodexProcess extends ClientProcess {
  /** The very program that runs, so that a second one on PATH is not asked. */
  readonly program: string;
}

/** @returns nothing when the client is none that can be woken. */
export function codexProcess(startTimeOf: StartTimeOf): CodexProcess | undefined {
  if (process.platform !== 'linux') {
    return { pid: process.ppid, started: undefined, program: 'codex' };
  }
  let pid = process.ppid;
  for (let step = 0; step < MAX_ANCESTORS && pid > 1; step += 1) {
    // An update during the session puts another file in its place, and the kernel says so behind the path.
    const program = (attempt(() => readlinkSync(`/proc/${pid}/exe`)) ?? '').replace(/ \(deleted\)$/, '');
    if (basename(program) === 'codex') {
      const words = attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')) ?? [];
      return words.some((word) => HEADLESS.has(word)) ? undefined : { pid, started: startTimeOf(pid), program };
    }
    pid = parentOf(pid);
  }
  return undefined;
}

/** @returns an end to the watch. */
export function watchClient(client: ClientProcess, startTimeOf: StartTimeOf, onGone: () => void): () => void {
  const look = (): void => {
    const isThere = client.started === undefined ? isPidInUse(client.pid) : startTimeOf(client.pid) === client.started;
    if (!isThere) onGone();
  };
  const timer = setInterval(look, WATCH_INTERVAL_MS);
  return () => clearInterval(timer);
}

function parentOf(pid: number): number {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? '';
  // The command may hold spaces and parentheses, so count from the last one.
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
