/** The connection chart's vocabulary: types, actors, guards, actions and delays. */
import { assign, setup } from 'xstate';
import type { CallOutcome, ConnectOutcome, GrantCall, PageOutcome } from '../../ports/grants.ts';
import { DEADLINES_MS } from '../shared/deadlines.ts';
import { unprovidedCallback, unprovidedPromise } from '../shared/unprovided.ts';
import type {
  ConnectionContext,
  ConnectionInput,
  GrantAnswer,
  PageVerdict,
  PendingCall,
} from './connection.context.ts';
import { endingMachine } from './ending.machine.ts';

export type ConnectionEvent =
  | { readonly type: 'OPEN'; readonly requestId: string }
  | ({ readonly type: 'CALL' } & PendingCall)
  | { readonly type: 'CANCEL'; readonly callId: string }
  | { readonly type: 'CLOSE' }
  /** The server is gone, or can no longer be understood. */
  | { readonly type: 'LOST' };

type Named = { readonly callId: string };

export const connectionSetup = setup({
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
