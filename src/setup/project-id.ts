import { createHash } from 'node:crypto';

/** Stands for a directory in durable records: 16 hex digits that lead nowhere. */
export function projectId(directory: string): string {
  return createHash('sha256').update(directory).digest('hex').slice(0, 16);
}
