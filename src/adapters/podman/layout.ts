/**
 * The private directories of one writer (docs/boundary.md): everything that is
 * pinned read-only lies outside the trees that the writer can change, because a
 * path inside them can be swapped for a link between two starts.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, type Stats, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { LayoutCode, LayoutOutcome, WriterLayout } from '../../ports/writers/boundary.ts';
import { isUsablePath } from './paths.ts';

const PRIVATE = 0o700;
const OTHERS = 0o077;

/** Git finds its common directory here, whatever the writer puts beside it. */
const COMMON_DIRECTORY = '.\n';

/** One directory for all that belongs to the clone, so that a new one can take its place in one step. */
const CLONE = 'clone';

export function layoutOf(directory: string): WriterLayout {
  const at = (...parts: string[]): string => join(directory, ...parts);
  return {
    work: at(CLONE, 'work'),
    workGit: at(CLONE, 'work', '.git'),
    git: at(CLONE, 'git'),
    events: at('events'),
    hooks: at(CLONE, 'ro', 'hooks'),
    config: at(CLONE, 'ro', 'config'),
    commonDir: at(CLONE, 'ro', 'commondir'),
    agent: at('agent'),
    server: at('server'),
  };
}

/** Parents before children. */
function directoriesOf(directory: string, layout: WriterLayout): string[] {
  const { work, workGit, git, events, hooks, agent, server } = layout;
  const clone = join(directory, CLONE);
  return [directory, clone, work, workGit, git, join(git, 'hooks'), events, dirname(hooks), hooks, agent, server];
}

/** The last two are mount points that the writer sees only as what is mounted there. */
function filesOf({ config, commonDir, git }: WriterLayout): string[] {
  return [config, commonDir, join(git, 'config'), join(git, 'commondir')];
}

function refused(code: LayoutCode): LayoutOutcome {
  return { kind: 'refused', code };
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function makeFile(path: string, text: string): void {
  try {
    // `wx` neither follows a link nor changes what is there.
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Makes what is missing and changes nothing that is there. `clone` may already hold a writer's clone
 * (docs/writers-git.md).
 */
export function createLayout(directory: string): LayoutOutcome {
  if (!isUsablePath(directory)) return refused('path_unusable');
  const layout = layoutOf(directory);
  try {
    mkdirSync(dirname(directory), { recursive: true, mode: PRIVATE });
    for (const path of directoriesOf(directory, layout)) makeDirectory(path);
    for (const path of filesOf(layout)) makeFile(path, path === layout.commonDir ? COMMON_DIRECTORY : '');
  } catch (error) {
    // A link or a file in the place of a directory: ENOTDIR, or ENOENT behind a dangling one.
    return refused(isMisplaced(error) ? 'layout_tampered' : 'layout_unreadable');
  }
  return checkLayout(directory);
}

function isMisplaced(error: unknown): boolean {
  return ['ENOTDIR', 'ENOENT', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: PRIVATE });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

type Kind = 'directory' | 'file';

function isPlain(stat: Stats, kind: Kind): boolean {
  const right = kind === 'directory' ? stat.isDirectory() : stat.isFile() && stat.nlink === 1;
  return right && stat.uid === process.getuid?.();
}

/** Where a writer's cache lies, if it has one; whole and private like the rest. */
export function cacheOf(directory: string): string {
  return join(directory, 'cache');
}

/** To be called before a start with a cache: the directory is the plain one that was made. Never throws. */
export function checkCache(directory: string): boolean {
  try {
    return isPlain(lstatSync(cacheOf(directory)), 'directory');
  } catch {
    return false;
  }
}

/** Undefined when all is as it has to be. Links are never followed. */
function findFault(directory: string, layout: WriterLayout): LayoutCode | undefined {
  const top = lstatSync(directory);
  if (!isPlain(top, 'directory') || realpathSync(directory) !== directory) return 'layout_tampered';
  if ((top.mode & OTHERS) !== 0) return 'layout_not_private';
  const directories = directoriesOf(directory, layout).every((path) => isPlain(lstatSync(path), 'directory'));
  if (!directories || !filesOf(layout).every((path) => isPlain(lstatSync(path), 'file'))) return 'layout_tampered';
  if (readdirSync(layout.workGit).length > 0) return 'layout_tampered';
  return readFileSync(layout.commonDir, 'latin1') === COMMON_DIRECTORY ? undefined : 'layout_tampered';
}

/**
 * Before each start: what a mount lands on, and what is mounted, must be the plain thing that it was
 * made as. While a box of the writer runs, its own mounts hold these places; between two starts
 * nothing of the writer runs. So nothing can change between this look and the mounts.
 */
export function checkLayout(directory: string): LayoutOutcome {
  if (!isUsablePath(directory)) return refused('path_unusable');
  const layout = layoutOf(directory);
  try {
    lstatSync(directory);
  } catch (error) {
    return refused(isAbsent(error) ? 'directory_missing' : 'layout_unreadable');
  }
  try {
    const fault = findFault(directory, layout);
    return fault ? refused(fault) : { kind: 'ready', layout };
  } catch (error) {
    return refused(isAbsent(error) ? 'layout_tampered' : 'layout_unreadable');
  }
}
