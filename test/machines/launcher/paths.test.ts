import { afterAll, describe, expect, test } from 'vitest';
import { credentialsMachine } from '../../../src/machines/writers/credentials.machine.ts';
import { launcherMachine } from '../../../src/machines/writers/launcher.machine.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { actorOf, applyLauncherEvent, bringToBox, credentialsModel, model, type State } from './domain.ts';
import { wrongs } from './referee.ts';
import { LauncherWorld, STEPS, TEST_DELAYS } from './world.ts';

const coverage = new Coverage();
const { inspect } = coverage;
const paths = model().paths();

/** What somebody waits for while the chart is in a state, in the order of a start. */
function expectedWork({ children }: State, isAbandoned: boolean): string[] {
  return STEPS.filter((step) => actorOf(step) in children || (step === 'renew' && isAbandoned));
}

/** @param isAbandoned The path went on without its renewal. */
function expectState(world: LauncherWorld, state: State, isAbandoned: boolean): void {
  const isEnding = state.matches({ boxed: 'ending' });
  const isRemoving = state.matches({ boxed: 'removing' });
  const timers = world.clock.pendingByDelay();
  expect(world.calls.map(({ step }) => step)).toEqual(expectedWork(state, isAbandoned));
  expect(world.watchers).toBe(state.matches({ boxed: 'running' }) ? 1 : 0);
  expect(timers.has(TEST_DELAYS.renewalPatience)).toBe(state.matches({ preparing: 'renewing' }));
  expect(timers.has(TEST_DELAYS.graceTimeout)).toBe(isEnding);
  expect(timers.has(TEST_DELAYS.renewalInterval)).toBe(state.matches({ boxed: 'running' }));
  expect([world.count('end'), world.count('remove')]).toEqual([isEnding || isRemoving ? 1 : 0, isRemoving ? 1 : 0]);
  expect(world.result).toBeUndefined();
}

describe(`launcher: ${paths.length} generated paths`, () => {
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const watchFails = path.steps.some(({ event }) => event.type === 'xstate.error.actor.watchInput');
    const world = new LauncherWorld({ inspect, watchFails });
    let isAbandoned = false;
    for (const { event, state } of path.steps.slice(1)) {
      await applyLauncherEvent(world, event);
      isAbandoned ||= event.type.startsWith('xstate.after.renewalPatience');
      // The watch fails in the same step in which it begins.
      if (watchFails && state.matches({ boxed: 'running' })) continue;
      if (state.status === 'active') expectState(world, state, isAbandoned);
      else {
        expect(world.result).toEqual(state.output);
        expect(world.watchers).toBe(0);
        world.clock.assertEmpty();
      }
    }
    expect(wrongs(world.log)).toEqual([]);
  });
});

const renewals = credentialsModel().paths();

describe.each(['answered', 'abandoned'] as const)(
  `credentials: ${renewals.length} paths, the first renewal %s`,
  (first) => {
    test.each(renewals.map((path) => [path.title, path] as const))('%s', async (_, path) => {
      const world = new LauncherWorld({ inspect });
      await bringToBox(world, first);
      for (const { event, state } of path.steps.slice(1)) {
        await applyLauncherEvent(world, event);
        const isRenewing = state.matches('renewing');
        const isUnderWay = isRenewing || world.abandoned() !== undefined;
        expect(world.calls.map(({ step }) => step).sort()).toEqual(isUnderWay ? ['ended', 'renew'] : ['ended']);
        expect(world.clock.pendingByDelay().has(TEST_DELAYS.renewalInterval)).toBe(!isRenewing);
      }
      // Whatever it is at, the end of the box ends it.
      await world.endInput();
      await world.settle('ended', { kind: 'ended', code: 0 });
      expect(world.result).toEqual({ status: 0, code: null });
      world.clock.assertEmpty();
      expect(wrongs(world.log)).toEqual([]);
    });
  },
);

test.each([[launcherMachine], [credentialsMachine]])('every transition and state was taken', (machine) => {
  expect(coverage.missing(machine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'launcher'));
