/**
 * Registry: which sessions exist, who may still start one, and what is
 * remembered of the closed ones. It routes requests to their session and
 * answers those that have none.
 */
import { assign, enqueueActions, sendTo, setup, spawnChild, stopChild } from 'xstate';
import type { SessionRecord } from '../../ports/session-service.ts';
import { DEADLINES_MS } from '../shared/deadlines.ts';
import { type Answer, answer, type SessionRequest } from '../shared/replies.ts';
import { unprovidedChart } from '../shared/unprovided.ts';
import type { SessionInput, SessionOutput } from './session.context.ts';
import type { sessionMachine } from './session.machine.ts';

/** Closed sessions whose view is kept, oldest out first (docs/lifecycle.md). */
const KEPT_TOMBSTONES = 100;

export type RegistryRequest = SessionRequest & { readonly sessionId: string };

export type RegistryEvent =
  | { readonly type: 'START'; readonly requestId: string; readonly session: Omit<SessionInput, 'startRequestId'> }
  | RegistryRequest
  | { readonly type: 'STOP' };

/** What the chart sees of a session that ended; matched by the wildcard below. */
interface SessionDone {
  readonly type: `xstate.done.actor.${string}`;
  readonly actorId: string;
  readonly output: SessionOutput;
}
interface SessionError {
  readonly type: `xstate.error.actor.${string}`;
  readonly actorId: string;
}

/** A session that has an actor. */
interface Seat {
  readonly sessionId: string;
  readonly actorId: string;
}

export interface RegistryContext {
  /** In the order of their start. */
  readonly open: readonly Seat[];
  readonly tombstones: readonly SessionRecord[];
}

type Target = { readonly sessionId: string };

export function actorOf({ open }: RegistryContext, sessionId: string): string | undefined {
  return open.find((seat) => seat.sessionId === sessionId)?.actorId;
}

/**
 * Actor ids are reused. A child's end is an event type of its own
 * (`xstate.done.actor.<id>`), and XState remembers every event type that a chart
 * has met: ids that are never used again would never be forgotten.
 */
function freeActor({ open }: RegistryContext): string {
  const taken = new Set(open.map(({ actorId }) => actorId));
  let seat = 0;
  while (taken.has(`session-${seat}`)) seat += 1;
  return `session-${seat}`;
}

export function tombstoneOf(context: RegistryContext, sessionId: string): SessionRecord | undefined {
  return context.tombstones.find((session) => session.id === sessionId);
}

/** The tombstone's view; only asked for behind `isClosed`. */
function tombstoneView(context: RegistryContext, { requestId, sessionId }: RegistryRequest): Answer {
  const session = tombstoneOf(context, sessionId);
  return session === undefined
    ? answer([requestId], 'unknown_session')
    : { requestIds: [requestId], reply: { ok: true, session } };
}

/** `spawnChild` sees the union of all events; only START reaches it. */
function startedSession(event: RegistryEvent | SessionDone | SessionError): SessionInput {
  return 'session' in event ? { ...event.session, startRequestId: event.requestId } : NOBODY;
}
const NOBODY: SessionInput = { id: '', workspace: '', executionProfile: '', profile: 'read-only', startRequestId: '' };

const registrySetup = setup({
  types: {
    context: {} as RegistryContext,
    events: {} as RegistryEvent | SessionDone | SessionError,
  },
  actors: { session: unprovidedChart<typeof sessionMachine>('session') },
  delays: { registryTimeout: DEADLINES_MS.registryTimeout },
  guards: {
    isOpen: ({ context }, { sessionId }: Target) => actorOf(context, sessionId) !== undefined,
    isClosed: ({ context }, { sessionId }: Target) => tombstoneOf(context, sessionId) !== undefined,
    noneOpen: ({ context }) => context.open.length === 0,
  },
  actions: {
    /** Provided by the wiring: hands each answer out. */
    reply: (_, _answers: readonly Answer[]) => {},
    /** Provided by the wiring: a chart broke, the process has to end. */
    reportDefect: () => {},
    remember: assign({
      open: ({ context }, { id }: { readonly id: string }) => [
        ...context.open,
        { sessionId: id, actorId: freeActor(context) },
      ],
    }),
    forget: assign({
      open: ({ context }, { actorId }: { readonly actorId: string }) =>
        context.open.filter((seat) => seat.actorId !== actorId),
    }),
    bury: assign({
      tombstones: ({ context }, output: SessionOutput) =>
        output.kind === 'closed' ? [...context.tombstones, output.session].slice(-KEPT_TOMBSTONES) : context.tombstones,
    }),
  },
});

