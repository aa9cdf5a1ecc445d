/** Small private records as files: read strictly, written whole or not at all. */

import { replaceFile } from '../adapters/fs/durable-file.ts';
import { isOursAlone } from '../adapters/fs/private-directory.ts';
import { readRegularFile } from '../adapters/fs/regular-file.ts';

const MAX_BYTES = 65_536;
const MODE = 0o600;

/** @returns `undefined` when there is none, or it is not ours alone, or no JSON object. Never throws. */
export function readJson(path: string): Readonly<Record<string, unknown>> | undefined {
  const read = readRegularFile(path, MAX_BYTES, isOursAlone);
  if (!read.ok) return undefined;
  try {
    const value: unknown = JSON.parse(read.bytes.toString('utf8'));
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

/** Durable when it answers true. Never throws. */
export function writeJson(path: string, value: object): boolean {
  return replaceFile(path, Buffer.from(`${JSON.stringify(value, null, 2)}\n`), MODE);
}
