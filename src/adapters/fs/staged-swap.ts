/**
 * Exchanging a directory by renames, with hidden siblings as the bench (docs/setup.md).
 * Their names carry the fingerprint of what they hold, so that a later run can
 * prove that a leftover is ours by its content alone:
 *
 * `.<name>.staged-<fingerprint>`: a copy that is being written;
 * `.<name>.displaced-<fingerprint>`: a tree that was moved out of its place, whole;
 * `.<name>.discarded-<random>`: a tree that was proven to be ours and is being deleted.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readTree, type Tree } from './bounded-tree.ts';
import { createFile, namesIn, syncDirectory } from './durable-file.ts';
import { codeOf } from './regular-file.ts';
import { fingerprintOf, SKILL_LIMITS, type SkillTree } from './skill-tree.ts';

const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;
const LEFTOVER = /^(?:(staged|displaced)-([0-9a-f]{64})|discarded-[0-9a-f]{32})$/;

/** Where a tree called `name` is exchanged: a directory without links, or one that its owner linked on purpose. */
export interface Bench {
  readonly parent: string;
  readonly name: string;
}

export interface Leftover {
  readonly kind: 'staged' | 'displaced' | 'discarded';
  readonly path: string;
  /** As the name says; empty for what is discarded. */
  readonly fingerprint: string;
}

export const placeOf = ({ parent, name }: Bench): string => join(parent, name);

export const stagedAt = ({ parent, name }: Bench, fingerprint: string): string =>
  join(parent, `.${name}.staged-${fingerprint}`);

export const displacedAt = ({ parent, name }: Bench, fingerprint: string): string =>
  join(parent, `.${name}.displaced-${fingerprint}`);

/** What lies on the bench under one of our names, whoever put it there. Never throws. */
export function leftovers({ parent, name }: Bench): Leftover[] {
  const prefix = `.${name}.`;
  return namesIn(parent).flatMap((entry): Leftover[] => {
    const match = entry.startsWith(prefix) ? LEFTOVER.exec(entry.slice(prefix.length)) : null;
    if (match === null) return [];
    const kind = match[1] === 'staged' || match[1] === 'displaced' ? match[1] : 'discarded';
    return [{ kind, path: join(parent, entry), fingerprint: match[2] ?? '' }];
  });
}

/**
 * The tree of a leftover if it is provably ours, else nothing. A torn copy holds
 * beginnings of the source's files; the name of a discarded tree is proof enough,
 * as long as nothing in it is hidden, linked or out of bounds. Never throws.
 */
export function provenTree(leftover: Leftover, ours: readonly string[], source: Tree | undefined): Tree | undefined {
  const read = readTree(leftover.path, SKILL_LIMITS);
  if (!read.ok || read.tree.hidden) return undefined;
  const fingerprint = fingerprintOf(read.tree.files);
  const proven =
    leftover.kind === 'discarded' ||
    fingerprint === leftover.fingerprint ||
    ours.includes(fingerprint) ||
    (source !== undefined && isBeginningOf(read.tree, source));
  return proven ? read.tree : undefined;
}

/**
 * Writes the source beside its place, durably: files 0644, directories 0755. False: nothing of it is left,
 * as far as that can be had. Never throws.
 */
export function stageTree(bench: Bench, source: SkillTree): boolean {
  const staged = stagedAt(bench, source.fingerprint);
  if (!clear({ kind: 'staged', path: staged, fingerprint: source.fingerprint }, bench, source)) return false;
  try {
    const directories = [staged, ...source.directories.filter(holdsFiles(source)).map((path) => join(staged, path))];
    for (const path of directories) {
      mkdirSync(path, { mode: DIRECTORY_MODE });
      chmodSync(path, DIRECTORY_MODE);
    }
    for (const { path, bytes } of source.files) createFile(join(staged, path), bytes, FILE_MODE);
    for (const path of directories.toReversed()) syncDirectory(path);
    syncDirectory(bench.parent);
    return isExactly(staged, source.fingerprint);
  } catch {
    clear({ kind: 'staged', path: staged, fingerprint: source.fingerprint }, bench, source);
    return false;
  }
}

/**
 * Renames a directory to where nothing is, and makes that durable; both are in one directory. Throws what Node throws.
 *
 * A rename fails on a file, a link and a directory with anything in it. An
 * empty directory that somebody makes after the check is replaced, on Linux and macOS alike; that loses
 * no byte of theirs.
 */
export function moveTree(from: string, to: string): void {
  if (!isAbsent(to)) throw new Error('occupied');
  renameSync(from, to);
  syncDirectory(dirname(to));
}

/**
 * Deletes a tree that was proven to be ours: out of the way first, so that a
 * crash leaves something whose name says what it is. If it is not that very tree after all, it goes
 * back; what appears in it later stays. Never throws.
 */
export function removeTree(path: string, proven: Tree, bench: Bench): boolean {
  const discarded = join(bench.parent, `.${bench.name}.discarded-${randomBytes(16).toString('hex')}`);
  try {
    moveTree(path, discarded);
    if (!isStill(discarded, proven)) {
      moveTree(discarded, path);
      return false;
    }
    for (const file of proven.files) unlinkSync(join(discarded, file.path));
    for (const directory of proven.directories.toReversed()) rmdirSync(join(discarded, directory));
    rmdirSync(discarded);
    syncDirectory(bench.parent);
    return true;
  } catch {
    return false;
  }
}

/** Is nothing at all there, not even a dangling link? Throws what Node throws when that cannot be told. */
export function isAbsent(path: string): boolean {
  try {
    lstatSync(path);
    return false;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true;
    throw error;
  }
}

/** Is this a directory with exactly this content and nothing hidden? Never throws. */
export function isExactly(path: string, fingerprint: string): boolean {
  const read = readTree(path, SKILL_LIMITS);
  return read.ok && !read.tree.hidden && fingerprintOf(read.tree.files) === fingerprint;
}

function isStill(path: string, { identity, files }: Tree): boolean {
  const read = readTree(path, SKILL_LIMITS);
  if (!read.ok || read.tree.hidden || read.tree.identity !== identity) return false;
  return fingerprintOf(read.tree.files) === fingerprintOf(files);
}

function clear(leftover: Leftover, bench: Bench, source: Tree): boolean {
  try {
    if (isAbsent(leftover.path)) return true;
  } catch {
    return false;
  }
  const tree = provenTree(leftover, [], source);
  return tree !== undefined && removeTree(leftover.path, tree, bench);
}

/** An empty directory is no part of a skill, so a copy has none. */
const holdsFiles =
  ({ files }: Tree) =>
  (directory: string): boolean =>
    files.some(({ path }) => path.startsWith(`${directory}/`));

function isBeginningOf(tree: Tree, source: Tree): boolean {
  const whole = new Map(source.files.map(({ path, bytes }) => [path, bytes]));
  return tree.files.every(({ path, bytes }) => whole.get(path)?.subarray(0, bytes.length).equals(bytes) ?? false);
}
