import { linkSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createFile, removeQuietly, syncDirectory, temporaryOf } from './durable-file.ts';
import { codeOf } from './regular-file.ts';

/**
 * Writes a file that must not be there yet, completely or not at all: the bytes
 * go to a sibling, which is then linked into place. Missing directories are made
 * for the owner alone. Durable when it returns; never throws.
 *
 * @param mode Permission bits, whatever the umask says.
 * @returns `exists`: something, a dangling link too, has the name; it is untouched.
 */
export function writeNewFile(path: string, text: string, mode: number): 'written' | 'exists' | 'failed' {
  if (!hasDirectory(dirname(path))) return 'failed';
  const sibling = temporaryOf(path);
  try {
    createFile(sibling, Buffer.from(text), mode);
    linkSync(sibling, path);
    syncDirectory(dirname(path));
    return 'written';
  } catch (error) {
    return codeOf(error) === 'EEXIST' ? 'exists' : 'failed';
  } finally {
    removeQuietly(sibling);
  }
}

function hasDirectory(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}
