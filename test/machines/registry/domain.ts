/** The registry chart's events, and what makes each of them happen in the real assembly. */
import type { AnyEventObject, SnapshotFrom } from 'xstate';
import { type RegistryContext, registryMachine } from '../../../src/machines/session/registry.machine.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';
import { SELECTION, STARTED_AT, type World } from '../../kit/world.ts';
import { settleOrFire } from '../start/domain.ts';

type Snapshot = SnapshotFrom<typeof registryMachine>;

const IDS = ['s1', 's2'];

const session = (id: string) => ({ id, workspace: 'here', executionProfile: 'reader', profile: 'read-only' as const });
const closed = (id: string) => ({
  kind: 'closed',
  session: {
    ...session(id),
    ...SELECTION,
    state: 'closed',
    createdAt: STARTED_AT,
    updatedAt: STARTED_AT,
    lastTurnFailed: false,
  },
});

/** One session that is open, one that is closed and one that never was. */
function targets({ context }: Snapshot): string[] {
  const found = [context.open[0]?.sessionId, context.tombstones[0]?.id].filter((id) => id !== undefined);
  return [...found, 'nobody'];
}
const isKnown = ({ context }: Snapshot, id: string) =>
  context.open.some(({ sessionId }) => sessionId === id) || context.tombstones.some((tombstone) => tombstone.id === id);

const domain: Domain<typeof registryMachine> = {
  START: (snapshot: Snapshot) =>
    IDS.filter((id) => !isKnown(snapshot, id))
      .slice(0, 1)
      .map((id) => ({ type: 'START', requestId: 'S', session: session(id) }) as const),
  PROMPT: (snapshot: Snapshot) =>
    targets(snapshot).map(
      (sessionId) => ({ type: 'PROMPT', requestId: 'P', sessionId, turnId: 't1', prompt: 'x' }) as const,
    ),
  ABORT: (snapshot: Snapshot) =>
    targets(snapshot).map((sessionId) => ({ type: 'ABORT', requestId: 'A', sessionId }) as const),
  CLOSE: (snapshot: Snapshot) =>
    targets(snapshot).map((sessionId) => ({ type: 'CLOSE', requestId: 'C', sessionId }) as const),
  STOP: [{ type: 'STOP' }],
  // A stop discards a session in its start at once, so one that is still there in the end was open.
  'xstate.done.actor.*': (snapshot: Snapshot) =>
    snapshot.context.open.flatMap(({ sessionId: id, actorId }) => [
      { ...doneEvent(actorId, closed(id)), sessionId: id },
      ...(snapshot.matches('accepting') ? [{ ...doneEvent(actorId, { kind: 'discarded' }), sessionId: id }] : []),
    ]),
  'xstate.error.actor.*': ({ context }: Snapshot) =>
    context.open.map(({ sessionId, actorId }) => ({ ...errorEvent(actorId), sessionId })),
};

export const model = (machine: typeof registryMachine = registryMachine) =>
  chartModel(machine, {
    domain,
    project: ({ open, tombstones }: RegistryContext) => ({ open, tombstones: tombstones.map(({ id }) => id) }),
  });

/** How the path will end a session decides how far its start may get: only one in its start can be discarded. */
export function isDiscardedLater(sessionId: string, rest: readonly { readonly event: AnyEventObject }[]): boolean {
  const end = rest.find(({ event }) => 'actorId' in event && event['sessionId'] === sessionId)?.event;
  return end !== undefined && JSON.stringify(end['output'])?.includes('discarded') === true;
}

export async function applyRegistryEvent(
  world: World,
  event: AnyEventObject,
  { isStopping, staysInStart }: { readonly isStopping: boolean; readonly staysInStart: boolean },
): Promise<void> {
  const sessionId = String(event['sessionId'] ?? '');
  if (event.type === 'START') {
    const { id } = event['session'] as { id: string };
    if (staysInStart || isStopping) world.start(id);
    else await world.openSession(id);
  } else if (event.type === 'PROMPT') world.prompt(sessionId);
  else if (event.type === 'ABORT') world.abort(sessionId);
  else if (event.type === 'CLOSE') world.close(sessionId);
  else if (event.type === 'STOP') world.app.end();
  else if (event.type.startsWith('xstate.after')) await settleOrFire(world, event);
  else if (event.type.startsWith('xstate.error')) await breakSession(world, sessionId);
  else if (staysInStart)
    world.agent.settle('selectModel', { ok: false, code: 'unknown_model', stage: 'model' }, sessionId);
  else {
    if (!isStopping) world.close(sessionId);
    await world.flush();
    await world.finishClosing(sessionId);
  }
  await world.flush();
}

/** Time breaks, and the session's chart with it, as soon as it stamps something. */
async function breakSession(world: World, sessionId: string): Promise<void> {
  world.timeBreaksOnce = true;
  world.close(sessionId);
  await world.flush();
  await world.finishClosing(sessionId);
}
