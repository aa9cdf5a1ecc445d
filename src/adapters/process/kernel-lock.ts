/**
 * One setup at a time, held by the kernel on an open file (docs/setup.md). The
 * lock belongs to the open file, not to a process: the guardian inherits it, and
 * it is free when the last process that has the file open has ended, however it
 * died. So nothing is ever stale, and no clock is asked whether it is.
 */
import { spawn, spawnSync } from 'node:child_process';
import { lstatSync, realpathSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { HeldLock, KernelLock, LockOutcome } from '../../ports/setup/command.ts';
import { keepsLocks } from './file-system-type.ts';
import { closeQuietly, isStill, lockFileIn, openLockFile } from './lock-file.ts';

export interface KernelLockOptions {
  /** Setup's state directory, absolute. */
  readonly directory: string;
  /** Whole seconds to wait for somebody else; 30 by default. */
  readonly waitSeconds?: number;
  /** Where util-linux's `flock` may be. */
  readonly tools?: readonly string[];
}

const WAIT_SECONDS = 30;
const TOOLS = ['/usr/bin/flock', '/bin/flock'];
const BUSY = 75;
const RETRY_MS = 250;

/** A program that only root can have put there; undefined when there is none. */
function trustedTool(tools: readonly string[]): string | undefined {
  for (const tool of tools) {
    try {
      const path = realpathSync(tool);
      const stats = lstatSync(path);
      if (stats.isFile() && stats.uid === 0 && (stats.mode & 0o022) === 0) return path;
    } catch {
      // Not there.
    }
  }
  return undefined;
}

type Locking = 'locked' | 'busy' | 'unavailable';

/** Locks the open file through a child that inherits it: Node has no call for it. */
function lockWithTool(tool: string, fd: number, waitSeconds: number, signal: AbortSignal): Promise<Locking> {
  return new Promise((resolve) => {
    const args = ['-x', '-w', String(waitSeconds), '-E', String(BUSY), '3'];
    // In a session of its own: Ctrl-C is for the run, which must not take its end for an answer.
    const child = spawn(tool, args, { stdio: ['ignore', 'ignore', 'ignore', fd], cwd: '/', env: {}, detached: true });
    const giveUp = (): void => void child.kill('SIGKILL');
    signal.addEventListener('abort', giveUp, { once: true });
    const settle = (locking: Locking): void => {
      signal.removeEventListener('abort', giveUp);
      resolve(locking);
    };
    child.once('error', () => settle('unavailable'));
    child.once('exit', (code) => settle(code === 0 ? 'locked' : code === BUSY ? 'busy' : 'unavailable'));
  });
}

function held(path: string, fd: number): HeldLock {
  let isOpen = true;
  return {
    fd,
    intact: () => isOpen && isStill(path, fd),
    release() {
      // Once: the number may be another file's later.
      if (isOpen) closeQuietly(fd);
      isOpen = false;
    },
  };
}

async function acquireOnLinux(options: KernelLockOptions, signal: AbortSignal): Promise<LockOutcome> {
  const tool = trustedTool(options.tools ?? TOOLS);
  if (tool === undefined) return { kind: 'unavailable' };
  const path = lockFileIn(options.directory);
  const fd = openLockFile(path);
  const locking = keepsLocks(path, fd)
    ? await lockWithTool(tool, fd, options.waitSeconds ?? WAIT_SECONDS, signal)
    : 'unavailable';
  // The file may have been put in another one's place while this one was waited for.
  if (locking === 'locked' && !signal.aborted && isStill(path, fd)) return { kind: 'locked', lock: held(path, fd) };
  closeQuietly(fd);
  return { kind: locking === 'busy' ? 'busy' : 'unavailable' };
}

/** A program that does not wait has nothing to take this long for. */
const AT_ONCE_MS = 2_000;

function acquireOnLinuxNow(options: KernelLockOptions): HeldLock | undefined {
  const tool = trustedTool(options.tools ?? TOOLS);
  if (tool === undefined) return undefined;
  const path = lockFileIn(options.directory);
  const fd = openLockFile(path);
  if (keepsLocks(path, fd)) {
    const { status } = spawnSync(tool, ['-x', '-n', '3'], {
      stdio: ['ignore', 'ignore', 'ignore', fd],
      cwd: '/',
      env: {},
      timeout: AT_ONCE_MS,
      killSignal: 'SIGKILL',
    });
    if (status === 0 && isStill(path, fd)) return held(path, fd);
  }
  closeQuietly(fd);
  return undefined;
}

/** Untested on a real macOS: the open itself takes the lock, or says at once that somebody has it. */
async function acquireOnMac(options: KernelLockOptions, signal: AbortSignal): Promise<LockOutcome> {
  const path = lockFileIn(options.directory);
  const attempts = ((options.waitSeconds ?? WAIT_SECONDS) * 1_000) / RETRY_MS;
  for (let attempt = 0; attempt <= attempts; attempt += 1) {
    try {
      const fd = openLockFile(path, { exclusive: true });
      if (keepsLocks(path, fd)) return { kind: 'locked', lock: held(path, fd) };
      closeQuietly(fd);
      return { kind: 'unavailable' };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      await pause(RETRY_MS, undefined, { signal });
    }
  }
  return { kind: 'busy' };
}

/** Linux and macOS; the caller sees to it that it runs nowhere else. */
export function createKernelLock(options: KernelLockOptions): KernelLock {
  return {
    async acquire(signal) {
      try {
        if (signal.aborted) return { kind: 'unavailable' };
        return await (process.platform === 'linux' ? acquireOnLinux : acquireOnMac)(options, signal);
      } catch {
        return { kind: 'unavailable' };
      }
    },
    acquireNow() {
      try {
        return process.platform === 'linux' ? acquireOnLinuxNow(options) : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
