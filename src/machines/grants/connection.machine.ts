/**
 * Connection: one external MCP server of one session, from the start of its
 * child to its end. The server does one call at a time; whatever arrives
 * meanwhile waits here. Deadline, cancellation and close answer a call at once,
 * and what the server says about it later reaches nobody.
 */
import type { GrantCall } from '../../ports/grants.ts';
import {
  answerAll,
  answerCurrent,
  answerOpener,
  cancelledWaiter,
  judgePage,
  newConnection,
  openReply,
  refuseCall,
} from './connection.context.ts';
import { connectionSetup } from './connection.setup.ts';
import { UNAVAILABLE } from './discovery.ts';

/** Only satisfies the types: while the server works, there is a call. */
const NOTHING: GrantCall = { name: '', args: {} };

export const connectionMachine = connectionSetup.createMachine({
  id: 'connection',
  description: 'One external MCP server of one session.',
  meta: {
    guarantees: [
      'A close is heard in every state and ends in the end of the child, however silent the server is.',
      'Connecting and listing share one deadline; each call has its own, counted from when the server gets it.',
      'The server works on one call at a time, in the order in which they came.',
      'A server that is lost has failed for good: nothing starts it again.',
    ],
  },
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
