/** The session chart's events, and what makes each of them happen in the real assembly. */
import type { AnyEventObject, SnapshotFrom } from 'xstate';
import type { SessionContext } from '../../../src/machines/session/session.context.ts';
import { sessionMachine } from '../../../src/machines/session/session.machine.ts';
import type { TurnState } from '../../../src/ports/session-service.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';
import { SELECTION, STARTED_AT, type World } from '../../kit/world.ts';
import { settleOrFire } from '../start/domain.ts';

type Snapshot = SnapshotFrom<typeof sessionMachine>;

/** More of the same kind in the queue shows nothing new. */
const QUEUE_LIMIT = 2;
const hasRoom = ({ context }: Snapshot) => context.waiting.length < QUEUE_LIMIT && context.closers.length < QUEUE_LIMIT;

/** Over within one step in a running system: the turn does not wait for its agent. */
const isTold = (snapshot: Snapshot) => snapshot.matches({ engaged: { ending: 'told' } });

const turn = (state: TurnState) => ({
  turn: { turnId: 't1', sessionId: 's1', state, startedAt: STARTED_AT, updatedAt: STARTED_AT },
  callers: [],
});

const domain: Domain<typeof sessionMachine> = {
  PROMPT: (snapshot) => (hasRoom(snapshot) ? [{ type: 'PROMPT', requestId: 'P', turnId: 't1', prompt: 'do it' }] : []),
  ABORT: (snapshot) => (hasRoom(snapshot) ? [{ type: 'ABORT', requestId: 'A' }] : []),
  CLOSE: (snapshot) => (hasRoom(snapshot) ? [{ type: 'CLOSE', requestId: 'C' }] : []),
  STOP: [{ type: 'STOP' }],
  TAKE_WAITING: [],
  'xstate.done.actor.start': [
    doneEvent('start', { ok: true, selection: SELECTION }),
    doneEvent('start', { ok: false, code: 'unknown_model', stage: 'model' }),
  ],
  'xstate.error.actor.start': [errorEvent('start')],
  'xstate.done.actor.admitPrompt': [
    doneEvent('admitPrompt', { disposition: 'started' }),
    doneEvent('admitPrompt', { disposition: 'refused' }),
  ],
  'xstate.error.actor.admitPrompt': [errorEvent('admitPrompt')],
  'xstate.done.actor.turn': (snapshot) => [
    ...(isTold(snapshot) ? [] : [doneEvent('turn', turn('completed')), doneEvent('turn', turn('failed'))]),
    doneEvent('turn', turn('aborted')),
  ],
  'xstate.error.actor.turn': (snapshot) => (isTold(snapshot) ? [] : [errorEvent('turn')]),
  'xstate.done.actor.settlePrompt': [doneEvent('settlePrompt')],
  'xstate.error.actor.settlePrompt': [errorEvent('settlePrompt')],
  'xstate.done.actor.abortQuarantined': [doneEvent('abortQuarantined', { ok: true })],
  'xstate.error.actor.abortQuarantined': [errorEvent('abortQuarantined')],
  'xstate.done.actor.abortAdmission': [doneEvent('abortAdmission', { ok: true })],
  'xstate.error.actor.abortAdmission': [errorEvent('abortAdmission')],
  'xstate.done.actor.disposeSession': [doneEvent('disposeSession')],
  'xstate.error.actor.disposeSession': [errorEvent('disposeSession')],
};

export const model = (machine: typeof sessionMachine = sessionMachine) =>
  chartModel(machine, {
    domain,
    input: { id: 's1', workspace: 'here', executionProfile: 'reader', profile: 'read-only', startRequestId: 'S' },
    project: (context: SessionContext) => ({
      opened: context.selection !== null,
      failed: context.lastTurnFailed,
      admission: context.admission !== null,
      active: context.active !== null,
      waiting: context.waiting.map(({ type }) => type),
      closers: context.closers.length,
    }),
  });

export async function applySessionEvent(world: World, sessionId: string, event: AnyEventObject): Promise<void> {
  switch (event.type) {
    case 'PROMPT':
      world.prompt(sessionId);
      break;
    case 'ABORT':
      world.abort(sessionId);
      break;
    case 'CLOSE':
      world.close(sessionId);
      break;
    case 'STOP':
      world.app.end();
      break;
    case 'xstate.done.actor.start':
      if ((event['output'] as { ok: boolean }).ok) await world.open(sessionId);
      else world.agent.settle('selectModel', event['output']);
      break;
    // A chart only errs when an adapter breaks its contract: here, an outcome that is none.
    case 'xstate.error.actor.start':
      world.agent.settle('selectModel', undefined);
      break;
    case 'xstate.error.actor.turn':
      world.agent.settle('runTurn', undefined);
      break;
    case 'xstate.done.actor.turn': {
      const { state } = (event['output'] as ReturnType<typeof turn>).turn;
      world.agent.settle('runTurn', { state, assistantText: '', truncated: false });
      break;
    }
    default:
      await settleOrFire(world, event, /abort(Quarantined|Admission)/.test(event.type) ? 'abortTurn' : undefined);
  }
  await world.flush();
}
