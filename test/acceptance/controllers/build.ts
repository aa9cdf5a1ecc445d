/** Names the build under test, for the record. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf } from '../setup/evidence.ts';

export interface Build {
  readonly version: string;
  /** Null where the package is no checkout. */
  readonly commit: string | null;
  readonly clean: boolean | null;
  /** SHA-256 of the server's entry, and a digest over everything in `dist/`. */
  readonly entry: string;
  readonly modules: string;
}

function git(directory: string, args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', ['-C', directory, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    // An installed package is no checkout.
    return undefined;
  }
}

export function buildOf(directory: string): Build {
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { readonly version: string };
  const own = git(directory, ['rev-parse', '--show-prefix'])?.trim() === '';
  const commit = own ? git(directory, ['rev-parse', 'HEAD']) : undefined;
  const changes = own ? git(directory, ['status', '--porcelain']) : undefined;
  const entry = readFileSync(join(directory, 'dist', 'main.js'));
  return {
    version: manifest.version,
    commit: commit?.trim() ?? null,
    clean: changes === undefined ? null : changes === '',
    entry: createHash('sha256').update(entry).digest('hex'),
    modules: digestOf(join(directory, 'dist')),
  };
}
