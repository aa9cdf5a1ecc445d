/** Walks over the session chart, for the requirements: what can happen next, and how it all has to end. */
import { type AnyEventObject, assign, type SnapshotFrom } from 'xstate';
import type { SessionContext } from '../../../src/machines/session/session.context.ts';
import type { sessionMachine } from '../../../src/machines/session/session.machine.ts';
import type { SessionState } from '../../../src/ports/session-service.ts';
import { doneEvent, errorEvent } from '../../kit/domain.ts';
import { begin, extensions, step, type Walk } from '../../kit/ledger.ts';
import { SELECTION } from '../../kit/world.ts';
import { model } from './domain.ts';

export type Session = typeof sessionMachine;
export type State = SnapshotFrom<Session>;

const END_LENGTH = 8;

/** With a clock that moves whenever it is looked at. */
export const observed = (machine: Session) =>
  machine.provide({ actions: { stamp: assign({ updatedAt: ({ context }) => context.updatedAt + 1 }) } }) as Session;

export const over = (state: { readonly status: string }) => state.status === 'done';

/** What clients are told; undefined while there is no session for them. The contract's words, not the product's code. */
export function publicState(state: State): SessionState | undefined {
  if (state.matches('opening') || state.matches('discarded')) return undefined;
  if (state.matches('closed')) return 'closed';
  if (state.matches('closing') || state.matches({ engaged: 'ending' })) return 'closing';
  if (state.matches({ engaged: 'running' })) return 'running';
  return state.context.lastTurnFailed ? 'failed' : 'idle';
}

export const PROMPT = { type: 'PROMPT', requestId: 'P', turnId: 't2', prompt: 'do it' } as const;
export const ABORT = { type: 'ABORT', requestId: 'A' } as const;
export const CLOSE = { type: 'CLOSE', requestId: 'C' } as const;
export const STOP = { type: 'STOP' } as const;

/** The end of a turn, which hands back every abort that it still owes an answer. */
export const turnEnds = (state: 'completed' | 'failed' | 'aborted', callers: readonly string[]): AnyEventObject =>
  doneEvent('turn', { turn: { turnId: 't1', sessionId: 's1', state, startedAt: 0, updatedAt: 0 }, callers });

/** What each child may come to; that of a turn is its own chart's output. */
export const OUTCOMES: Readonly<Record<string, readonly unknown[]>> = {
  start: [
    { ok: true, selection: SELECTION },
    { ok: false, code: 'unknown_model', stage: 'model' },
  ],
  admitPrompt: [{ disposition: 'started' }, { disposition: 'refused' }],
  settlePrompt: [undefined],
  abortQuarantined: [{ ok: true }],
  abortAdmission: [{ ok: true }],
  disposeSession: [undefined],
  turn: [
    { turn: { state: 'completed' }, callers: [] },
    { turn: { state: 'failed' }, callers: [] },
  ],
};

export function timersOf(state: State): AnyEventObject[] {
  const descriptors = state._nodes.flatMap((node) => [...node.transitions.keys()]);
  return descriptors.filter((type) => type.startsWith('xstate.after.')).map((type) => ({ type }));
}

function settlementsOf({ state, passedOn }: Walk): AnyEventObject[] {
  return Object.keys(state.children).flatMap((id) =>
    id === 'turn'
      ? [turnEnds('completed', passedOn), turnEnds('failed', passedOn)]
      : [...(OUTCOMES[id] ?? []).map((outcome) => doneEvent(id, outcome)), errorEvent(id)],
  );
}

const eventsOf = (walk: Walk): AnyEventObject[] => [
  PROMPT,
  ABORT,
  CLOSE,
  STOP,
  ...settlementsOf(walk),
  ...timersOf(walk.state as State),
];

/** One shortest walk to each reachable state, every request with an id of its own. */
function walksToStates(machine: Session): Walk[] {
  return model(observed(machine))
    .prefixes()
    .map(({ steps }) => {
      const [first, ...rest] = steps;
      return rest.reduce((walk, { event }) => step(walk, withCallers(event, walk)).walk, begin(first?.state, ['S']));
    });
}

/** From every reachable state every walk of so many more steps. */
export function* allWalks(machine: Session, length: number): Generator<Walk> {
  for (const walk of walksToStates(machine)) yield* extensions(walk, length, eventsOf);
}

/** The walk to its end with silent adapters: only deadlines fire, and a turn that was told to end does. */
export function toTheEnd(walk: Walk): Walk {
  let longer = walk;
  for (let count = 0; count < END_LENGTH && !over(longer.state); count += 1) {
    const state = longer.state as State;
    const [timer] = timersOf(state);
    // The turn's own requirements say that END and its deadline end it.
    const next = state.matches({ engaged: 'ending' }) ? turnEnds('aborted', longer.passedOn) : timer;
    if (next === undefined) return longer;
    longer = step(longer, next).walk;
  }
  return longer;
}

/** What the chart itself still means to answer. */
export function rememberedBy(walk: Walk): string[] {
  const state = walk.state as State;
  if (over(state)) return [];
  const { startRequestId, admission, waiting, closers } = state.context as SessionContext;
  return [
    ...(state.matches('opening') ? [startRequestId] : []),
    ...(state.matches('admitting') && admission ? [admission.requestId] : []),
    ...waiting.map(({ requestId }) => requestId),
    ...closers,
  ];
}

function withCallers(event: AnyEventObject, { passedOn }: Walk): AnyEventObject {
  if (event.type !== 'xstate.done.actor.turn') return event;
  return { ...event, output: { ...(event['output'] as object), callers: passedOn } };
}
