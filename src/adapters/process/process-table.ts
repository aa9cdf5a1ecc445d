/**
 * Reads the operating system's process table. Linux: `/proc`, environments
 * included. macOS: `ps`, without environments (untested on a real macOS).
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFile, readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { scopeInEnvironment } from './scope-marker.ts';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Start time; with the pid it identifies a process for good. Linux: clock ticks since boot. */
  readonly started: string;
  /** Value of the scope variable, where it can be read. */
  readonly scope?: string;
}

/** Between two yields; about half a millisecond of reading. */
const CHUNK = 32;

/** Parses one `/proc/<pid>/stat`; nothing for a zombie, which holds nothing that could be ended. */
export function parseStat(text: string): ProcessEntry | undefined {
  // The command may hold spaces and parentheses, so count from the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session] = fields;
  const started = fields[19];
  const pid = Number.parseInt(text, 10);
  if (state === undefined || started === undefined || Number.isNaN(pid) || 'ZXx'.includes(state)) return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), started };
}

/** Parses `ps -A -o pid=,ppid=,pgid=,stat=,lstart=`. */
export function parsePs(text: string): ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const line of text.split('\n')) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S.*?)\s*$/.exec(line);
    if (!match || match[4]?.startsWith('Z')) continue;
    const group = Number(match[3]);
    entries.push({ pid: Number(match[1]), parent: Number(match[2]), group, session: group, started: match[5] ?? '' });
  }
  return entries;
}

function readStat(pid: number | string): ProcessEntry | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Asynchronous on purpose: this read can block on a process that holds its own memory map locked. */
function readScope(pid: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    readFile(`/proc/${pid}/environ`, (error, bytes) => resolve(error ? undefined : scopeInEnvironment(bytes)));
  });
}

async function readLinuxTable(since: number): Promise<ProcessEntry[]> {
  const pids = readdirSync('/proc').filter((name) => name.charCodeAt(0) >= 49 && name.charCodeAt(0) <= 57);
  const entries: ProcessEntry[] = [];
  for (let index = 0; index < pids.length; index += CHUNK) {
    const chunk = pids.slice(index, index + CHUNK).map((pid) => readStat(pid));
    const present = chunk.filter((entry) => entry !== undefined);
    // Nothing that is older than the server can be its child: most processes cost one read only.
    const scopes = await Promise.all(present.map((e) => (Number(e.started) < since ? undefined : readScope(e.pid))));
    present.forEach((entry, at) => {
      const scope = scopes[at];
      entries.push(scope === undefined ? entry : { ...entry, scope });
    });
    await nextTurn();
  }
  return entries;
}

function readPsTable(): Promise<ProcessEntry[]> {
  return new Promise((resolve, reject) => {
    const columns = 'pid=,ppid=,pgid=,stat=,lstart=';
    const options = { maxBuffer: 16 * 1024 * 1024, env: { LC_ALL: 'C' } };
    execFile('/bin/ps', ['-A', '-o', columns], options, (error, output) => {
      if (error) reject(error);
      else resolve(parsePs(output));
    });
  });
}

/** All live processes; on Linux with the scope of those that started at `since` or later. */
export function readProcessTable(since: number): Promise<ProcessEntry[]> {
  return process.platform === 'linux' ? readLinuxTable(since) : readPsTable();
}

/** Start time of one process right now; undefined when it is gone or the platform cannot say cheaply. */
export function startTimeOf(pid: number): string | undefined {
  return process.platform === 'linux' ? readStat(pid)?.started : undefined;
}

/** Is this still the process that was scanned, and not a later one with the same pid? */
export function isSameProcess(entry: ProcessEntry): boolean {
  return process.platform === 'linux' ? startTimeOf(entry.pid) === entry.started : true;
}
