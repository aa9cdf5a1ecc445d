/** Lock and guardian, begun before the run asks for them or not. */
import { beforeEach, expect, test } from 'vitest';
import type { HeldLock, LockOutcome } from '../../src/ports/setup/command.ts';
import { createFence } from '../../src/setup/fence.ts';

const { signal } = new AbortController();
const told: string[] = [];
beforeEach(() => void told.splice(0));

const lock: HeldLock = { fd: 7, intact: () => true, release: () => told.push('unlocked') };

function fence(now: HeldLock | undefined, later: LockOutcome) {
  const kernelLock = {
    acquireNow: () => now,
    acquire: async () => {
      told.push('waited');
      return later;
    },
  };
  return createFence(kernelLock, (fd) => {
    told.push(`guardian on ${fd}`);
    return {
      start: () => void told.push('started'),
      run: async () => ({ kind: 'not_found' }),
      close: async () => {
        told.push('closed');
        return 'released';
      },
    };
  });
}

test('what has begun is what the run gets: one lock, one guardian that holds it', async () => {
  const begun = fence(lock, { kind: 'busy' });
  begun.begin();
  expect(told).toEqual(['guardian on 7', 'started']);
  expect(await begun.fence.acquire(signal)).toBe('locked');
  expect(await begun.fence.release()).toBe('released');
  expect(told).toEqual(['guardian on 7', 'started', 'closed', 'unlocked']);
});

test('a lock that somebody else has is waited for, and no guardian is started without it', async () => {
  const late = fence(undefined, { kind: 'locked', lock });
  late.begin();
  expect(told).toEqual([]);
  expect(await late.fence.acquire(signal)).toBe('locked');
  expect(told).toEqual(['waited', 'guardian on 7', 'started']);
});

test('without a lock there is nothing to let go of', async () => {
  const none = fence(undefined, { kind: 'busy' });
  none.begin();
  expect(await none.fence.acquire(signal)).toBe('busy');
  expect(await none.fence.release()).toBe('released');
  expect(told).toEqual(['waited']);
});

test('what only looks has a guardian of its own, without a lock', async () => {
  const looking = fence(lock, { kind: 'busy' });
  await looking.runner.run({} as never, signal);
  await looking.fence.release();
  expect(told).toEqual(['guardian on undefined', 'closed']);
});
