/**
 * Turn: one admitted prompt until its one terminal state. Callers of abort
 * share a single attempt, each with a deadline of its own; a deadline claims
 * nothing about the turn. END is the session closing: the turn then ends by
 * whatever comes first, at the latest by `closeAbortTimeout`. STOP is the server
 * stopping: the turn ends at once, and disposing its session aborts the work.
 */
import { assign, enqueueActions, setup, stateIn } from 'xstate';
import type { AbortOutcome, TurnRef, TurnResult } from '../../ports/agent.ts';
import type { TurnRecord } from '../../ports/session-service.ts';
import { DEADLINES_MS } from '../shared/deadlines.ts';
import { type Answer, answer } from '../shared/replies.ts';
import { unprovidedCallback, unprovidedPromise } from '../shared/unprovided.ts';

export interface TurnInput extends TurnRef {
  readonly startedAt: number;
}

export interface TurnContext extends TurnInput {
  readonly updatedAt: number;
  /** Requests that wait for the abort attempt. */
  readonly callers: readonly string[];
  readonly result: TurnResult | null;
}

export type TurnEvent =
  | { readonly type: 'ABORT'; readonly requestIds: readonly string[] }
  | { readonly type: 'END' }
  | { readonly type: 'STOP' }
  | { readonly type: 'ACTIVITY' }
  | { readonly type: 'ABORT_DEADLINE'; readonly requestId: string };

export interface TurnOutput {
  readonly turn: TurnRecord;
  /** Abort callers that now deserve the session's view. */
  readonly callers: readonly string[];
}

export function newTurn(input: TurnInput): TurnContext {
  return { ...input, updatedAt: input.startedAt, callers: [], result: null };
}

/** The turn as plain data, running or ended. */
export function turnRecord(context: TurnContext): TurnRecord {
  const { turnId, sessionId, startedAt, updatedAt, result } = context;
  const times = { turnId, sessionId, startedAt, updatedAt };
  if (result === null) return { ...times, state: 'running' };
  if (result.state !== 'completed') return { ...times, state: result.state, completedAt: updatedAt };
  const { assistantText, truncated } = result;
  return { ...times, state: 'completed', completedAt: updatedAt, assistantText, truncated };
}

const turnRef = ({ context }: { context: TurnContext }): TurnRef => ({
  sessionId: context.sessionId,
  turnId: context.turnId,
});
const deadlineId = (requestId: string) => `abort:${requestId}`;

