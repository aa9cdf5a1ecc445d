/**
 * Cleans a writer's event directory from the host before its box starts
 * (docs/turn-events.md). Whoever runs in a box of this writer may change the directory
 * meanwhile, so everything goes through open descriptors and no link is followed. Linux.
 */
import { closeSync, constants, fstatSync, opendirSync, openSync, rmdirSync, unlinkSync } from 'node:fs';
import { parseInstance, STALE_AFTER_MS } from './event-spool-instance.ts';

/** Of one start; a flood takes several. */
const MAX_ENTRIES = 10_000;
const MAX_DEPTH = 16;
const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

interface Budget {
  left: number;
}

/**
 * Removes what is no directory of a server, and such directories once nobody has
 * touched them for a day: a start never breaks a live server of the same writer. Never throws.
 *
 * @param directory The writer's event directory, absolute.
 * @param now Milliseconds since the epoch.
 */
export function pruneWriterEvents(directory: string, now: number): void {
  const budget = { left: MAX_ENTRIES };
  within(directory, (descriptor) => {
    for (const name of namesIn(descriptor, budget)) {
      if (parseInstance(name) !== undefined && isFreshDirectory(descriptor, name, now)) continue;
      remove(descriptor, name, budget, MAX_DEPTH);
    }
  });
}

/** The entry of an open directory, wherever that is by now. */
const entry = (descriptor: number, name: string) => `/proc/self/fd/${descriptor}/${name}`;

/** Calls back with the opened directory; not at all when it is a link or none. */
function within(path: string, use: (descriptor: number) => void): void {
  let descriptor: number;
  try {
    descriptor = openSync(path, DIRECTORY);
  } catch {
    return;
  }
  try {
    use(descriptor);
  } catch {
    // The next start tries again.
  } finally {
    closeSync(descriptor);
  }
}

function namesIn(descriptor: number, budget: Budget): string[] {
  const names: string[] = [];
  const listing = opendirSync(`/proc/self/fd/${descriptor}`);
  try {
    for (let next = listing.readSync(); next !== null && budget.left > 0; next = listing.readSync()) {
      names.push(next.name);
      budget.left -= 1;
    }
  } finally {
    listing.closeSync();
  }
  return names;
}

function isFreshDirectory(parent: number, name: string, now: number): boolean {
  let isFresh = false;
  within(entry(parent, name), (descriptor) => {
    isFresh = now - fstatSync(descriptor).mtimeMs <= STALE_AFTER_MS;
  });
  return isFresh;
}

function remove(parent: number, name: string, budget: Budget, depth: number): void {
  try {
    unlinkSync(entry(parent, name));
    return;
  } catch {
    // A directory, most likely; anything else stays.
  }
  if (depth === 0) return;
  within(entry(parent, name), (descriptor) => {
    for (const inner of namesIn(descriptor, budget)) remove(descriptor, inner, budget, depth - 1);
  });
  try {
    rmdirSync(entry(parent, name));
  } catch {
    // Not empty yet.
  }
}
