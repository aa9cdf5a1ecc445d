/** Claims: who makes the file of a turn first may wake for it, and nobody else ever after. */
import { lstat, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClaimOutcome, WakeTarget } from '../../ports/events.ts';
import { entriesOf, openPlace, type SpoolWorld } from './event-spool-place.ts';

export interface ClaimOptions extends SpoolWorld {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Longer than any waiter waits: after that, nobody is left who could wake a second time. */
const CLAIM_LIFETIME_MS = 24 * 60 * 60 * 1_000;
/** Claims that one pruning looks at, and how many may stay. */
const MAX_LOOKED_AT = 2_048;
const MAX_CLAIMS = 1_024;
const NAME = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Outside every directory that a writer can reach, so that no worker forges or blocks one. */
export async function claimTurn({ turnId }: WakeTarget, options: ClaimOptions): Promise<ClaimOutcome> {
  const place = await openPlace(options, 'claims');
  if (place === undefined || !NAME.test(turnId)) return 'unavailable';
  await prune(place, options.now());
  try {
    const file = await open(join(place, turnId), 'wx', 0o600);
    await file.close();
    return 'claimed';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'taken' : 'unavailable';
  }
}

async function prune(place: string, now: number): Promise<void> {
  const names = (await entriesOf(place, MAX_LOOKED_AT)).filter((name) => NAME.test(name));
  const claims = await Promise.all(
    names.map(async (name) => ({ path: join(place, name), at: await timeOf(join(place, name)) })),
  );
  const newestFirst = claims.sort((one, other) => other.at - one.at);
  for (const [index, { path, at }] of newestFirst.entries()) {
    if (index < MAX_CLAIMS && now - at <= CLAIM_LIFETIME_MS) continue;
    try {
      await unlink(path);
    } catch {
      // Somebody else was faster.
    }
  }
}

async function timeOf(path: string): Promise<number> {
  try {
    return (await lstat(path)).mtimeMs;
  } catch {
    return 0;
  }
}
