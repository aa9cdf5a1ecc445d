import { afterAll, describe, expect, test } from 'vitest';
import { startMachine } from '../../../src/machines/session/start.machine.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { World } from '../../kit/world.ts';
import { model, settleOrFire } from './domain.ts';

/** What is live in the world while the chart is in a state. */
const LIVE_CALL = {
  selecting: 'selectModel',
  checkingAuthentication: 'checkAuthentication',
  readingAuthentication: 'readAuthentication',
  checkingAvailability: 'checkAvailability',
  connecting: 'connectTools',
  creating: 'createSession',
} as const;

const coverage = new Coverage();
const paths = model().paths();

describe(`start: ${paths.length} generated paths`, () => {
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const world = new World({ inspect: coverage.inspect });
    const id = world.start();
    await world.flush();
    for (const { event, state } of path.steps) {
      if (event.type !== 'xstate.init') await settleOrFire(world, event);
      const reply = world.requests[0]?.reply;
      if (state.status === 'active') {
        expect(reply).toBeUndefined();
        expect(world.app.service.get(id)).toEqual({ ok: false, code: 'unknown_session' });
        expect(world.app.service.list()).toEqual([]);
        const live = world.agent.calls.filter(({ signal }) => !signal?.aborted).map(({ operation }) => operation);
        expect(live).toEqual([LIVE_CALL[state.value as keyof typeof LIVE_CALL]]);
      } else {
        const { output } = state.context;
        expect(reply).toMatchObject(
          output.ok ? { ok: true, session: output.selection } : { ok: false, code: output.code },
        );
        expect(world.app.service.list()).toHaveLength(output.ok ? 1 : 0);
        if (!output.ok) {
          expect(world.reports).toMatchObject([
            { event: 'pi_session_creation_failed', fields: { stage: output.stage, code: output.code } },
          ]);
        }
        world.clock.assertEmpty();
      }
    }
  });
});

test('every transition and state was taken', () => {
  expect(coverage.missing(startMachine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'start'));
