import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, statSync } from 'node:fs';
import type { ConfigurationFiles, FileRead } from '../../config/files.ts';

/** The real disk behind `loadConfiguration`. */
export const configurationFiles: ConfigurationFiles = { read, exists };

function read(path: string, limit: number): FileRead {
  let descriptor: number;
  try {
    // Non-blocking: opening a FIFO without a writer would hang the start.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return { ok: false, reason: isAbsent(error) && !isDanglingLink(path) ? 'missing' : 'unreadable' };
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return { ok: false, reason: 'not_a_file' };
    if (stat.size > limit) return { ok: false, reason: 'too_large' };
    const bytes = readFileSync(descriptor);
    return bytes.byteLength > limit ? { ok: false, reason: 'too_large' } : { ok: true, bytes };
  } catch {
    return { ok: false, reason: 'unreadable' };
  } finally {
    closeSync(descriptor);
  }
}

function exists(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    return !isAbsent(error);
  }
}

function isAbsent(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** A link to nowhere was put there by somebody; it is not the same as no file. */
function isDanglingLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