export const turnMachine = setup({
  types: {
    context: {} as TurnContext,
    events: {} as TurnEvent,
    input: {} as TurnInput,
    output: {} as TurnOutput,
  },
  actors: {
    runTurn: unprovidedPromise<TurnResult, TurnRef>('runTurn'),
    watchTurn: unprovidedCallback<{ type: 'ACTIVITY' }, TurnRef>('watchTurn'),
    abortTurn: unprovidedPromise<AbortOutcome, TurnRef>('abortTurn'),
  },
  delays: {
    abortTimeout: DEADLINES_MS.abortTimeout,
    closeAbortTimeout: DEADLINES_MS.closeAbortTimeout,
  },
  guards: {
    endedAs: (_, params: { readonly actual: TurnResult['state']; readonly state: TurnResult['state'] }) =>
      params.actual === params.state,
    attemptSucceeded: (_, params: AbortOutcome) => params.ok,
    isLastCaller: ({ context }, params: { readonly requestId: string }) =>
      context.callers.length === 1 && context.callers[0] === params.requestId,
    isCaller: ({ context }, params: { readonly requestId: string }) => context.callers.includes(params.requestId),
    ending: stateIn({ running: { end: 'ending' } }),
  },
  actions: {
    /** Provided by the wiring: moves `updatedAt` to now, never backwards. */
    stamp: assign({}),
    /** Provided by the wiring: whoever waits for the turn from outside may learn of its end. */
    announce: assign({}),
    /** Provided by the wiring: hands each answer out. */
    reply: (_, _answers: readonly Answer[]) => {},
    addCallers: enqueueActions(({ context, enqueue }, { requestIds }: { readonly requestIds: readonly string[] }) => {
      enqueue.assign({ callers: [...context.callers, ...requestIds] });
      for (const requestId of requestIds) {
        enqueue.raise({ type: 'ABORT_DEADLINE', requestId }, { id: deadlineId(requestId), delay: 'abortTimeout' });
      }
    }),
    dropCaller: assign({
      callers: ({ context }, params: { readonly requestId: string }) =>
        context.callers.filter((caller) => caller !== params.requestId),
    }),
    dropAllCallers: enqueueActions(({ context, enqueue }) => {
      for (const requestId of context.callers) enqueue.cancel(deadlineId(requestId));
      enqueue.assign({ callers: [] });
    }),
    conclude: assign({ result: (_, params: TurnResult) => params }),
  },
}).createMachine({
  id: 'turn',
  description: 'One admitted prompt until its one terminal state.',
  meta: {
    guarantees: [
      'A turn has one terminal state, which the final message decides, and it never changes.',
      'Callers of abort share one attempt; its deadline says nothing of the turn.',
      'updatedAt moves with each activity and with the end, and with nothing else.',
      'A session that closes waits no longer than for one attempt.',
    ],
  },
  options: { maxIterations: 100 },
  context: ({ input }) => newTurn(input),
  initial: 'running',
  states: {
    running: {
      type: 'parallel',
      description: 'The agent works; an abort may be tried beside it.',
      invoke: [
        {
          id: 'runTurn',
          src: 'runTurn',
          input: turnRef,
          onDone: [
            {
              guard: { type: 'endedAs', params: ({ event }) => ({ actual: event.output.state, state: 'completed' }) },
              target: 'completed',
              actions: ['stamp', { type: 'conclude', params: ({ event }) => event.output }],
            },
            {
              guard: { type: 'endedAs', params: ({ event }) => ({ actual: event.output.state, state: 'aborted' }) },
              target: 'aborted',
              actions: ['stamp', { type: 'conclude', params: { state: 'aborted' } }],
            },
            { target: 'failed', actions: ['stamp', { type: 'conclude', params: { state: 'failed' } }] },
          ],
          onError: { target: 'failed', actions: ['stamp', { type: 'conclude', params: { state: 'failed' } }] },
        },
        {
          id: 'watchTurn',
          src: 'watchTurn',
          input: turnRef,
          // Without the watch only `updatedAt` suffers; the turn itself goes on.
          onError: {},
        },
      ],
      on: {
        ACTIVITY: { actions: 'stamp' },
        STOP: { target: 'aborted', actions: ['stamp', { type: 'conclude', params: { state: 'aborted' } }] },
      },
      states: {
        abort: {
          initial: 'none',
          description: 'At most one abort attempt at a time.',
          states: {
            none: {
              description: 'Nobody asked.',
              meta: { rests: 'a turn may run for as long as the provider works' },
              on: {
                ABORT: {
                  target: 'attempting.awaited',
                  actions: { type: 'addCallers', params: ({ event }) => event },
                },
                END: 'attempting.unawaited',
              },
            },
            attempting: {
              description: 'One attempt is live; only its outcome ends it.',
              initial: 'awaited',
              invoke: {
                id: 'abortTurn',
                src: 'abortTurn',
                input: turnRef,
                onDone: [
                  {
                    guard: { type: 'attemptSucceeded', params: ({ event }) => event.output },
                    target: '#turn.aborted',
                    actions: ['stamp', { type: 'conclude', params: { state: 'aborted' } }],
                  },
                  {
                    guard: 'ending',
                    target: '#turn.aborted',
                    actions: ['stamp', { type: 'conclude', params: { state: 'aborted' } }],
                  },
                  {
                    target: 'none',
                    actions: [
                      { type: 'reply', params: ({ context }) => [answer(context.callers, 'abort_failed')] },
                      'dropAllCallers',
                    ],
                  },
                ],
                onError: [
                  {
                    guard: 'ending',
                    target: '#turn.aborted',
                    actions: ['stamp', { type: 'conclude', params: { state: 'aborted' } }],
                  },
                  {
                    target: 'none',
                    actions: [
                      { type: 'reply', params: ({ context }) => [answer(context.callers, 'abort_failed')] },
                      'dropAllCallers',
                    ],
                  },
                ],
              },
              states: {
                awaited: {
                  description: 'At least one caller is still within its deadline.',
                  meta: { rests: 'each caller has a deadline of its own, see ABORT_DEADLINE' },
                  on: {
                    ABORT: { actions: { type: 'addCallers', params: ({ event }) => event } },
                    ABORT_DEADLINE: [
                      {
                        guard: { type: 'isLastCaller', params: ({ event }) => event },
                        target: 'unawaited',
                        actions: [
                          { type: 'dropCaller', params: ({ event }) => event },
                          { type: 'reply', params: ({ event }) => [answer([event.requestId], 'abort_timeout')] },
                        ],
                      },
                      {
                        guard: { type: 'isCaller', params: ({ event }) => event },
                        actions: [
                          { type: 'dropCaller', params: ({ event }) => event },
                          { type: 'reply', params: ({ event }) => [answer([event.requestId], 'abort_timeout')] },
                        ],
                      },
                    ],
                  },
                },
                unawaited: {
                  description: 'Every caller has given up, or nobody but close wants the attempt.',
                  meta: { rests: 'a timed-out attempt may still end the turn, however late' },
                  on: {
                    ABORT: { target: 'awaited', actions: { type: 'addCallers', params: ({ event }) => event } },
                  },
                },
              },
            },
          },
        },
        end: {
          initial: 'open',
          description: 'Is the session closing?',
          states: {
            open: {
              description: 'No.',
              meta: { rests: 'see the other region' },
              on: { END: 'ending' },
            },
            ending: {
              description: 'Yes: the turn may not outlive the deadline.',
              after: {
                closeAbortTimeout: {
                  target: '#turn.aborted',
                  actions: ['stamp', { type: 'conclude', params: { state: 'aborted' } }],
                },
              },
            },
          },
        },
      },
    },
    completed: { type: 'final', description: 'The final assistant message is the result.', entry: 'announce' },
    failed: { type: 'final', description: 'The run ended without a usable final message.', entry: 'announce' },
    aborted: { type: 'final', description: 'The run was stopped.', entry: 'announce' },
  },
  output: ({ context }) => ({ turn: turnRecord(context), callers: context.callers }),
});
