/** Who started a box: with the boot and the start time, a process number names one process for good. */
import { readFileSync } from 'node:fs';

/** Fields of `/proc/<pid>/stat` after the command, which may itself hold spaces and parentheses. */
const STATE = 0;
const START_TIME = 19;

export interface Owner {
  readonly boot: string;
  readonly pid: number;
  /** Clock ticks since boot. */
  readonly started: string;
}

/** What a file of ours or of the kernel's says now; each byte a character. Never throws. */
export function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** Changes with every boot of the machine. Empty when the kernel does not say. */
export function bootId(): string {
  return readOrNothing('/proc/sys/kernel/random/boot_id').trim();
}

/** Start time of a process that lives; undefined for one that is gone or a zombie. */
export function startTimeOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return 'ZXx'.includes(fields[STATE] ?? 'X') ? undefined : fields[START_TIME];
  } catch {
    return undefined;
  }
}

export function thisProcess(): Owner {
  return { boot: bootId(), pid: process.pid, started: startTimeOf(process.pid) ?? '' };
}

export function formatOwner({ boot, pid, started }: Owner): string {
  return `${boot}:${pid}:${started}`;
}

/** Undefined when it is not one that we wrote. */
export function parseOwner(text: string): Owner | undefined {
  const match = /^([0-9a-f-]{36}):([1-9]\d{0,9}):(\d{1,20})$/.exec(text);
  if (!match) return undefined;
  return { boot: match[1] ?? '', pid: Number(match[2]), started: match[3] ?? '' };
}

/** Only what can be proven: an unknown boot proves nothing. */
export function isProvablyDead(owner: Owner): boolean {
  const boot = bootId();
  if (boot === '') return false;
  return owner.boot !== boot || startTimeOf(owner.pid) !== owner.started;
}

const RUN_ID = /^[0-9a-f]{16}-([1-9]\d{0,9})-(\d{1,20})$/;
const RANDOM_CHARACTERS = 16;

/** A name for one run that nobody can guess, and that says who its owner is on this boot. */
export function newRunId({ pid, started }: Owner): string {
  // The global, not node:crypto: that takes long to load.
  const random = crypto.randomUUID().replaceAll('-', '').slice(0, RANDOM_CHARACTERS);
  return `${random}-${pid}-${started || 0}`;
}

/** Undefined when it is no name of ours. */
export function ownerOfRun(id: string): Owner | undefined {
  const match = RUN_ID.exec(id);
  return match ? { boot: bootId(), pid: Number(match[1]), started: match[2] ?? '' } : undefined;
}
