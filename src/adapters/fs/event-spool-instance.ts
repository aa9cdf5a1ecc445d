/**
 * A server's directory in the spool says in its name who made it, so that the
 * next one can tell the dead from the living. Pids mean something inside one boot
 * and one pid namespace only; of anybody else, age alone decides.
 */
import { readFileSync, readlinkSync } from 'node:fs';

export interface Instance {
  readonly pid: number;
  /** Clock ticks since boot; `0` where the platform cannot say. */
  readonly started: string;
  /** Inode of the pid namespace. */
  readonly namespace: string;
  readonly boot: string;
}

/** Start time of a live process; undefined when there is none, or nobody can tell. */
export type StartTimeOf = (pid: number) => string | undefined;

/** Nothing in a directory that nobody has touched for this long is worth anything. */
export const STALE_AFTER_MS = 24 * 60 * 60 * 1_000;

const NAME = /^([1-9]\d{0,9})-(\d{1,20})-(\d{1,20})-([0-9a-f]{32}|0)$/;

export function instanceName({ pid, started, namespace, boot }: Instance): string {
  return `${pid}-${started}-${namespace}-${boot}`;
}

export function parseInstance(name: string): Instance | undefined {
  const [, pid, started, namespace, boot] = NAME.exec(name) ?? [];
  if (!pid || !started || !namespace || !boot) return undefined;
  return { pid: Number(pid), started, namespace, boot };
}

/** This process. */
export function ownInstance(startTimeOf: StartTimeOf): Instance {
  const boot = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1'), '').replace(/[^0-9a-f]/g, '');
  const namespace = attempt(() => readlinkSync('/proc/self/ns/pid'), '').replace(/\D/g, '');
  return {
    pid: process.pid,
    started: startTimeOf(process.pid) ?? '0',
    namespace: namespace || '0',
    boot: boot.length === 32 ? boot : '0',
  };
}

/** `unknown`: of another machine, another boot or another container. */
export function judgeInstance(
  instance: Instance,
  own: Instance,
  startTimeOf: StartTimeOf,
): 'live' | 'dead' | 'unknown' {
  if (instance.boot !== own.boot || instance.namespace !== own.namespace) return 'unknown';
  // Where start times cannot be had, a pid that is in use counts as its first owner.
  if (own.started === '0') return isPidInUse(instance.pid) ? 'live' : 'dead';
  return startTimeOf(instance.pid) === instance.started ? 'live' : 'dead';
}

export function isPidInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function attempt(read: () => string, otherwise: string): string {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
