/** Writing so that a crash at any moment leaves the old state or the new one (docs/setup.md). */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { codeOf } from './regular-file.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const TEMPORARY = /^\.tmp-[0-9a-f]{32}$/;

/** A name beside `path` that nobody has, and that `sweepTemporaries` knows. */
export const temporaryOf = (path: string): string => `${path}.tmp-${randomBytes(16).toString('hex')}`;

/**
 * Puts a file with these bytes and this mode in the place of `path`, or of nothing. The directory
 * must exist. False: the old file is still there and no temporary is. Never throws.
 */
export function replaceFile(path: string, bytes: Uint8Array, mode: number): boolean {
  const temporary = temporaryOf(path);
  try {
    createFile(temporary, bytes, mode);
    renameSync(temporary, path);
  } catch {
    removeQuietly(temporary);
    return false;
  }
  try {
    syncDirectory(dirname(path));
    return true;
  } catch {
    return false;
  }
}

/**
 * Removes the temporaries that a killed `replaceFile` left beside `path`: regular files of ours with its
 * exact names. Only for whoever is alone at work there. Never throws.
 */
export function sweepTemporaries(path: string): void {
  const directory = dirname(path);
  const base = basename(path);
  for (const name of namesIn(directory)) {
    if (!name.startsWith(base) || !TEMPORARY.test(name.slice(base.length))) continue;
    try {
      const stat = lstatSync(join(directory, name));
      if (stat.isFile() && stat.nlink === 1 && stat.uid === process.geteuid?.()) unlinkSync(join(directory, name));
    } catch {
      // Gone, or not removable: it harms nobody, and the write will tell.
    }
  }
}

/** Creates a new file and makes its bytes durable; its name becomes so with `syncDirectory`. Throws what Node throws. */
export function createFile(path: string, bytes: Uint8Array, mode: number): void {
  const descriptor = openSync(path, CREATE, mode);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    // The umask has had its say on the mode by now.
    fchmodSync(descriptor, mode);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes the names in a directory durable. Throws what Node throws, but for file systems that know no such thing. */
export function syncDirectory(path: string): void {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(descriptor);
  } catch (error) {
    if (codeOf(error) !== 'EINVAL' && codeOf(error) !== 'ENOTSUP') throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Creates directories one below the other; all of them or, as far as they stay empty, none. Never throws. */
export function createDirectories(paths: readonly string[], mode: number): boolean {
  const created: string[] = [];
  try {
    for (const path of paths) {
      mkdirSync(path, { mode });
      created.push(path);
      chmodSync(path, mode);
      syncDirectory(dirname(path));
    }
    return true;
  } catch {
    removeEmpty(created);
    return false;
  }
}

/** Removes directories that are still empty, the last one first. Never throws. */
export function removeEmpty(paths: readonly string[]): void {
  for (const path of paths.toReversed()) {
    try {
      rmdirSync(path);
    } catch {
      // Somebody uses it by now.
    }
  }
}

/** The names in a directory; none when it cannot be listed. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}

/** Removes a file that may never have been made. Never throws. */
export function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never made.
  }
}
