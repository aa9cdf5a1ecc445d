import { afterAll, describe, expect, test } from 'vitest';
import { connectionMachine } from '../../../src/machines/grants/connection.machine.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { effectsOf } from '../../kit/effects.ts';
import { GrantWorld, grantLabel } from '../../kit/grant-world.ts';
import { applyConnectionEvent, model, type State } from './domain.ts';

/** What the server is asked for while the chart is in a state. */
function expectedWork(state: State): string[] {
  if (state.matches({ live: { opening: 'connecting' } })) return ['connect'];
  if (state.matches({ live: { opening: 'listing' } })) return ['listPage'];
  if (state.matches({ live: 'calling' })) return ['call'];
  return state.matches('closing') || state.matches({ failed: 'ending' }) ? ['endInput'] : [];
}

const coverage = new Coverage();
const paths = model().paths();

describe(`connection: ${paths.length} generated paths`, () => {
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const world = new GrantWorld({ inspect: coverage.inspect });
    const { server } = world;
    server.watchFails = path.steps.some(({ event }) => event.type === 'xstate.error.actor.watch');
    const promised: string[] = [];
    let [before] = path.steps.map(({ state }) => state);
    for (const { event, state } of path.steps.slice(1)) {
      await applyConnectionEvent(world, event);
      promised.push(...effectsOf(before, event).answers.map(({ reply }) => grantLabel(reply as never)));
      before = state;
      // The watch fails in the same step in which it begins.
      if (server.watchFails && !state.matches('failed')) continue;
      const given = world.questions.flatMap(({ reply }) => (reply ? [grantLabel(reply)] : []));
      expect(given.toSorted()).toEqual(promised.toSorted());
      // A way of ending the child that was given up is still under way.
      const work = server.live.map(({ operation }) => operation);
      expect(work.slice(-1)).toEqual(expectedWork(state));
      expect(work.filter((operation) => operation === 'call').length).toBeLessThanOrEqual(1);
      expect(server.watchers).toBe(state.matches('live') ? 1 : 0);
      expect(world.isClosed).toBe(state.status === 'done');
      if (state.matches({ live: { opening: 'listing' } })) {
        expect(server.find('listPage').input).toBe(state.context.cursor);
      }
      if (state.status === 'done') {
        world.clock.assertEmpty();
        expect(world.questions.every(({ answers }) => answers === 1)).toBe(true);
      }
    }
    expect(world.defects).toEqual([]);
  });
});

test('every transition and state was taken', () => {
  expect(coverage.missing(connectionMachine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'connection'));
