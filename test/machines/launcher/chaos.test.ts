/** Anything in any order, in virtual time: what is promised holds, and mistakes in the assembly would be seen. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLauncherRun } from '../../../src/app/launcher-run.ts';
import type { LauncherPort } from '../../../src/ports/writers/launcher.ts';
import { OUTCOMES, successOf } from './domain.ts';
import { wrongs } from './referee.ts';
import { type Entry, LauncherWorld, type LauncherWorldOptions, TEST_DELAYS } from './world.ts';

const SEED = Number(process.env['SEED'] ?? 20_261_130);
const RUNS = Number(process.env['LAUNCHER_RUNS'] ?? 3_000);
const MAX_MOVES = 40;

type Assemble = typeof createLauncherRun;

/** Mostly well, so that most starts come to a box. */
const moves = fc.oneof(
  { weight: 24, arbitrary: fc.constant({ do: 'succeed' as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('settle' as const), pick: fc.nat(), way: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('fire' as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('signal' as const), status: fc.constantFrom(129, 130, 143) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'endInput' as const }) },
);
type Move = typeof moves extends fc.Arbitrary<infer T> ? T : never;

const choose = <T>(from: readonly T[], pick: number): T | undefined => from[pick % Math.max(1, from.length)];

async function make(world: LauncherWorld, move: Move): Promise<void> {
  if (move.do === 'signal') return world.signal(move.status);
  if (move.do === 'endInput') return world.endInput();
  if (move.do === 'fire') {
    const due = choose([...world.clock.pendingByDelay().values()].flat(), move.pick);
    if (due !== undefined) world.clock.fireAny(due);
    // Nothing is settled by it; the next move is made in another turn all the same.
    return new Promise((resolve) => setImmediate(resolve));
  }
  // A box does not end by itself, nor does a renewal that was given up: that takes the move that may choose anything.
  const abandoned = world.abandoned();
  const open = world.calls.filter((call) => move.do === 'settle' || (call.step !== 'ended' && call !== abandoned));
  const call = choose(open, move.do === 'settle' ? move.pick : 0);
  if (!call) return;
  if (move.do === 'succeed') return world.settle(call.step, successOf(call.step));
  const ways = OUTCOMES[call.step];
  const outcome = ways[move.way % (ways.length + 1)];
  await (outcome === undefined ? world.fail(call.step) : world.settle(call.step, outcome));
}

async function play(played: readonly Move[], options: LauncherWorldOptions = {}) {
  const world = new LauncherWorld(options);
  for (const move of played) await make(world, move);
  return world;
}

function isBoxedWithoutAnswer(log: readonly Entry[]): boolean {
  const start = log.findIndex((entry) => entry.kind === 'asked' && entry.step === 'start');
  return start >= 0 && !log.slice(0, start).some((entry) => entry.kind === 'settled' && entry.step === 'renew');
}

test(`no order breaks a promise: ${RUNS} runs, seed ${SEED}`, async () => {
  const seen = { boxed: 0, ended: 0, removed: 0, signalled: 0, impatient: 0, joined: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(moves, { maxLength: MAX_MOVES, size: 'max' }), async (played) => {
      const { log, result } = await play(played);
      expect(wrongs(log)).toEqual([]);
      seen.boxed += log.some((entry) => entry.kind === 'asked' && entry.step === 'start') ? 1 : 0;
      seen.ended += result ? 1 : 0;
      seen.removed += log.some(({ kind }) => kind === 'remove') ? 1 : 0;
      seen.impatient += isBoxedWithoutAnswer(log) ? 1 : 0;
      seen.joined += log.some(({ kind }) => kind === 'joined') ? 1 : 0;
      seen.signalled += result && result.status > 128 ? 1 : 0;
    }),
    { numRuns: RUNS, seed: SEED },
  );
  console.log(`launcher, seed ${SEED}: ${JSON.stringify(seen)} of ${RUNS} runs`);
  if (RUNS >= 3_000) for (const count of Object.values(seen)) expect(count).toBeGreaterThan(50);
}, 60_000);

/** @param change Of the port, by somebody who does not keep to it. */
const withPort =
  (change: (port: LauncherPort) => Partial<LauncherPort>): Assemble =>
  (port, options) =>
    createLauncherRun({ ...port, ...change(port) }, options);

/** Assemblies that somebody has made a mistake in. */
const NAIVE: Readonly<Record<string, Assemble>> = {
  'a box is started after a signal': (port, options) => {
    let isAsked = false;
    let first: number | undefined;
    const start: LauncherPort['start'] = () => {
      isAsked = true;
      const started = port.start();
      if (first !== undefined) run.signal(first);
      return started;
    };
    const run = createLauncherRun({ ...port, start }, options);
    const signal = (status: number): void => {
      first ??= status;
      if (isAsked) run.signal(first);
    };
    return { ...run, signal };
  },
  'each signal removes the box': (port, options) => {
    const run = createLauncherRun(port, options);
    const signal = (status: number): void => {
      run.signal(status);
      port.remove();
    };
    return { ...run, signal };
  },
  'the last signal decides': (port, options) => {
    const run = createLauncherRun(port, options);
    let last: number | undefined;
    return {
      signal: (status) => {
        last = status;
        run.signal(status);
      },
      start: () => run.start().then((result) => (last === undefined ? result : { ...result, status: last })),
    };
  },
  'a box that is left is not told of': withPort((port) => ({
    ended: async () => {
      const end = await port.ended();
      return end.kind === 'retained' ? { kind: 'ended', code: 0 } : end;
    },
  })),
  'a start that takes long is taken for none': withPort((port) => ({
    start: async () => {
      void port.start().catch(() => {});
      return { ok: false };
    },
  })),
  'a busy writer is taken': withPort((port) => ({
    claim: (signal) => port.claim(signal).then((claim) => (claim === 'busy' ? 'held' : claim)),
  })),
  'a provider is given less time than it has': (port, options = {}) =>
    createLauncherRun(port, { ...options, delays: { ...TEST_DELAYS, renewalPatience: 4_000 } }),
  'old credentials do': withPort((port) => ({ renew: () => port.renew().then(() => ({ ok: true })) })),
  'nobody waits for a renewal': withPort((port) => ({
    renew: async () => {
      void port.renew().catch(() => {});
      return { ok: true };
    },
  })),
  'a renewal is begun beside the other': withPort((port) => ({
    plan: () => {
      void port.renew().catch(() => {});
      return port.plan();
    },
  })),
  'credentials are renewed after the end': withPort((port) => ({
    end: () => {
      port.end();
      void port.renew().catch(() => {});
    },
  })),
  'it is removed as soon as its stdin has ended': withPort((port) => ({
    end: () => {
      port.end();
      port.remove();
    },
  })),
};

describe('the referee sees that', () => {
  test.each(Object.entries(NAIVE))(
    '%s',
    async (_, wrong) => {
      const property = fc.asyncProperty(fc.array(moves, { maxLength: MAX_MOVES, size: 'max' }), async (played) => {
        expect(wrongs((await play(played, { assemble: wrong })).log)).toEqual([]);
      });
      const { failed } = await fc.check(property, { numRuns: RUNS, seed: SEED, endOnFailure: true });
      expect(failed).toBe(true);
    },
    60_000,
  );
});
