import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Writes a file that must not be there yet, completely or not at all: the bytes
 * go to a sibling, which is then linked into place. Missing directories are made
 * for the owner alone. Durable when it returns; never throws.
 *
 * @param mode Permission bits, whatever the umask says.
 * @returns `exists`: something, a dangling link too, has the name; it is untouched.
 */
export function writeNewFile(path: string, text: string, mode: number): 'written' | 'exists' | 'failed' {
  const sibling = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  let made = false;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const descriptor = openSync(sibling, 'wx', mode);
    made = true;
    try {
      writeSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    linkSync(sibling, path);
    syncDirectory(dirname(path));
    return 'written';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'exists' : 'failed';
  } finally {
    if (made) unlinkSync(sibling);
  }
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
