import { afterAll, describe, expect, test } from 'vitest';
import { turnMachine } from '../../../src/machines/session/turn.machine.ts';
import { givenAnswers, promisedAnswers } from '../../kit/answers.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { TEST_DEADLINES, World } from '../../kit/world.ts';
import { applyTurnEvent, model } from './domain.ts';

const coverage = new Coverage();
const paths = model().paths();

describe(`turn: ${paths.length} generated paths`, () => {
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const world = new World({ inspect: coverage.inspect });
    world.agent.watchFails = path.steps.some(({ event }) => event.type === 'xstate.error.actor.watchTurn');
    const sessionId = await world.openSession();
    const turnId = await world.runPrompt(sessionId);
    const asked = world.requests.length;
    const promised: string[] = [];
    let [before] = path.steps.map(({ state }) => state);
    let ended = false;
    let updatedAt = world.clock.now();

    for (const { event, state } of path.steps.slice(1)) {
      if (before === undefined) throw new Error('a path starts somewhere');
      await applyTurnEvent(world, { sessionId, turnId }, event, before);
      ended ||= event.type === 'END' || event.type === 'STOP';
      promised.push(...promisedAnswers(turnMachine, before, event));
      before = state;
      const isOver = state.status === 'done';
      // The session answers the callers that are left when the turn is over.
      if (isOver) {
        const view = ended ? 'closing' : state.value === 'failed' ? 'failed' : 'idle';
        promised.push(...state.context.callers.map(() => `ABORT: ${view}`));
      }
      expect(givenAnswers(world.requests.slice(asked)).toSorted()).toEqual(promised.toSorted());

      const view = world.app.service.turn(sessionId, turnId);
      if (ended) expect(view).toEqual({ ok: false, code: 'unknown_turn' });
      else {
        expect(view).toMatchObject({ ok: true, turn: { state: isOver ? state.value : 'running' } });
        if (!view.ok) throw new Error('unreachable');
        expect('completedAt' in view.turn).toBe(isOver);
        expect(view.turn.updatedAt).toBeGreaterThanOrEqual(updatedAt);
        if (event.type === 'ACTIVITY') expect(view.turn.updatedAt).toBe(world.clock.now());
        else if (!isOver) expect(view.turn.updatedAt).toBe(updatedAt);
        updatedAt = view.turn.updatedAt;
      }
      const timers = world.clock.pendingByDelay();
      if (isOver) {
        expect(timers.get(TEST_DEADLINES.abortTimeout)).toBeUndefined();
        expect(timers.get(TEST_DEADLINES.closeAbortTimeout)).toBeUndefined();
        expect(world.agent.watchers).toBe(0);
      }
    }
  });
});

test('every transition and state was taken', () => {
  expect(coverage.missing(turnMachine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'turn'));
