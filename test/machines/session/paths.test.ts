import { afterAll, describe, expect, test } from 'vitest';
import type { SnapshotFrom } from 'xstate';
import { sessionMachine } from '../../../src/machines/session/session.machine.ts';
import type { SessionReply } from '../../../src/ports/session-service.ts';
import { givenAnswers, promisedAnswers } from '../../kit/answers.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { World } from '../../kit/world.ts';
import { applySessionEvent, model } from './domain.ts';

const coverage = new Coverage();
const paths = model().paths();

/** What a client may see of a session; written down once more, independently of the product's projection. */
function expectedView(state: SnapshotFrom<typeof sessionMachine>, isRemembered: boolean): string {
  const view = (): string => {
    if (state.matches({ ready: 'failed' })) return 'failed';
    if (state.matches('ready')) return 'idle';
    if (state.matches({ engaged: 'running' })) return 'running';
    if (state.matches('engaged') || state.matches('closing')) return 'closing';
    if (state.matches('admitting') || state.matches('quarantined'))
      return state.context.lastTurnFailed ? 'failed' : 'idle';
    return state.matches('closed') && isRemembered ? 'closed' : 'unknown_session';
  };
  return view();
}

const label = (reply: SessionReply) => (reply.ok ? reply.session.state : reply.code);

describe(`session: ${paths.length} generated paths`, () => {
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const world = new World({ inspect: coverage.inspect });
    const sessionId = world.start();
    await world.flush();
    const promised: string[] = [];
    let [before] = path.steps.map(({ state }) => state);
    for (const { event, state } of path.steps.slice(1)) {
      await applySessionEvent(world, sessionId, event);
      promised.push(...promisedAnswers(sessionMachine, before, event));
      before = state;
      expect(givenAnswers(world.requests).toSorted()).toEqual(promised.toSorted());
      expect(label(world.app.service.get(sessionId))).toBe(expectedView(state, true));
      expect(world.agent.violations).toEqual([]);
      expect(Math.max(0, ...world.agent.disposals.values())).toBeLessThanOrEqual(1);
    }
    if (before?.status === 'done') {
      expect(world.unanswered()).toEqual([]);
      expect(world.agent.openHandles).toBe(0);
      expect(world.agent.disposals.get(sessionId) ?? 0).toBe(before.matches('closed') ? 1 : 0);
      if (world.exitStatus !== undefined) world.clock.assertEmpty();
    }
  });
});

test('every transition and state was taken', () => {
  expect(coverage.missing(sessionMachine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'session'));
