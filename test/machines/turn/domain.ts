/** The turn chart's events, and what makes each of them happen in the real assembly. */
import type { AnyEventObject, SnapshotFrom } from 'xstate';
import { turnMachine } from '../../../src/machines/session/turn.machine.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';
import { STARTED_AT, TEST_DEADLINES, type World } from '../../kit/world.ts';
import { settleOrFire } from '../start/domain.ts';

type Snapshot = SnapshotFrom<typeof turnMachine>;

const CALLERS = ['A1', 'A2'];

const domain: Domain<typeof turnMachine> = {
  // A closing session answers aborts itself; only one that waited through the admission still reaches its turn, which
  // aborts.test.ts covers.
  ABORT: (snapshot: Snapshot) => {
    const next = CALLERS.find((caller) => !snapshot.context.callers.includes(caller));
    return next && !snapshot.matches({ running: { end: 'ending' } }) ? [{ type: 'ABORT', requestIds: [next] }] : [];
  },
  END: [{ type: 'END' }],
  STOP: [{ type: 'STOP' }],
  ACTIVITY: [{ type: 'ACTIVITY' }],
  ABORT_DEADLINE: ({ context }: Snapshot) =>
    context.callers.map((requestId) => ({ type: 'ABORT_DEADLINE', requestId }) as const),
  'xstate.done.actor.runTurn': [
    doneEvent('runTurn', { state: 'completed', assistantText: 'done', truncated: false }),
    doneEvent('runTurn', { state: 'failed' }),
    doneEvent('runTurn', { state: 'aborted' }),
  ],
  'xstate.error.actor.runTurn': [errorEvent('runTurn')],
  'xstate.error.actor.watchTurn': [errorEvent('watchTurn')],
  'xstate.done.actor.abortTurn': [doneEvent('abortTurn', { ok: true }), doneEvent('abortTurn', { ok: false })],
  'xstate.error.actor.abortTurn': [errorEvent('abortTurn')],
};

export const model = (machine: typeof turnMachine = turnMachine) =>
  chartModel(machine, {
    domain,
    input: { sessionId: 's1', turnId: 't1', startedAt: STARTED_AT },
    project: ({ callers, result }) => ({ callers, result }),
  });

/** @param before The chart's state before the event: which caller's deadline is which timer depends on it. */
export async function applyTurnEvent(
  world: World,
  ids: { readonly sessionId: string; readonly turnId: string },
  event: AnyEventObject,
  before: Snapshot,
): Promise<void> {
  switch (event.type) {
    case 'ABORT':
      world.abort(ids.sessionId);
      break;
    case 'END':
      world.close(ids.sessionId);
      break;
    case 'STOP':
      world.app.end();
      break;
    case 'ACTIVITY':
      world.clock.advance(7);
      world.agent.activity(ids.turnId);
      break;
    case 'ABORT_DEADLINE': {
      const timers = world.clock.pendingByDelay().get(TEST_DEADLINES.abortTimeout) ?? [];
      const timer = timers[before.context.callers.indexOf(event['requestId'] as string)];
      if (timer === undefined) throw new Error('this caller has no deadline');
      world.clock.fireAny(timer);
      break;
    }
    case 'xstate.error.actor.watchTurn':
      // It can only fail when it begins; see `watchFails` in the path's preparation.
      break;
    default:
      await settleOrFire(world, event);
  }
  await world.flush();
}
