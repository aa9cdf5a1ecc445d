/** What the kernel says about processes. Linux. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    // The process is gone, or not ours to look at.
    return otherwise;
  }
}

function pids(): number[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

/** Live processes that have the directory in their command, environment or working directory. */
export function processesOf(directory: string): number[] {
  return pids().filter((pid) => {
    if (pid === process.pid) return false;
    const read = (file: string) => attempt(() => readFileSync(`/proc/${pid}/${file}`, 'utf8'), '');
    const cwd = attempt(() => readlinkSync(`/proc/${pid}/cwd`), '');
    return cwd.includes(directory) || read('cmdline').includes(directory) || read('environ').includes(directory);
  });
}

/** Ends exactly these processes. */
export function endAll(found: readonly number[]): void {
  for (const pid of found) attempt(() => process.kill(pid, 'SIGKILL'), false);
}

/** Pids of the direct children, whichever thread started them. */
export function childrenOf(pid: number): number[] {
  const threads = attempt(() => readdirSync(`/proc/${pid}/task`), []);
  return threads.flatMap((thread) => {
    const list = attempt(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'), '');
    return list.split(' ').filter(Boolean).map(Number);
  });
}

/** Descriptor → what it is open on, as `/proc` words it. */
export function openFiles(pid: number): Map<number, string> {
  const numbers = attempt(() => readdirSync(`/proc/${pid}/fd`), []);
  return new Map(numbers.map((fd) => [Number(fd), attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`), 'gone')]));
}

/** File locks that the kernel knows of this process. */
export function locksOf(pid: number): string[] {
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .filter((line) => line.split(/\s+/)[4] === String(pid));
}

const CLOCK_TICK_MS = 10;

/** CPU time that the process has used so far, in milliseconds; undefined once it is gone. */
export function cpuMs(pid: number): number | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'latin1'), '');
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === undefined || state === '' || 'ZX'.includes(state)) return undefined;
  return (Number(fields[10]) + Number(fields[11])) * CLOCK_TICK_MS;
}
