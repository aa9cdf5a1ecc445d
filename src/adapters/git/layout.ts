/**
 * Where the parts of a writer's clone lie. What git obeys (hooks, configuration,
 * the common directory) lies outside of what the writer may write, and so does
 * everything that is mounted by name (docs/writers-git.md).
 */
import { lstatSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import type { Baseline } from '../../ports/writers/git.ts';

export interface Layout {
  readonly root: string;
  /** Mounted as the working tree. */
  readonly work: string;
  /** Mounted as its `.git`. */
  readonly git: string;
  /** Mounted read-only over `hooks`, `config` and `commondir` in there. */
  readonly hooks: string;
  readonly config: string;
  readonly commonDir: string;
  /** What the clone started from; never mounted where the writer can write. */
  readonly baseline: string;
}

export function layoutAt(root: string): Layout {
  const pinned = join(root, 'ro');
  return {
    root,
    work: join(root, 'work'),
    git: join(root, 'git'),
    hooks: join(pinned, 'hooks'),
    config: join(pinned, 'config'),
    commonDir: join(pinned, 'commondir'),
    baseline: join(pinned, 'baseline.json'),
  };
}

/**
 * Can the pinned parts still be mounted over their places? A writer may have put
 * links there, so this is asked before each start, while nothing of it runs.
 */
export function isMountable({ root, work, git, hooks, config, commonDir }: Layout): boolean {
  const directories = [root, work, git, hooks, join(work, '.git'), join(git, 'hooks')];
  const files = [config, commonDir, join(git, 'config'), join(git, 'commondir')];
  return (
    directories.every((path) => look(path)?.isDirectory() === true) &&
    files.every((path) => look(path)?.isFile() === true)
  );
}

/** Undefined: there is no clone, or what is there cannot be read as its record. */
export function readBaseline({ baseline }: Layout): Baseline | undefined {
  try {
    const read: unknown = JSON.parse(readFileSync(baseline, 'utf8'));
    const { schemaVersion, commit, branch } = Object(read) as Record<string, unknown>;
    if (schemaVersion !== 1 || typeof commit !== 'string' || typeof branch !== 'string') return undefined;
    return /^[0-9a-f]{40}$/.test(commit) && branch !== '' ? { commit, branch } : undefined;
  } catch {
    return undefined;
  }
}

function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
