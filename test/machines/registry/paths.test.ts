import { afterAll, describe, expect, test } from 'vitest';
import { actorOf, registryMachine } from '../../../src/machines/session/registry.machine.ts';
import { givenAnswers, promisedAnswers } from '../../kit/answers.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { TEST_DEADLINES, type TrackedRequest, World } from '../../kit/world.ts';
import { applyRegistryEvent, isDiscardedLater, model } from './domain.ts';

const coverage = new Coverage();
const paths = model().paths();

describe(`registry: ${paths.length} generated paths`, () => {
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const world = new World({ inspect: coverage.inspect });
    const steps = path.steps.slice(1);
    const mine: TrackedRequest[] = [];
    const promised: string[] = [];
    let [before] = path.steps.map(({ state }) => state);
    for (const [index, { event, state }] of steps.entries()) {
      if (before === undefined) throw new Error('a path starts somewhere');
      const sessionId = String(event['session']?.id ?? event['sessionId'] ?? '');
      const staysInStart = isDiscardedLater(sessionId, steps.slice(index));
      const asked = world.requests.length;
      await applyRegistryEvent(world, event, { isStopping: before.matches('draining'), staysInStart });
      // Requests for an open session are that session's to answer.
      if (
        actorOf(before.context, sessionId) === undefined &&
        !(event.type === 'START' && before.matches('accepting'))
      ) {
        mine.push(...world.requests.slice(asked));
      }
      promised.push(...promisedAnswers(registryMachine, before, event));
      expect(givenAnswers(mine)).toEqual(promised.toSorted());
      const open = state.status === 'done' ? [] : state.context.open.map((seat) => seat.sessionId);
      for (const id of ['s1', 's2']) {
        const view = world.app.service.get(id);
        const isClosed = state.context.tombstones.some((tombstone) => tombstone.id === id);
        if (isClosed) expect(view).toMatchObject({ ok: true, session: { id, state: 'closed' } });
        else if (!open.includes(id)) expect(view.ok && state.status === 'active').toBe(false);
      }
      expect(world.clock.pendingByDelay().has(TEST_DEADLINES.registryTimeout)).toBe(
        state.status === 'active' && state.matches('draining'),
      );
      expect(Math.max(0, ...world.agent.disposals.values())).toBeLessThanOrEqual(1);
      before = state;
    }
    if (before?.status === 'done') {
      expect(world.exitStatus).toBeDefined();
      expect(world.unanswered()).toEqual([]);
      expect(world.agent.openHandles).toBe(0);
      world.clock.assertEmpty();
    }
  });
});

test('every transition and state was taken', () => {
  expect(coverage.missing(registryMachine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'registry'));
