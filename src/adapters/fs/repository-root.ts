/** The repository around a directory, as Claude Code sees it when it keys a local registration (docs/clients.md). */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readRegularFile } from './regular-file.ts';

const MAX_BYTES = 64 * 1024;

/**
 * The root of the repository around an absolute directory. A linked worktree
 * belongs to the repository that it is linked to, if that one knows of it.
 *
 * @returns The directory itself when there is no repository around it. Never throws.
 */
export function repositoryRoot(directory: string): string {
  for (let place = directory; ; place = dirname(place)) {
    if (existsSync(join(place, '.git'))) return mainWorktree(place) ?? place;
    if (dirname(place) === place) return directory;
  }
}

/** Reads what git has written into both places. Anything that does not agree is no linked worktree. */
function mainWorktree(place: string): string | undefined {
  const own = lineOf(join(place, '.git'));
  if (!own?.startsWith('gitdir:')) return undefined;
  const metadata = resolve(place, own.slice('gitdir:'.length).trim());
  const common = lineOf(join(metadata, 'commondir'));
  const back = lineOf(join(metadata, 'gitdir'));
  if (common === undefined || back === undefined) return undefined;
  const repository = resolve(metadata, common);
  try {
    const isKnown =
      realpathSync(dirname(metadata)) === join(realpathSync(repository), 'worktrees') &&
      realpathSync(back) === join(realpathSync(place), '.git');
    if (!isKnown) return undefined;
    // A bare repository has no worktree of its own.
    return realpathSync(basename(repository) === '.git' ? dirname(repository) : repository);
  } catch {
    return undefined;
  }
}

function lineOf(path: string): string | undefined {
  const read = readRegularFile(path, MAX_BYTES);
  return read.ok ? read.bytes.toString('utf8').trim() : undefined;
}
