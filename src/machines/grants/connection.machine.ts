/**
 * Connection: one external MCP server of one session, from the start of its
 * child to its end. The server does one call at a time; whatever arrives
 * meanwhile waits here. Deadline, cancellation and close answer a call at once,
 * and what the server says about it later reaches nobody.
 */
import { assign, setup } from 'xstate';
import type { CallOutcome, ConnectOutcome, GrantCall, PageOutcome } from '../../ports/grants.ts';
import { DEADLINES_MS } from '../shared/deadlines.ts';
import { unprovidedCallback, unprovidedPromise } from '../shared/unprovided.ts';
import {
  answerAll,
  answerCurrent,
  answerOpener,
  type ConnectionContext,
  type ConnectionInput,
  type GrantAnswer,
  judgePage,
  newConnection,
  type PageVerdict,
  type PendingCall,
  refuseCall,
} from './connection.context.ts';
import { UNAVAILABLE } from './discovery.ts';
import { endingMachine } from './ending.machine.ts';

export type ConnectionEvent =
  | { readonly type: 'OPEN'; readonly requestId: string }
  | ({ readonly type: 'CALL' } & PendingCall)
  | { readonly type: 'CANCEL'; readonly callId: string }
  | { readonly type: 'CLOSE' }
  /** The server is gone, or can no longer be understood. */
  | { readonly type: 'LOST' };

type Named = { readonly callId: string };

const NOTHING: GrantCall = { name: '', args: {} };

const connectionSetup = setup({
  types: {
    context: {} as ConnectionContext,
    events: {} as ConnectionEvent,
    input: {} as ConnectionInput,
  },
  actors: {
    watch: unprovidedCallback<{ type: 'LOST' }, void>('watch'),
    connect: unprovidedPromise<ConnectOutcome, void>('connect'),
    listPage: unprovidedPromise<PageOutcome, { readonly cursor: string | null }>('listPage'),
    call: unprovidedPromise<CallOutcome, GrantCall>('call'),
    ending: endingMachine,
  },
  delays: {
    externalStartTimeout: DEADLINES_MS.externalStartTimeout,
    externalCallTimeout: DEADLINES_MS.externalCallTimeout,
  },
  guards: {
    connected: (_, outcome: ConnectOutcome) => outcome.ok,
    hasMore: (_, verdict: PageVerdict) => verdict.more,
    opens: (_, verdict: PageVerdict) => !verdict.more && verdict.reply.ok,
    callWaits: ({ context }) => context.waiting.length > 0,
    isCurrent: ({ context }, { callId }: Named) => context.current?.callId === callId,
    isWaiting: ({ context }, { callId }: Named) => context.waiting.some((call) => call.callId === callId),
  },
  actions: {
    /** Provided by the wiring: hands each answer out. */
    reply: (_, _answers: readonly GrantAnswer[]) => {},
    rememberOpener: assign({ opener: (_, { requestId }: { readonly requestId: string }) => requestId }),
    keepPage: assign(({ context }, page: PageOutcome) =>
      page.ok ? { pages: context.pages + 1, listed: [...context.listed, ...page.tools], cursor: page.nextCursor } : {},
    ),
    /** What was listed is only needed until the tools are chosen. */
    forgetList: assign({ opener: null, listed: [], cursor: null }),
    begin: assign({ current: (_, { requestId, callId, call }: PendingCall) => ({ requestId, callId, call }) }),
    beginNext: assign(({ context }) => ({ current: context.waiting[0] ?? null, waiting: context.waiting.slice(1) })),
    wait: assign({
      waiting: ({ context }, { requestId, callId, call }: PendingCall) => [
        ...context.waiting,
        { requestId, callId, call },
      ],
    }),
    dropCurrent: assign({ current: null }),
    dropWaiting: assign({
      waiting: ({ context }, { callId }: Named) => context.waiting.filter((call) => call.callId !== callId),
    }),
    forgetAll: assign({ opener: null, listed: [], cursor: null, current: null, waiting: [] }),
  },
});

/** What a cancellation is answered with; only asked for behind `isWaiting`. */
function cancelledWaiter({ waiting }: ConnectionContext, { callId }: Named): readonly GrantAnswer[] {
  return waiting.filter((call) => call.callId === callId).map(({ requestId }) => refuseCall(requestId, 'cancelled'));
}

/** A page that leads on never gets here; the fallback only satisfies the types. */
const openReply = (verdict: PageVerdict) => (verdict.more ? UNAVAILABLE : verdict.reply);

