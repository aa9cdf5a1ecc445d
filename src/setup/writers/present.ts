/** Which writers a workspace can have, and which are there. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writerName } from '../../adapters/git/writer-journal.ts';
import { MAX_WRITERS } from '../../config/limits.ts';

export function namesUpTo(alias: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => writerName(alias, index + 1)).filter((name) => name !== undefined);
}

/**
 * Those that are there, made or half made, whatever the mode says.
 * @param state The writers' common directory.
 */
export function presentWriters(state: string, alias: string): string[] {
  return namesUpTo(alias, MAX_WRITERS).filter((name) => existsSync(join(state, name)));
}
