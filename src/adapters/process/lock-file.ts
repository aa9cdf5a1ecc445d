/** The lock file: made once, never renamed and never deleted, and no link anywhere (docs/setup.md). */
import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, type Stats } from 'node:fs';
import { join } from 'node:path';

const LOCK_FILE = 'ownership.json.flock';

/** Only in the flags of macOS: the lock comes with the open file. */
const O_EXLOCK = 0x20;

const isMine = (stats: Stats, mode: number): boolean =>
  stats.uid === process.geteuid?.() && (stats.mode & 0o077) === 0 && (stats.mode & mode) === mode;
const isLockFile = (stats: Stats): boolean => stats.isFile() && stats.nlink === 1 && isMine(stats, 0o600);

/**
 * The path of the lock file in a directory that is a real one and nobody else's;
 * it is made when there is none. Directories above it may be links. Throws.
 */
export function lockFileIn(directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stats = lstatSync(directory);
  if (!stats.isDirectory() || !isMine(stats, 0o700)) throw new Error('not a directory of setup');
  return join(directory, LOCK_FILE);
}

/** Is the path still this open file, and is that a file that only its owner can have made? Never throws. */
export function isStill(path: string, fd: number): boolean {
  try {
    const open = fstatSync(fd);
    const named = lstatSync(path);
    return isLockFile(open) && isLockFile(named) && open.ino === named.ino && open.dev === named.dev;
  } catch {
    return false;
  }
}

/** Opens the file without following a link, and makes it when there is none. Throws; then nothing is open. */
export function openLockFile(path: string, { exclusive = false } = {}): number {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | (exclusive ? O_EXLOCK : 0);
  const fd = openSync(path, flags, 0o600);
  if (isStill(path, fd)) return fd;
  closeSync(fd);
  throw new Error('not the lock file of setup');
}

/** Closes, and so unlocks unless somebody has inherited it. Never throws. */
export function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // Closed by now.
  }
}
