/**
 * Provision: a writer is made, step by step, and accepted. Each phase is recorded
 * before its step; after a crash the recorded one is tried again.
 */
import { assign, setup } from 'xstate';
import type { StepOutcome, WriterPhase, WriterStep } from '../../ports/writers/lifecycle.ts';
import { unprovidedPromise } from '../shared/unprovided.ts';
import type { From } from './plan.ts';
import { BOUNDED, type Ended, endedWith, isPhase, type PhaseContext, succeeded } from './steps.ts';

interface ProvisionInput extends From {
  /** The phase that is recorded last. */
  readonly until: 'controlling' | 'ready';
}

interface ProvisionContext extends PhaseContext {
  readonly until: WriterPhase;
  readonly recorded: boolean;
}

/** In their order. */
export const PROVISION_PHASES = [
  'cloning',
  'preparing',
  'configuring',
  'wrapping',
  'registering',
  'controlling',
  'accepting',
  'ready',
] as const satisfies readonly WriterPhase[];

function phaseAfter(phase: WriterPhase): WriterPhase {
  const at = (PROVISION_PHASES as readonly WriterPhase[]).indexOf(phase);
  return PROVISION_PHASES[at + 1] ?? 'ready';
}

export const provisionMachine = setup({
  types: { context: {} as ProvisionContext, input: {} as ProvisionInput, output: {} as Ended },
  actors: {
    record: unprovidedPromise<StepOutcome, WriterPhase>('record'),
    clone: unprovidedPromise<StepOutcome, void>('clone'),
    prepare: unprovidedPromise<StepOutcome, void>('prepare'),
    configure: unprovidedPromise<StepOutcome, void>('configure'),
    wrap: unprovidedPromise<StepOutcome, void>('wrap'),
    register: unprovidedPromise<StepOutcome, void>('register'),
    control: unprovidedPromise<StepOutcome, void>('control'),
    accept: unprovidedPromise<StepOutcome, void>('accept'),
  },
  guards: {
    succeeded,
    isPhase,
    isRecorded: ({ context }) => context.recorded,
    isReached: ({ context }) => context.phase === context.until,
  },
  actions: {
    advance: assign({ phase: ({ context }) => phaseAfter(context.phase) }),
    fail: assign({ failed: (_, { step }: { readonly step: WriterStep }) => step }),
  },
}).createMachine({
  id: 'provision',
  description: 'A writer from nothing, or from where an earlier run was cut off, to its acceptance.',
  meta: {
    guarantees: [
      'Each phase is in the journal before its work begins, so a run that is cut off is taken up there.',
      'The phases come in one order, and none is left out.',
      'A failed step ends it and is named.',
    ],
  },
  options: { maxIterations: 100 },
  context: ({ input }) => ({ ...input, failed: null }),
  output: ({ context }) => endedWith(context.failed),
  initial: 'starting',
  states: {
    starting: {
      description: 'Is the phase recorded already?',
      always: [{ guard: 'isRecorded', target: 'dispatching' }, { target: 'recording' }],
    },
    recording: {
      description: 'The next phase is written to the journal, durably.',
      meta: BOUNDED,
      invoke: {
        id: 'record',
        src: 'record',
        input: ({ context }) => context.phase,
        onDone: [
          { guard: { type: 'succeeded', params: ({ event }) => event.output }, target: 'dispatching' },
          { target: 'failed', actions: { type: 'fail', params: { step: 'record' } } },
        ],
        onError: { target: 'failed', actions: { type: 'fail', params: { step: 'record' } } },
      },
    },
    dispatching: {
      description: 'The recorded phase says what to do.',
      always: [
        { guard: 'isReached', target: 'made' },
        { guard: { type: 'isPhase', params: { phase: 'cloning' } }, target: 'cloning' },
        { guard: { type: 'isPhase', params: { phase: 'preparing' } }, target: 'preparing' },
        { guard: { type: 'isPhase', params: { phase: 'configuring' } }, target: 'configuring' },
        { guard: { type: 'isPhase', params: { phase: 'wrapping' } }, target: 'wrapping' },
        { guard: { type: 'isPhase', params: { phase: 'registering' } }, target: 'registering' },
        { guard: { type: 'isPhase', params: { phase: 'controlling' } }, target: 'controlling' },
        { target: 'accepting' },
      ],
    },
    cloning: {
      description: 'A private clone of the baseline is made.',
      meta: BOUNDED,
      invoke: {
        id: 'clone',
        src: 'clone',
        onDone: [
          {
            guard: { type: 'succeeded', params: ({ event }) => event.output },
            target: 'recording',
            actions: 'advance',
          },
          { target: 'failed', actions: { type: 'fail', params: { step: 'clone' } } },
        ],
        onError: { target: 'failed', actions: { type: 'fail', params: { step: 'clone' } } },
      },
    },
    preparing: {
      description: 'Its private state is laid out.',
      meta: BOUNDED,
      invoke: {
        id: 'prepare',
        src: 'prepare',
        onDone: [
          {
            guard: { type: 'succeeded', params: ({ event }) => event.output },
            target: 'recording',
            actions: 'advance',
          },
          { target: 'failed', actions: { type: 'fail', params: { step: 'prepare' } } },
        ],
        onError: { target: 'failed', actions: { type: 'fail', params: { step: 'prepare' } } },
      },
    },
    configuring: {
      description: 'The configuration of the contained server is generated.',
      meta: BOUNDED,
      invoke: {
        id: 'configure',
        src: 'configure',
        onDone: [
          {
            guard: { type: 'succeeded', params: ({ event }) => event.output },
            target: 'recording',
            actions: 'advance',
          },
          { target: 'failed', actions: { type: 'fail', params: { step: 'configure' } } },
        ],
        onError: { target: 'failed', actions: { type: 'fail', params: { step: 'configure' } } },
      },
    },
    wrapping: {
      description: 'The command that starts the server in its boundary is written.',
      meta: BOUNDED,
      invoke: {
        id: 'wrap',
        src: 'wrap',
        onDone: [
          {
            guard: { type: 'succeeded', params: ({ event }) => event.output },
            target: 'recording',
            actions: 'advance',
          },
          { target: 'failed', actions: { type: 'fail', params: { step: 'wrap' } } },
        ],
        onError: { target: 'failed', actions: { type: 'fail', params: { step: 'wrap' } } },
      },
    },
    registering: {
      description: 'A client learns of the command.',
      meta: BOUNDED,
      invoke: {
        id: 'register',
        src: 'register',
        onDone: [
          {
            guard: { type: 'succeeded', params: ({ event }) => event.output },
            target: 'recording',
            actions: 'advance',
          },
          { target: 'failed', actions: { type: 'fail', params: { step: 'register' } } },
        ],
        onError: { target: 'failed', actions: { type: 'fail', params: { step: 'register' } } },
      },
    },
    controlling: {
      description: 'Canaries on the host show that the boundary holds.',
      meta: BOUNDED,
      invoke: {
        id: 'control',
        src: 'control',
        onDone: [
          {
            guard: { type: 'succeeded', params: ({ event }) => event.output },
            target: 'recording',
            actions: 'advance',
          },
          { target: 'failed', actions: { type: 'fail', params: { step: 'control' } } },
        ],
        onError: { target: 'failed', actions: { type: 'fail', params: { step: 'control' } } },
      },
    },
    accepting: {
      description: 'The contained server shows from inside that all is as configured.',
      meta: BOUNDED,
      invoke: {
        id: 'accept',
        src: 'accept',
        onDone: [
          {
            guard: { type: 'succeeded', params: ({ event }) => event.output },
            target: 'recording',
            actions: 'advance',
          },
          { target: 'failed', actions: { type: 'fail', params: { step: 'accept' } } },
        ],
        onError: { target: 'failed', actions: { type: 'fail', params: { step: 'accept' } } },
      },
    },
    made: { type: 'final', description: 'The phase that was wanted is recorded.' },
    failed: { type: 'final', description: 'A step failed; its phase stays recorded, and another run tries it again.' },
  },
});
