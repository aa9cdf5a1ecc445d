import { afterAll, describe, expect, test } from 'vitest';
import { MAX_WAITING_JOBS } from '../../../src/machines/events/delivery.context.ts';
import { deliveryMachine } from '../../../src/machines/events/delivery.machine.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { closed, DeliveryWorld, ended, model, type State } from './domain.ts';

const coverage = new Coverage();
const paths = model().paths();

function expectedWork(state: State): string[] {
  if (state.matches('working')) return [state.context.current?.kind ?? 'nothing'];
  return state.matches('closing') ? ['close'] : [];
}

describe(`delivery: ${paths.length} generated paths`, () => {
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const world = new DeliveryWorld(coverage.inspect);
    for (const { event, state } of path.steps.slice(1)) {
      await world.apply(event);
      expect(world.isClosed).toBe(state.status === 'done');
      // A call that was given up at the end is still under way.
      if (state.status === 'active') expect(world.work.slice(-1)).toEqual(expectedWork(state));
      else world.clock.assertEmpty();
      expect(world.work.length).toBeLessThanOrEqual(1);
      expect(world.reports.at(-1)?.fields?.['dropped'] ?? 0).toBe(state.context.dropped);
    }
  });
});

describe('a turn that ends while others wait', () => {
  const fill = async () => {
    const world = new DeliveryWorld(coverage.inspect);
    for (let index = 0; index <= MAX_WAITING_JOBS; index += 1) world.events.ended(ended('s1', `t${index}`).turn);
    await world.apply(ended('s2', 'late'));
    return world;
  };

  test('is dropped, counted and told when the queue is full', async () => {
    const { reports } = await fill();
    expect(reports).toEqual([{ event: 'turn_events_degraded', fields: { code: 'queue_full', dropped: 1 } }]);
  });

  test('the others are written in their order, one at a time', async () => {
    const world = await fill();
    for (let left = MAX_WAITING_JOBS; left >= 0; left -= 1) {
      expect(world.work).toEqual(['write']);
      await world.apply({ type: 'xstate.done.actor.work', output: { ok: true } });
    }
    expect(world.work).toEqual([]);
    const turns = world.calls.history.map(({ input }) => (input as { turnId: string }).turnId);
    expect(turns).toEqual(Array.from({ length: MAX_WAITING_JOBS + 1 }, (_, index) => `t${index}`));
  });

  test('a close withdraws what waits of its session, and what is there is removed after the write', async () => {
    const world = await fill();
    await world.apply(closed('s1'));
    await world.apply({ type: 'xstate.done.actor.work', output: { ok: true } });
    expect(world.calls.live).toEqual([expect.objectContaining({ operation: 'forget', input: 's1' })]);
  });

  test('a disk that hangs gets nothing more, however many turns end', async () => {
    const world = await fill();
    await world.apply({ type: 'xstate.after.deliveryTimeout' });
    for (let index = 0; index < 9; index += 1) await world.apply(ended());
    expect(world.work).toEqual(['write']);
    expect(world.reports.at(-1)?.fields).toEqual({ code: 'spool_stalled', dropped: 1 + MAX_WAITING_JOBS + 9 });
    await world.apply({ type: 'xstate.done.actor.work', output: { ok: true } });
    await world.apply(ended('s3', 'after'));
    expect(world.calls.live).toEqual([
      expect.objectContaining({ operation: 'write', input: ended('s3', 'after').turn }),
    ]);
  });
});

test('every transition and state was taken', () => {
  expect(coverage.missing(deliveryMachine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'delivery'));
