import { accessSync, constants, statSync } from 'node:fs';

/**
 * The loader would find nothing in a directory that is gone or closed, and say
 * nothing. Synchronous like the loader's own reads: the start is four times the
 * price of these two calls when they go through the thread pool.
 */
export function requireWorkspace(directory: string): void {
  accessSync(directory, constants.R_OK | constants.X_OK);
  if (!statSync(directory).isDirectory()) throw new Error('not a directory');
}