export const registryMachine = registrySetup.createMachine({
  id: 'registry',
  description: 'All sessions of this process.',
  meta: {
    guarantees: [
      'Every open session has an actor, and every actor an open session.',
      'A stop reaches every session; the registry ends when the last is gone, or at its deadline.',
      'Once it drains, a start answers server_stopping and starts nothing.',
      'A session whose chart broke is reported, and nothing is accepted after it.',
    ],
  },
  options: { maxIterations: 100 },
  context: { open: [], tombstones: [] },
  initial: 'accepting',
  on: {
    PROMPT: [
      {
        guard: { type: 'isOpen', params: ({ event }) => event },
        actions: sendTo(
          // Only asked behind `isOpen`.
          ({ context, event }) => actorOf(context, event.sessionId) ?? event.sessionId,
          ({ event }) => event,
        ),
      },
      {
        guard: { type: 'isClosed', params: ({ event }) => event },
        actions: { type: 'reply', params: ({ event }) => [answer([event.requestId], 'prompt_rejected')] },
      },
      { actions: { type: 'reply', params: ({ event }) => [answer([event.requestId], 'unknown_session')] } },
    ],
    ABORT: [
      {
        guard: { type: 'isOpen', params: ({ event }) => event },
        actions: sendTo(
          // Only asked behind `isOpen`.
          ({ context, event }) => actorOf(context, event.sessionId) ?? event.sessionId,
          ({ event }) => event,
        ),
      },
      { actions: { type: 'reply', params: ({ context, event }) => [tombstoneView(context, event)] } },
    ],
    CLOSE: [
      {
        guard: { type: 'isOpen', params: ({ event }) => event },
        actions: sendTo(
          // Only asked behind `isOpen`.
          ({ context, event }) => actorOf(context, event.sessionId) ?? event.sessionId,
          ({ event }) => event,
        ),
      },
      { actions: { type: 'reply', params: ({ context, event }) => [tombstoneView(context, event)] } },
    ],
    'xstate.done.actor.*': {
      actions: [
        { type: 'forget', params: ({ event }) => event },
        { type: 'bury', params: ({ event }) => event.output },
        stopChild(({ event }) => event.actorId),
      ],
    },
  },
  states: {
    accepting: {
      description: 'New sessions are welcome.',
      meta: { rests: 'the client decides what is next' },
      on: {
        START: {
          actions: [
            spawnChild('session', {
              id: ({ context }) => freeActor(context),
              input: ({ event }) => startedSession(event),
            }),
            { type: 'remember', params: ({ event }) => event.session },
          ],
        },
        STOP: 'draining',
        'xstate.error.actor.*': {
          target: 'draining',
          actions: [
            { type: 'forget', params: ({ event }) => event },
            stopChild(({ event }) => event.actorId),
            'reportDefect',
          ],
        },
      },
    },
    draining: {
      description: 'Every session is told to stop; none is accepted.',
      entry: enqueueActions(({ context, enqueue }) => {
        for (const { actorId } of context.open) enqueue.sendTo(() => actorId, { type: 'STOP' });
      }),
      on: {
        START: { actions: { type: 'reply', params: ({ event }) => [answer([event.requestId], 'server_stopping')] } },
        'xstate.error.actor.*': {
          actions: [
            { type: 'forget', params: ({ event }) => event },
            stopChild(({ event }) => event.actorId),
            'reportDefect',
          ],
        },
      },
      always: { guard: 'noneOpen', target: 'stopped' },
      after: { registryTimeout: 'stopped' },
    },
    stopped: { type: 'final', description: 'No session is left, or the time is up.' },
  },
});
