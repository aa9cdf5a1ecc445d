/** The writing side of the spool: one private directory for this server, one small file for each turn that ended. */
import { lstat, rename, rm, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EndedTurn, EventSpool, SpoolOutcome } from '../../ports/events.ts';
import {
  type Instance,
  instanceName,
  judgeInstance,
  ownInstance,
  parseInstance,
  STALE_AFTER_MS,
  type StartTimeOf,
} from './event-spool-instance.ts';
import { entriesOf, isPrivateDirectory, makePrivate, openEventPlace, type SpoolWorld } from './event-spool-place.ts';

export interface EventSpoolOptions extends SpoolWorld {
  readonly startTimeOf: StartTimeOf;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Files of one server at a time, oldest out first. */
export const MAX_EVENTS = 256;
/** A wake that comes this late wakes nobody. */
export const EVENT_LIFETIME_MS = 60 * 60 * 1_000;
/** Directories of other servers that one opening looks at. */
const MAX_INSTANCES = 256;

const DONE: SpoolOutcome = { ok: true };
const FAILED: SpoolOutcome = { ok: false };

/** The text of an event: ids and a state, nothing that was said or done. */
export function eventText({ sessionId, turnId, state, at }: EndedTurn): string {
  return `${JSON.stringify({ schemaVersion: 1, sessionId, turnId, state, at: new Date(at).toISOString() })}\n`;
}

export function createEventSpool(options: EventSpoolOptions): EventSpool {
  const kept = new Map<string, EndedTurn>();
  let own: Instance | undefined;
  let directory: string | undefined;

  async function remove(turnIds: readonly string[]): Promise<SpoolOutcome> {
    let outcome = DONE;
    for (const turnId of turnIds) {
      kept.delete(turnId);
      if (directory === undefined || (await gone(join(directory, `${turnId}.json`)))) continue;
      outcome = FAILED;
    }
    return outcome;
  }

  async function makeDirectory(): Promise<string | undefined> {
    own ??= ownInstance(options.startTimeOf);
    const place = await openEventPlace(options);
    return place && makePrivate(place, instanceName(own));
  }

  async function open(): Promise<SpoolOutcome> {
    directory = await makeDirectory();
    if (directory === undefined || own === undefined) return FAILED;
    await removeDead(join(directory, '..'), own, options);
    return DONE;
  }

  async function write(turn: EndedTurn): Promise<SpoolOutcome> {
    if (directory === undefined || !(await isPrivateDirectory(directory))) directory = await makeDirectory();
    if (directory === undefined) return FAILED;
    const [oldest] = kept.keys();
    if (kept.size >= MAX_EVENTS && oldest !== undefined) await remove([oldest]);
    const path = join(directory, `${turn.turnId}.json`);
    const temporary = join(directory, `.${turn.turnId}.tmp`);
    try {
      await writeFile(temporary, eventText(turn), { mode: 0o600, flag: 'wx' });
      await rename(temporary, path);
      kept.set(turn.turnId, turn);
      return DONE;
    } catch {
      await gone(temporary);
      return FAILED;
    }
  }

  async function sweep(): Promise<SpoolOutcome> {
    const outcome = await remove(idsOf(kept, ({ at }) => options.now() - at > EVENT_LIFETIME_MS));
    if (directory === undefined) return outcome;
    const now = options.now() / 1_000;
    try {
      // Its age is all that another container sees of a server's life.
      await utimes(directory, now, now);
      return outcome;
    } catch {
      return FAILED;
    }
  }

  return {
    open,
    write,
    forget: (sessionId) => remove(idsOf(kept, (turn) => turn.sessionId === sessionId)),
    sweep,
    async close() {
      kept.clear();
      if (directory !== undefined) await removeTree(directory);
      directory = undefined;
    },
  };
}

function idsOf(kept: ReadonlyMap<string, EndedTurn>, which: (turn: EndedTurn) => boolean): string[] {
  return [...kept.values()].filter(which).map(({ turnId }) => turnId);
}

/** @returns false when it may still be there. */
async function gone(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Links in it, and in its place, are removed and not followed. */
async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    // The next server tries again.
  }
}

async function removeDead(place: string, own: Instance, { startTimeOf, now }: EventSpoolOptions): Promise<void> {
  for (const name of await entriesOf(place, MAX_INSTANCES)) {
    const instance = parseInstance(name);
    if (instance === undefined || name === instanceName(own)) continue;
    const verdict = judgeInstance(instance, own, startTimeOf);
    const path = join(place, name);
    if (verdict === 'dead' || (verdict === 'unknown' && (await isStale(path, now())))) await removeTree(path);
  }
}

/** A live server whose directory goes this way makes it again with its next event. */
async function isStale(path: string, now: number): Promise<boolean> {
  try {
    return now - (await lstat(path)).mtimeMs > STALE_AFTER_MS;
  } catch {
    return false;
  }
}
