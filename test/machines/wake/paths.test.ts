import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { wakeMachine } from '../../../src/machines/events/wake.machine.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { model, type State, TARGET, WakeWorld } from './domain.ts';

const WORK = ['look', 'claim', 'notify'] as const;
const coverage = new Coverage();
const paths = model().paths();

// The development build of xstate warns of each event to an actor that has ended; that is what is tried here.
beforeAll(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}));
afterAll(() => vi.restoreAllMocks());

function expectedWork(state: State): string | undefined {
  if (state.matches({ waiting: 'looking' }) || state.matches({ waiting: 'lookingAgain' })) return 'look';
  if (state.matches('claiming')) return 'claim';
  return state.matches('notifying') ? 'notify' : undefined;
}

describe(`wake: ${paths.length} generated paths`, () => {
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const failing = path.steps.map(({ event }) => /^xstate\.error\.actor\.(watch\w+)$/.exec(event.type)?.[1]);
    const broken = failing.find((name) => name !== undefined) as 'watchSpool' | 'watchClient' | undefined;
    const world = new WakeWorld({ inspect: coverage.inspect, broken });
    for (const { event, state } of path.steps.slice(1)) {
      await world.apply(event);
      expect(world.result).toBe(state.status === 'done' ? state.value : undefined);
      const work = expectedWork(state);
      if (work !== undefined) expect(world.calls.live.at(-1)).toMatchObject({ operation: work, input: TARGET });
      const told = world.calls.history.filter(({ operation }) => operation === 'notify').length;
      expect(told).toBe(state.matches('notifying') || state.matches('found') || state.matches('failed') ? 1 : 0);
      if (state.status === 'active' && broken === undefined) {
        expect(world.watches.size).toBe(state.matches('waiting') ? 2 : 0);
      }
      if (state.status !== 'done') continue;
      world.clock.assertEmpty();
      expect(world.watches.size).toBe(0);
    }
  });
});

/** Everything that can still come, in every place: nobody is told twice, and no end is taken back. */
describe('what comes too late', () => {
  const ends = model()
    .prefixes()
    .filter(({ state }) => state.status === 'done');
  test.each(ends.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const world = new WakeWorld();
    const watches = [...world.watches.values()];
    for (const { event } of path.steps.slice(1)) await world.apply(event);
    const before = { result: world.result, calls: world.calls.history.length };
    for (const tell of watches) tell();
    while (world.calls.live.length > 0) await world.apply({ type: 'xstate.done.actor.late', output: 'found' });
    expect({ result: world.result, calls: world.calls.history.length }).toEqual(before);
    world.clock.assertEmpty();
  });
});

test('a flood of changes costs one look at a time', async () => {
  const world = new WakeWorld();
  await world.apply({ type: 'xstate.done.actor.look', output: 'absent' });
  for (let round = 0; round < 20; round += 1) {
    for (let change = 0; change < 1_000; change += 1) world.watches.get('watchSpool')?.();
    await world.apply({ type: 'xstate.after.settleDelay' });
    expect(world.calls.live.map(({ operation }) => operation)).toEqual(['look']);
    await world.apply({ type: 'xstate.done.actor.look', output: 'absent' });
  }
  expect(world.calls.history).toHaveLength(21);
  expect(WORK).toContain(world.calls.history[0]?.operation);
});

test('every transition and state was taken', () => {
  expect(coverage.missing(wakeMachine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'wake'));
