/** The run chart's vocabulary: types, actors, guards, actions and delays. */
import { assign, setup } from 'xstate';
import type { FenceOutcome, InterruptSignal, Progress, ReleaseOutcome, RunResult } from '../../ports/setup/run.ts';
import type { Finding, Verdict } from '../../ports/setup/target.ts';
import { unprovidedPromise } from '../shared/unprovided.ts';
import { customizationMachine } from './customization.machine.ts';
import type { RegistrationOutput } from './registration.judgement.ts';
import { registrationMachine } from './registration.machine.ts';
import { RUN_DEADLINES_MS } from './registration-deadlines.ts';
import { findingsForRest, hookFollows, type RunContext, type RunInput, skillFollows } from './run.context.ts';
import { skillSlotMachine } from './skill-slot.machine.ts';
import { wakeHookMachine } from './wake-hook.machine.ts';

export interface RunEvent {
  readonly type: 'INTERRUPT';
  readonly signal: InterruptSignal;
}

export const setupRunSetup = setup({
  types: {
    context: {} as RunContext,
    events: {} as RunEvent,
    input: {} as RunInput,
    output: {} as RunResult,
  },
  actors: {
    acquire: unprovidedPromise<FenceOutcome, void>('acquire'),
    checkDoctor: unprovidedPromise<{ readonly errors: number }, void>('checkDoctor'),
    bindRelease: unprovidedPromise<ReleaseOutcome, void>('bindRelease'),
    release: unprovidedPromise<'released' | 'retained', void>('release'),
    registration: registrationMachine,
    skillSlot: skillSlotMachine,
    wakeHook: wakeHookMachine,
    customization: customizationMachine,
  },
  delays: {
    doctorTimeout: RUN_DEADLINES_MS.doctorTimeout,
    releaseTimeout: RUN_DEADLINES_MS.releaseTimeout,
  },
  guards: {
    isCustomization: ({ context }) => context.customize !== null,
    changesSomething: ({ context }) => !['dry-run', 'verify'].includes(context.operation),
    needsDoctor: ({ context }) => context.operation === 'verify' || context.operation === 'apply',
    isLockedToApply: ({ context }, outcome: FenceOutcome) =>
      outcome === 'locked' && context.signal === null && context.operation === 'apply',
    isLocked: ({ context }, outcome: FenceOutcome) => outcome === 'locked' && context.signal === null,
    isInterrupted: ({ context }) => context.signal !== null,
    isHealthy: (_, { errors }: { readonly errors: number }) => errors === 0,
    isBound: (_, { ok }: ReleaseOutcome) => ok,
    skillFollows: ({ context }, output: RegistrationOutput) => skillFollows(context, output),
    hookFollows: ({ context }) => hookFollows(context),
    mustStop: ({ context }) => context.signal !== null || context.isHalted,
    hasMore: ({ context }) => context.waiting.length > 0,
  },
  actions: {
    /** Provided by the wiring: says what is about to be done. */
    announce: (_, _progress: Progress) => {},
    /** Provided by the wiring: aborts the awaited step that runs; it still comes to its end. */
    abortStep: () => {},
    noteSignal: assign(({ context }, { signal }: RunEvent) => ({ signal: context.signal ?? signal })),
    noteRelease: assign((_, outcome: ReleaseOutcome) => ({ release: outcome.ok ? outcome.fingerprint : '' })),
    noteHalt: assign((_, { isHalted }: Pick<RegistrationOutput, 'isHalted'>) => ({ isHalted })),
    noteHook: assign((_, { ownsHook }: RegistrationOutput) => ({ ownsHook })),
    report: assign(({ context }, findings: readonly Finding[]) => ({ findings: [...context.findings, ...findings] })),
    reportRest: assign(({ context }, verdict: Verdict) => ({
      findings: [...context.findings, ...findingsForRest(context, verdict)],
      waiting: [],
    })),
    next: assign(({ context }) => ({ waiting: context.waiting.slice(1) })),
  },
});
