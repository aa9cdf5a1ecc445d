/** Which host paths may be handed to Podman, and how they are written into a mount option. */
import { isAbsolute, normalize } from 'node:path';

/** Podman reads mount options as CSV, whose readers treat line ends in a way of their own. */
const CONTROL = /\p{Cc}/u;
const NEEDS_QUOTES = /[",\s]/;

export function isUsablePath(path: string): boolean {
  const plain = isAbsolute(path) && normalize(path) === path && (path === '/' || !path.endsWith('/'));
  return plain && !CONTROL.test(path) && path.isWellFormed();
}

/** One record of CSV: a comma or a quote in a path stays a part of the path. */
export function csvRecord(fields: readonly string[]): string {
  return fields.map((field) => (NEEDS_QUOTES.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');
}
