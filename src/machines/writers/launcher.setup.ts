/** The launcher chart's vocabulary: types, actors, guards, actions and delays. */
import { assign, setup } from 'xstate';
import type { BoxEnd, Claim, LauncherCode, LauncherResult, Refusable } from '../../ports/writers/launcher.ts';
import type { StepOutcome } from '../../ports/writers/lifecycle.ts';
import { unprovidedCallback, unprovidedPromise } from '../shared/unprovided.ts';
import { credentialsMachine } from './credentials.machine.ts';
import { LAUNCHER_DELAYS_MS } from './launcher-deadlines.ts';

export type LauncherEvent =
  /** `status` is 128 plus the signal's number. */
  | { readonly type: 'SIGNAL'; readonly status: number }
  /** The client has closed stdin, or is gone. */
  | { readonly type: 'INPUT_ENDED' };

export interface LauncherContext {
  /** Of the first signal. */
  readonly signalled: number | null;
  /** Of the command in the box, once that has ended. */
  readonly ended: number | null;
  readonly refusal: LauncherCode | null;
}

const REFUSED_STATUS = 1;
/** 128 and SIGKILL: a Podman client that ends by a signal was killed, or its box was. */
const KILLED_STATUS = 137;
/** Podman's own: it could not start the box. */
const NOT_STARTED: readonly (number | null)[] = [125, 126, 127];

/** Only asked for when the chart has ended. */
export function resultOf({ signalled, ended, refusal }: LauncherContext): LauncherResult {
  if (refusal !== null) return { status: REFUSED_STATUS, code: refusal };
  return { status: signalled ?? ended ?? KILLED_STATUS, code: null };
}

export const launcherSetup = setup({
  types: {
    context: {} as LauncherContext,
    events: {} as LauncherEvent,
    output: {} as LauncherResult,
  },
  actors: {
    claim: unprovidedPromise<Claim, void>('claim'),
    check: unprovidedPromise<Refusable<LauncherCode>, void>('check'),
    clear: unprovidedPromise<StepOutcome, void>('clear'),
    open: unprovidedPromise<Refusable<LauncherCode>, void>('open'),
    reap: unprovidedPromise<StepOutcome, void>('reap'),
    renew: unprovidedPromise<StepOutcome, void>('renew'),
    plan: unprovidedPromise<Refusable<LauncherCode>, void>('plan'),
    start: unprovidedPromise<StepOutcome, void>('start'),
    watchInput: unprovidedCallback<{ type: 'INPUT_ENDED' }, void>('watchInput'),
    box: unprovidedPromise<BoxEnd, void>('box'),
    credentials: credentialsMachine,
  },
  delays: { renewalPatience: LAUNCHER_DELAYS_MS.renewalPatience, graceTimeout: LAUNCHER_DELAYS_MS.graceTimeout },
  guards: {
    succeeded: (_, outcome: StepOutcome) => outcome.ok,
    isHeld: (_, claim: Claim) => claim === 'held',
    isBusy: (_, claim: Claim) => claim === 'busy',
    wasSignalled: ({ context }) => context.signalled !== null,
    startedAfterSignal: ({ context }, outcome: StepOutcome) => outcome.ok && context.signalled !== null,
    isRetained: (_, end: BoxEnd) => end.kind === 'retained',
    neverRan: (_, end: BoxEnd) =>
      end.kind === 'not_started' || (end.kind === 'ended' && NOT_STARTED.includes(end.code)),
  },
  actions: {
    /** Provided by the wiring: the box's stdin ends. */
    endInput: () => {},
    /** Provided by the wiring: the box is removed. */
    removeBox: () => {},
    noteSignal: assign({
      signalled: ({ context }, { status }: { readonly status: number }) => context.signalled ?? status,
    }),
    noteEnd: assign({ ended: (_, end: BoxEnd) => (end.kind === 'ended' ? end.code : null) }),
    refuse: assign({ refusal: (_, { code }: { readonly code: LauncherCode }) => code }),
    refuseAs: assign({
      refusal: (
        _,
        { outcome, otherwise }: { readonly outcome: Refusable<LauncherCode>; readonly otherwise: LauncherCode },
      ) => (outcome.ok ? otherwise : outcome.code),
    }),
  },
});
