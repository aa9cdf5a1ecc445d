/** The directory that holds what nobody else may read or replace (docs/setup.md). */
import { type BigIntStats, lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { createDirectories } from './durable-file.ts';
import { codeOf } from './regular-file.ts';

const PRIVATE_MODE = 0o700;

/** `refused`: a link, not a directory, of another owner, open to others, or unreadable. */
export type PrivateDirectory = 'private' | 'missing' | 'refused';

/** Looks, and changes nothing; the directories above may be links. Never throws. */
export function privateDirectory(path: string): PrivateDirectory {
  try {
    const stat = lstatSync(path, { bigint: true });
    return stat.isDirectory() && isOursAlone(stat) ? 'private' : 'refused';
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'missing' : 'refused';
  }
}

/**
 * The directory exists, is ours, and nobody else may enter it. What is missing of
 * it is created with mode 0700; what is there is never changed, since somebody gave
 * it that mode on purpose or by a mistake that they should know about. Never throws.
 */
export function ensurePrivateDirectory(path: string): boolean {
  if (privateDirectory(path) === 'missing' && !createDirectories(missingAbove(path), PRIVATE_MODE)) return false;
  return privateDirectory(path) === 'private';
}

/** Is it the effective user's, without any right for group and others? */
export function isOursAlone({ uid, mode }: Pick<BigIntStats, 'uid' | 'mode'>): boolean {
  return uid === BigInt(process.geteuid?.() ?? -1) && (mode & 0o077n) === 0n;
}

/** `path` and those of its parents that do not exist, the outermost first. */
function missingAbove(path: string): string[] {
  const missing: string[] = [];
  for (let at = path; at !== dirname(at) && isMissing(at); at = dirname(at)) missing.unshift(at);
  return missing;
}

function isMissing(path: string): boolean {
  try {
    lstatSync(path);
    return false;
  } catch (error) {
    return codeOf(error) === 'ENOENT';
  }
}
