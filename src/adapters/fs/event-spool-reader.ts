/**
 * The reading side of the spool. A writer's spool is in the hands of whatever
 * works in its container, so nothing here is believed: of each server's directory
 * one file name is tried, it must be a small regular file of ours without a second
 * name, and all it can do is to end a wait that is for exactly this turn.
 */
import { closeSync, constants, fstatSync, openSync, readSync, watch } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LookOutcome, WakeTarget } from '../../ports/events.ts';
import {
  type Instance,
  judgeInstance,
  ownInstance,
  parseInstance,
  STALE_AFTER_MS,
  type StartTimeOf,
} from './event-spool-instance.ts';
import { entriesOf, eventPlaces, type SpoolWorld } from './event-spool-place.ts';

export interface SpoolReaderOptions extends SpoolWorld {
  readonly startTimeOf: StartTimeOf;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface SpoolReader {
  look(target: WakeTarget): Promise<LookOutcome>;
  /** Tells of changes where they are told, at most in the first directories. @returns an end to it. */
  watch(onChange: () => void): () => void;
}

/** Of one spool; a flood of directories may hide a server, and then nobody is woken. */
const MAX_ENTRIES = 256;
const MAX_WATCHES = 64;
const MAX_EVENT_BYTES = 4_096;
const OTHERS = 0o077;
const STATES = new Set(['completed', 'failed', 'aborted']);
const FIELDS = 'at,schemaVersion,sessionId,state,turnId';

export function createSpoolReader(options: SpoolReaderOptions): SpoolReader {
  const own = ownInstance(options.startTimeOf);
  return {
    async look(target) {
      const directories = await instancesOf(options, own);
      if (directories.length === 0) return 'deserted';
      return directories.some((directory) => holdsEvent(directory, target)) ? 'found' : 'absent';
    },
    watch(onChange) {
      const ends: (() => void)[] = [];
      let ended = false;
      void watchable(options, own).then((directories) => {
        if (!ended) ends.push(...directories.map((directory) => watchDirectory(directory, onChange)));
      });
      return () => {
        ended = true;
        for (const end of ends) end();
      };
    },
  };
}

async function watchable(options: SpoolReaderOptions, own: Instance): Promise<readonly string[]> {
  const directories = [...(await eventPlaces(options)), ...(await instancesOf(options, own))];
  return directories.slice(0, MAX_WATCHES);
}

/** The directories of servers that may still deliver. */
async function instancesOf(options: SpoolReaderOptions, own: Instance): Promise<readonly string[]> {
  const directories: string[] = [];
  for (const place of await eventPlaces(options)) {
    for (const name of await entriesOf(place, MAX_ENTRIES)) {
      const path = join(place, name);
      if (await mayDeliver(path, parseInstance(name), own, options)) directories.push(path);
    }
  }
  return directories;
}

async function mayDeliver(
  path: string,
  instance: Instance | undefined,
  own: Instance,
  { startTimeOf, now }: SpoolReaderOptions,
): Promise<boolean> {
  if (instance === undefined) return false;
  const verdict = judgeInstance(instance, own, startTimeOf);
  if (verdict !== 'unknown') return verdict === 'live';
  try {
    return now() - (await lstat(path)).mtimeMs <= STALE_AFTER_MS;
  } catch {
    return false;
  }
}

/** @param directory May be swapped for something else at any time, so it is opened once and asked what it is. */
function holdsEvent(directory: string, target: WakeTarget): boolean {
  const name = `${target.turnId}.json`;
  return withDescriptor(directory, constants.O_RDONLY | constants.O_DIRECTORY, (opened) => {
    if (!isOurs(opened) || !fstatSync(opened).isDirectory()) return false;
    // Through the open directory where the platform can; elsewhere no container writes here.
    const parent = process.platform === 'linux' ? `/proc/self/fd/${opened}` : directory;
    return withDescriptor(join(parent, name), constants.O_RDONLY | constants.O_NONBLOCK, (file) => {
      const stat = fstatSync(file);
      if (!isOurs(file) || !stat.isFile() || stat.nlink !== 1 || stat.size > MAX_EVENT_BYTES) return false;
      const bytes = Buffer.alloc(MAX_EVENT_BYTES + 1);
      const length = readSync(file, bytes);
      return length <= MAX_EVENT_BYTES && isEventOf(bytes.toString('utf8', 0, length), target);
    });
  });
}

function isOurs(descriptor: number): boolean {
  const { uid, mode } = fstatSync(descriptor);
  return uid === process.getuid?.() && (mode & OTHERS) === 0;
}

/** @returns false when it cannot be opened without following a link, or anything else fails. */
function withDescriptor(path: string, flags: number, use: (descriptor: number) => boolean): boolean {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, flags | constants.O_NOFOLLOW);
    return use(descriptor);
  } catch {
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Exactly the fields of an event, for exactly this turn. */
function isEventOf(text: string, { sessionId, turnId }: WakeTarget): boolean {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    return false;
  }
  if (typeof event !== 'object' || event === null || Object.keys(event).sort().join() !== FIELDS) return false;
  const fields = event as Readonly<Record<string, unknown>>;
  return (
    fields['schemaVersion'] === 1 &&
    fields['sessionId'] === sessionId &&
    fields['turnId'] === turnId &&
    STATES.has(String(fields['state'])) &&
    typeof fields['at'] === 'string' &&
    !Number.isNaN(Date.parse(fields['at']))
  );
}

/** What cannot be watched is looked at all the same. */
function watchDirectory(directory: string, onChange: () => void): () => void {
  try {
    const watcher = watch(directory, { persistent: false }, onChange);
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => {};
  }
}