export const connectionMachine = connectionSetup.createMachine({
  id: 'connection',
  description: 'One external MCP server of one session.',
  options: { maxIterations: 100 },
  context: ({ input }) => newConnection(input),
  initial: 'idle',
  states: {
    idle: {
      description: 'Nothing has been started.',
      meta: { rests: 'the owner opens it right away' },
      on: {
        OPEN: { target: 'live', actions: { type: 'rememberOpener', params: ({ event }) => event } },
        CALL: { actions: { type: 'reply', params: ({ event }) => [refuseCall(event.requestId, 'unavailable')] } },
        CLOSE: 'closed',
      },
    },

    live: {
      description: 'The child runs, or is about to.',
      initial: 'opening',
      invoke: {
        id: 'watch',
        src: 'watch',
        // Unwatched, a dead server would look like a slow one.
        onError: {
          target: 'failed',
          actions: [{ type: 'reply', params: ({ context }) => answerAll(context, 'unavailable') }, 'forgetAll'],
        },
      },
      on: {
        LOST: {
          target: 'failed',
          actions: [{ type: 'reply', params: ({ context }) => answerAll(context, 'unavailable') }, 'forgetAll'],
        },
        CLOSE: {
          target: 'closing',
          actions: [{ type: 'reply', params: ({ context }) => answerAll(context, 'unavailable') }, 'forgetAll'],
        },
      },
      states: {
        opening: {
          description: 'The protocol is initialized and the tools are listed, all of it within one deadline.',
          initial: 'connecting',
          after: {
            externalStartTimeout: {
              target: '#connection.failed',
              actions: [{ type: 'reply', params: ({ context }) => answerOpener(context, UNAVAILABLE) }, 'forgetAll'],
            },
          },
          on: {
            CALL: { actions: { type: 'reply', params: ({ event }) => [refuseCall(event.requestId, 'unavailable')] } },
          },
          states: {
            connecting: {
              description: 'The child starts and answers `initialize`.',
              invoke: {
                id: 'connect',
                src: 'connect',
                onDone: [
                  { guard: { type: 'connected', params: ({ event }) => event.output }, target: 'listing' },
                  {
                    target: '#connection.failed',
                    actions: [
                      { type: 'reply', params: ({ context }) => answerOpener(context, UNAVAILABLE) },
                      'forgetAll',
                    ],
                  },
                ],
                onError: {
                  target: '#connection.failed',
                  actions: [
                    { type: 'reply', params: ({ context }) => answerOpener(context, UNAVAILABLE) },
                    'forgetAll',
                  ],
                },
              },
            },
            listing: {
              description: 'Page by page, up to the limits; then the granted tools are chosen.',
              invoke: {
                id: 'listPage',
                src: 'listPage',
                input: ({ context: { cursor } }) => ({ cursor }),
                onDone: [
                  {
                    guard: { type: 'hasMore', params: ({ context, event }) => judgePage(context, event.output) },
                    target: 'listing',
                    reenter: true,
                    actions: { type: 'keepPage', params: ({ event }) => event.output },
                  },
                  {
                    guard: { type: 'opens', params: ({ context, event }) => judgePage(context, event.output) },
                    target: '#connection.live.ready',
                    actions: [
                      {
                        type: 'reply',
                        params: ({ context, event }) =>
                          answerOpener(context, openReply(judgePage(context, event.output))),
                      },
                      'forgetList',
                    ],
                  },
                  {
                    target: '#connection.failed',
                    actions: [
                      {
                        type: 'reply',
                        params: ({ context, event }) =>
                          answerOpener(context, openReply(judgePage(context, event.output))),
                      },
                      'forgetAll',
                    ],
                  },
                ],
                onError: {
                  target: '#connection.failed',
                  actions: [
                    { type: 'reply', params: ({ context }) => answerOpener(context, UNAVAILABLE) },
                    'forgetAll',
                  ],
                },
              },
            },
          },
        },

        ready: {
          description: 'The server has nothing to do.',
          meta: { rests: 'the model decides what is next' },
          always: { guard: 'callWaits', target: 'calling', actions: 'beginNext' },
          on: { CALL: { target: 'calling', actions: { type: 'begin', params: ({ event }) => event } } },
        },

        calling: {
          description: 'The server works on one call; later ones wait.',
          invoke: {
            id: 'call',
            src: 'call',
            input: ({ context }) => context.current?.call ?? NOTHING,
            onDone: {
              target: 'ready',
              actions: [
                { type: 'reply', params: ({ context, event }) => answerCurrent(context, event.output) },
                'dropCurrent',
              ],
            },
            onError: {
              target: 'ready',
              actions: [
                { type: 'reply', params: ({ context }) => answerCurrent(context, { ok: false, reason: 'failed' }) },
                'dropCurrent',
              ],
            },
          },
          after: {
            externalCallTimeout: {
              target: 'ready',
              actions: [
                { type: 'reply', params: ({ context }) => answerCurrent(context, { ok: false, reason: 'timeout' }) },
                'dropCurrent',
              ],
            },
          },
          on: {
            CALL: { actions: { type: 'wait', params: ({ event }) => event } },
            CANCEL: [
              {
                guard: { type: 'isCurrent', params: ({ event }) => event },
                target: 'ready',
                actions: [
                  {
                    type: 'reply',
                    params: ({ context }) => answerCurrent(context, { ok: false, reason: 'cancelled' }),
                  },
                  'dropCurrent',
                ],
              },
              {
                guard: { type: 'isWaiting', params: ({ event }) => event },
                actions: [
                  { type: 'reply', params: ({ context, event }) => cancelledWaiter(context, event) },
                  { type: 'dropWaiting', params: ({ event }) => event },
                ],
              },
            ],
          },
        },
      },
    },

    failed: {
      description: 'The server broke its word or is gone; what is left of it is brought to its end.',
      initial: 'ending',
      on: {
        CALL: { actions: { type: 'reply', params: ({ event }) => [refuseCall(event.requestId, 'unavailable')] } },
        // The end begins anew then: its bound counts from the close.
        CLOSE: 'closing',
      },
      states: {
        ending: {
          description: 'The child is on its way out.',
          // No onError, here and below: a broken chart breaks this one too, and the root's observer kills the child.
          meta: { rests: 'every step of the ending chart has its own deadline', escalates: ['ending'] },
          invoke: { id: 'ending', src: 'ending', onDone: 'over' },
        },
        over: {
          description: 'Only the answer to later calls is left of it.',
          meta: { rests: 'until its owner closes it' },
        },
      },
    },

    closing: {
      description: 'Nobody wants it any more; the child is brought to its end.',
      meta: { rests: 'every step of the ending chart has its own deadline', escalates: ['ending'] },
      invoke: { id: 'ending', src: 'ending', onDone: 'closed' },
      on: {
        CALL: { actions: { type: 'reply', params: ({ event }) => [refuseCall(event.requestId, 'unavailable')] } },
        CLOSE: {},
      },
    },
    closed: { type: 'final', description: 'The child has ended, or its bound is over.' },
  },
});
