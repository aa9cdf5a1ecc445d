/** Setup beside a running box: the contained server admits no session that writes meanwhile (docs/writers.md). */

import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { pruneWriterEvents } from '../adapters/fs/event-spool-prune.ts';
import { formatOwner, isProvablyDead, parseOwner, thisProcess } from '../adapters/podman/owner.ts';
import { readJson, writeJson } from './json-file.ts';
import type { WriterPlaces } from './places.ts';

const PRIVATE = 0o700;

/** False when a session writes right now, or nobody can tell; then nothing is held. */
export function takeHold(places: WriterPlaces): boolean {
  // First said, then looked: the contained server does it the other way round.
  if (writeJson(places.hold, { owner: formatOwner(thisProcess()) }) && !isMarked(places)) return true;
  dropHold(places);
  return false;
}

export function dropHold({ hold }: WriterPlaces): void {
  rmSync(hold, { force: true });
}

/** For the launcher, before its box starts: what a killed setup, a killed server or a session has left. May throw. */
export function clearStale(places: WriterPlaces): void {
  const { owner } = readJson(places.hold) ?? {};
  const holder = typeof owner === 'string' ? parseOwner(owner) : undefined;
  if (holder === undefined || isProvablyDead(holder)) dropHold(places);
  rmSync(places.mark, { force: true, recursive: true });
  // The writer may have closed it to everybody.
  if (lstatSync(places.events, { throwIfNoEntry: false })?.isDirectory()) chmodSync(places.events, PRIVATE);
  pruneWriterEvents(places.events, Date.now());
}

function isMarked({ mark }: WriterPlaces): boolean {
  try {
    return lstatSync(mark, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
