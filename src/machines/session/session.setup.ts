/** The session chart's vocabulary: types, actors, guards, actions and delays. */
import { assign, setup, stateIn } from 'xstate';
import type { AbortOutcome, AdmitOutcome, StartFailure, TurnRef } from '../../ports/agent.ts';
import { DEADLINES_MS } from '../shared/deadlines.ts';
import type { Answer, SessionRequest } from '../shared/replies.ts';
import { unprovidedPromise } from '../shared/unprovided.ts';
import {
  idsOf,
  keepTurn,
  leadingAborts,
  type SessionContext,
  type SessionInput,
  type SessionOutput,
} from './session.context.ts';
import { type StartOutput, startMachine } from './start.machine.ts';
import { type TurnOutput, turnMachine } from './turn.machine.ts';

export type SessionEvent =
  | SessionRequest
  /** The server is stopping: let nobody wait, and dispose at once; that aborts what runs. */
  | { readonly type: 'STOP' }
  /** Raised when an admission is decided: aborts that waited go to the new turn. */
  | { readonly type: 'TAKE_WAITING' };

type PromptRequest = Extract<SessionRequest, { type: 'PROMPT' }>;

const considered = ({ requestId, turnId, prompt }: PromptRequest) => ({ requestId, turnId, prompt });

export const sessionSetup = setup({
  types: {
    context: {} as SessionContext,
    events: {} as SessionEvent,
    input: {} as SessionInput,
    output: {} as SessionOutput,
  },
  actors: {
    start: startMachine,
    turn: turnMachine,
    admitPrompt: unprovidedPromise<AdmitOutcome, TurnRef & { readonly prompt: string }>('admitPrompt'),
    settlePrompt: unprovidedPromise<void, TurnRef>('settlePrompt'),
    abortTurn: unprovidedPromise<AbortOutcome, TurnRef>('abortTurn'),
    disposeSession: unprovidedPromise<void, { readonly sessionId: string }>('disposeSession'),
  },
  delays: {
    preflightTimeout: DEADLINES_MS.preflightTimeout,
    closeAbortTimeout: DEADLINES_MS.closeAbortTimeout,
    disposeTimeout: DEADLINES_MS.disposeTimeout,
  },
  guards: {
    opened: (_, output: StartOutput) => output.ok,
    started: (_, outcome: AdmitOutcome) => outcome.disposition === 'started',
    turnFailed: (_, output: TurnOutput) => output.turn.state === 'failed',
    closingTurn: stateIn({ engaged: 'ending' }),
    hasClosers: ({ context }) => context.closers.length > 0,
    promptWaits: ({ context }) => context.waiting[0]?.type === 'PROMPT',
    abortsWait: ({ context }) => idsOf(context.waiting, 'ABORT').length > 0,
    closeWaits: ({ context }) => context.waiting[0]?.type === 'CLOSE',
  },
  actions: {
    /** Provided by the wiring: moves `updatedAt` to now, never backwards. */
    stamp: assign({}),
    /** Provided by the wiring: hands each answer out. */
    reply: (_, _answers: readonly Answer[]) => {},
    /** Provided by the wiring: one diagnostic line about a start that failed. */
    reportRefusal: (_, _output: StartFailure | { readonly ok: true }) => {},
    /** Provided by the wiring: a chart broke, the process has to end. */
    reportDefect: () => {},
    open: assign({
      selection: ({ context }, output: StartOutput) => (output.ok ? output.selection : context.selection),
      createdAt: ({ context }) => context.updatedAt,
    }),
    considerPrompt: assign({ admission: (_, request: PromptRequest) => considered(request) }),
    considerWaitingPrompt: assign(({ context }) => {
      const [head, ...waiting] = context.waiting;
      return head?.type === 'PROMPT' ? { admission: considered(head), waiting } : {};
    }),
    wait: assign({ waiting: ({ context }, request: SessionRequest) => [...context.waiting, request] }),
    beginTurn: assign(({ context }) => ({
      active: {
        sessionId: context.id,
        turnId: context.admission?.turnId ?? '',
        startedAt: context.updatedAt,
      },
      lastTurnFailed: false,
    })),
    endTurn: assign(({ context }, { turn }: TurnOutput) => ({
      active: null,
      turns: keepTurn(context.turns, turn),
      lastTurnFailed: turn.state === 'failed',
    })),
    dropAdmission: assign({ admission: null }),
    /** The text has been handed over; only the ids matter from here on. */
    dropPromptText: assign({
      admission: ({ context }) => (context.admission === null ? null : { ...context.admission, prompt: '' }),
    }),
    dropLeadingAborts: assign({ waiting: ({ context }) => leadingAborts(context.waiting).rest }),
    takeClosers: assign({ closers: ({ context }) => [...context.closers, ...idsOf(context.waiting, 'CLOSE')] }),
    addCloser: assign({
      closers: ({ context }, params: { readonly requestId: string }) => [...context.closers, params.requestId],
    }),
    dropWaiting: assign({ waiting: [] }),
  },
});
