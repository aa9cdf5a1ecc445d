/**
 * Reads the operating system's process table. Linux: `/proc`, environments
 * included. macOS: `ps`, without environments (untested on a real macOS).
 */
import { execFile } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFile, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SCOPE_VARIABLE, scopeInEnvironment } from './scope-marker.ts';

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

/**
 * Parses `ps -A -o pid=,pgid=,stat=` without zombies; nothing when a line is not
 * understood, because a process that nobody saw could be in it.
 */
export function parseGroups(text: string): ProcessEntry[] | undefined {
  const entries: ProcessEntry[] = [];
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const match = /^ *([1-9]\d*|0) +(\d+) +([A-Z]\S*) *$/.exec(line);
    if (!match) return undefined;
    const group = Number(match[2]);
    if (!match[3]?.startsWith('Z')) {
      entries.push({ pid: Number(match[1]), parent: 0, group, session: group, started: '' });
    }
  }
  return entries;
}

/** Longer than any: some fifty numbers and a name of at most 64 bytes. The kernel gives it all in one read. */
const statBytes = Buffer.allocUnsafe(4_096);

/** `readFileSync` takes three times as long, and there is one for each process. Throws what Node throws. */
function statText(pid: number | string): string {
  const descriptor = openSync(`/proc/${pid}/stat`, 'r');
  try {
    return statBytes.toString('latin1', 0, readSync(descriptor, statBytes, 0, statBytes.length, 0));
  } finally {
    closeSync(descriptor);
  }
}

function readStat(pid: number | string): ProcessEntry | undefined {
  try {
    return parseStat(statText(pid));
  } catch {
    return undefined;
  }
}

/** Asynchronous on purpose: this read can block on a process that holds its own memory map locked. */
function readScope(pid: number, variable: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    readFile(`/proc/${pid}/environ`, (error, bytes) =>
      resolve(error ? undefined : scopeInEnvironment(bytes, variable)),
    );
  });
}

type ReadStat = (pid: string) => ProcessEntry | undefined;

async function readLinuxTable(since: number, variable: string, read: ReadStat): Promise<ProcessEntry[]> {
  const pids = readdirSync('/proc').filter((name) => name.charCodeAt(0) >= 49 && name.charCodeAt(0) <= 57);
  const entries: ProcessEntry[] = [];
  for (let index = 0; index < pids.length; index += CHUNK) {
    const chunk = pids.slice(index, index + CHUNK).map((pid) => read(pid));
    const present = chunk.filter((entry) => entry !== undefined);
    // Nothing that is older than the server can be its child: most processes cost one read only.
    const scopes = await Promise.all(
      present.map((e) => (Number(e.started) < since ? undefined : readScope(e.pid, variable))),
    );
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
export function readProcessTable(since: number, variable = SCOPE_VARIABLE): Promise<ProcessEntry[]> {
  return process.platform === 'linux' ? readLinuxTable(since, variable, readStat) : readPsTable();
}

/** Nothing for a process that has ended, zombie or gone; throws when nobody can tell. */
function readStatForSure(pid: string): ProcessEntry | undefined {
  let text: string;
  try {
    text = statText(pid);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
  const entry = parseStat(text);
  if (entry ? !isComplete(entry) : !ENDED_STAT.test(text)) throw new Error('unreadable process');
  return entry;
}

const ENDED_STAT = /^\d+ \(.*\) [ZXx] /s;
const isComplete = ({ parent, group, session }: ProcessEntry): boolean =>
  [parent, group, session].every((each) => Number.isInteger(each));

function readGroups(): Promise<ProcessEntry[] | undefined> {
  return new Promise((resolve) => {
    const options = { maxBuffer: 16 * 1024 * 1024, env: { LC_ALL: 'C' } };
    execFile('/bin/ps', ['-A', '-o', 'pid=,pgid=,stat='], options, (error, output) =>
      resolve(error ? undefined : parseGroups(output)),
    );
  });
}

/**
 * All live processes, or nothing when the table could not be read or understood
 * completely (docs/setup.md): a table that does not show even this process proves
 * nothing. macOS: groups alone. Never rejects.
 */
export async function readTableForSure(since: number, variable: string): Promise<ProcessEntry[] | undefined> {
  try {
    const isLinux = process.platform === 'linux';
    const table = isLinux ? await readLinuxTable(since, variable, readStatForSure) : await readGroups();
    return table?.some(({ pid }) => pid === process.pid) ? table : undefined;
  } catch {
    return undefined;
  }
}

/** Start time of one process right now; undefined when it is gone or the platform cannot say cheaply. */
export function startTimeOf(pid: number): string | undefined {
  return process.platform === 'linux' ? readStat(pid)?.started : undefined;
}

/** Is this still the process that was scanned, and not a later one with the same pid? */
export function isSameProcess(entry: ProcessEntry): boolean {
  return process.platform === 'linux' ? startTimeOf(entry.pid) === entry.started : true;
}
