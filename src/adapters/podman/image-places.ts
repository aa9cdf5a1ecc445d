/** What is mounted on in an image's tree. Whatever is missing Podman would make itself, as nobody whom we could clean up after. */
import { chmodSync, lstatSync, mkdirSync, type Stats, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BOX } from './box-places.ts';
import { PLACES, WORLD_WRITABLE } from './instance.ts';

/** Podman's own mounts; it follows links there, and they may lead out of the tree. */
const FILES = ['passwd', 'group', 'hosts', 'hostname', 'resolv.conf'].map((name) => join('etc', name));
const OWN_WAY = 0o700;

function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/**
 * A link in the place of a directory is refused: it would lead out of the tree. Throws where the file system does.
 * @param tree Absolute; ours.
 */
export function makePlaces(tree: string): boolean {
  open(tree);
  for (const place of [...PLACES, 'run']) {
    let at = tree;
    for (const part of place.split('/')) {
      at = join(at, part);
      if (look(at) === undefined) mkdirSync(at, { mode: 0o755 });
      if (!look(at)?.isDirectory()) return false;
      open(at);
    }
  }
  for (const place of WORLD_WRITABLE) chmodSync(join(tree, place), 0o1777);
  return FILES.every((file) => makeFile(join(tree, file))) && isFile(join(tree, BOX.node));
}

/** An image may close its directories to their owner. */
function open(directory: string): void {
  const mode = look(directory)?.mode ?? 0;
  if ((mode & OWN_WAY) !== OWN_WAY) chmodSync(directory, (mode & 0o7777) | OWN_WAY);
}

/** Plain files stay as they are; what is no directory is replaced. */
function makeFile(path: string): boolean {
  const there = look(path);
  if (there?.isFile()) return true;
  if (there?.isDirectory()) return false;
  if (there !== undefined) unlinkSync(path);
  writeFileSync(path, '', { flag: 'wx', mode: 0o644 });
  return true;
}

function isFile(path: string): boolean {
  const there = look(path);
  if (there === undefined) writeFileSync(path, '', { flag: 'wx' });
  return there === undefined || there.isFile();
}
