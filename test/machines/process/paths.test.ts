import { afterAll, describe, expect, test } from 'vitest';
import { processMachine } from '../../../src/machines/process/process.machine.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { TEST_DEADLINES, World } from '../../kit/world.ts';
import { applyProcessEvent, HOLDER, model } from './domain.ts';

const coverage = new Coverage();
const paths = model().paths();

describe(`process: ${paths.length} generated paths`, () => {
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const world = new World({ inspect: coverage.inspect, transportClosesAtOnce: false });
    await world.openSession(HOLDER);
    let [before] = path.steps.map(({ state }) => state);
    for (const { event, state } of path.steps.slice(1)) {
      if (before === undefined) throw new Error('a path starts somewhere');
      await applyProcessEvent(world, event, before);
      const isStopping = state.status === 'active' && state.matches({ live: 'stopping' });
      expect(world.exitStatus).toBe(state.status === 'done' ? state.context.status : undefined);
      expect(world.transportClosings).toBe(
        (isStopping && state.matches({ live: { stopping: 'closing' } })) ||
          (state.status === 'done' && before.matches({ live: { stopping: 'closing' } }))
          ? 1
          : 0,
      );
      expect(world.clock.pendingByDelay().has(TEST_DEADLINES.processTimeout)).toBe(isStopping);
      if (isStopping) {
        const refused = await world.app.service.start({ workspace: 'here' });
        expect(refused).toEqual({ ok: false, code: 'server_stopping' });
      }
      before = state;
    }
    if (before?.status === 'done') {
      world.clock.assertEmpty();
      expect(world.agent.openHandles).toBe(0);
      expect(world.agent.disposals.get(HOLDER)).toBe(1);
    }
  });
});

test('every transition and state was taken', () => {
  expect(coverage.missing(processMachine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'process'));
