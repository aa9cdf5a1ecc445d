/** Removal: first no client knows the writer any more, then nothing is left of it. */
import { assign, setup } from 'xstate';
import type { StepOutcome, WriterPhase, WriterStep } from '../../ports/writers/lifecycle.ts';
import { unprovidedPromise } from '../shared/unprovided.ts';
import type { From } from './plan.ts';
import { BOUNDED, type Ended, endedWith, isPhase, type PhaseContext, succeeded } from './steps.ts';

interface RemovalContext extends PhaseContext {
  readonly recorded: boolean;
}

export const removalMachine = setup({
  types: {
    context: {} as RemovalContext,
    input: {} as From<'unregistering' | 'removing'>,
    output: {} as Ended,
  },
  actors: {
    record: unprovidedPromise<StepOutcome, WriterPhase>('record'),
    unregister: unprovidedPromise<StepOutcome, void>('unregister'),
    dispose: unprovidedPromise<StepOutcome, void>('dispose'),
    forget: unprovidedPromise<StepOutcome, void>('forget'),
  },
  guards: { succeeded, isPhase, isRecorded: ({ context }) => context.recorded },
  actions: {
    advance: assign({ phase: 'removing' }),
    fail: assign({ failed: (_, { step }: { readonly step: WriterStep }) => step }),
  },
}).createMachine({
  id: 'removal',
  description: 'A writer goes. That its work may go with it is decided before.',
  meta: {
    guarantees: [
      'No client knows the writer any more before anything of it is deleted.',
      'The journal forgets it last, so a removal that is cut off is taken up again.',
      'A failed step ends it and is named.',
    ],
  },
  options: { maxIterations: 100 },
  context: ({ input: { phase, recorded } }) => ({ phase, recorded, failed: null }),
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
        { guard: { type: 'isPhase', params: { phase: 'unregistering' } }, target: 'unregistering' },
        { target: 'removing' },
      ],
    },
    unregistering: {
      description: 'The client forgets the command.',
      meta: BOUNDED,
      invoke: {
        id: 'unregister',
        src: 'unregister',
        onDone: [
          {
            guard: { type: 'succeeded', params: ({ event }) => event.output },
            target: 'recording',
            actions: 'advance',
          },
          { target: 'failed', actions: { type: 'fail', params: { step: 'unregister' } } },
        ],
        onError: { target: 'failed', actions: { type: 'fail', params: { step: 'unregister' } } },
      },
    },
    removing: {
      description: 'Wrapper, configuration, state and clone are deleted.',
      meta: BOUNDED,
      invoke: {
        id: 'dispose',
        src: 'dispose',
        onDone: [
          { guard: { type: 'succeeded', params: ({ event }) => event.output }, target: 'forgetting' },
          { target: 'failed', actions: { type: 'fail', params: { step: 'dispose' } } },
        ],
        onError: { target: 'failed', actions: { type: 'fail', params: { step: 'dispose' } } },
      },
    },
    forgetting: {
      description: 'The journal goes last.',
      meta: BOUNDED,
      invoke: {
        id: 'forget',
        src: 'forget',
        onDone: [
          { guard: { type: 'succeeded', params: ({ event }) => event.output }, target: 'gone' },
          { target: 'failed', actions: { type: 'fail', params: { step: 'forget' } } },
        ],
        onError: { target: 'failed', actions: { type: 'fail', params: { step: 'forget' } } },
      },
    },
    gone: { type: 'final', description: 'Nothing is left.' },
    failed: { type: 'final', description: 'A step failed; its phase stays recorded, and another run tries it again.' },
  },
});
