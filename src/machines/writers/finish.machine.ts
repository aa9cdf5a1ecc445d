/**
 * Finish: a writer's work comes out, and the writer starts anew. Nothing in the
 * clone is touched before all of it is out (or was given up, which is decided before
 * this chart begins) and that decision is recorded.
 */
import { assign, setup } from 'xstate';
import type { Collected, StepOutcome, WriterPhase, WriterStep } from '../../ports/writers/lifecycle.ts';
import { unprovidedPromise } from '../shared/unprovided.ts';
import type { From, Restart } from './plan.ts';
import { BOUNDED, type Ended, endedWith, isPhase, type PhaseContext, succeeded } from './steps.ts';

type FinishInput =
  | { readonly kind: 'collect'; readonly next: Restart | null }
  | ({ readonly kind: 'restart' } & From<Restart>);

interface FinishContext extends PhaseContext {
  readonly collects: boolean;
  readonly recorded: boolean;
  /** False: nothing follows the collection. */
  readonly restarts: boolean;
  /** Some of the work did not come out. */
  readonly isIncomplete: boolean;
}

function begin(input: FinishInput): FinishContext {
  const fresh = { failed: null, isIncomplete: false };
  return input.kind === 'collect'
    ? { ...fresh, collects: true, recorded: false, restarts: input.next !== null, phase: input.next ?? 'ready' }
    : { ...fresh, collects: false, recorded: input.recorded, restarts: true, phase: input.phase };
}

export const finishMachine = setup({
  types: { context: {} as FinishContext, input: {} as FinishInput, output: {} as Ended },
  actors: {
    collect: unprovidedPromise<Collected, void>('collect'),
    record: unprovidedPromise<StepOutcome, WriterPhase>('record'),
    reset: unprovidedPromise<StepOutcome, void>('reset'),
    recreate: unprovidedPromise<StepOutcome, void>('recreate'),
  },
  guards: {
    succeeded,
    isPhase,
    collects: ({ context }) => context.collects,
    isRecorded: ({ context }) => context.recorded,
    isComplete: ({ context }, collected: Collected) => collected === 'complete' && !context.restarts,
    mayRestart: ({ context }, collected: Collected) => collected === 'complete' && context.restarts,
    isIncomplete: (_, collected: Collected) => collected === 'incomplete',
  },
  actions: {
    becomeReady: assign({ phase: 'ready' }),
    leave: assign({ isIncomplete: true }),
    fail: assign({ failed: (_, { step }: { readonly step: WriterStep }) => step }),
  },
}).createMachine({
  id: 'finish',
  description: 'Collect, then reset or recreate.',
  meta: {
    guarantees: [
      'A clone is given up only after its work was collected completely, or where that was decided before.',
      'What is decided is in the journal before it is done, so a run that is cut off is taken up there.',
      'A failed step ends it and is named; nothing is skipped.',
    ],
  },
  options: { maxIterations: 100 },
  context: ({ input }) => begin(input),
  output: ({ context }) => (context.isIncomplete ? { result: 'incomplete' } : endedWith(context.failed)),
  initial: 'starting',
  states: {
    starting: {
      description: 'Where does it begin?',
      always: [
        { guard: 'collects', target: 'collecting' },
        { guard: 'isRecorded', target: 'dispatching' },
        { target: 'recording' },
      ],
    },
    collecting: {
      description: 'Branches and uncommitted work come out through the quarantine.',
      meta: BOUNDED,
      invoke: {
        id: 'collect',
        src: 'collect',
        onDone: [
          { guard: { type: 'mayRestart', params: ({ event }) => event.output }, target: 'recording' },
          { guard: { type: 'isComplete', params: ({ event }) => event.output }, target: 'done' },
          {
            guard: { type: 'isIncomplete', params: ({ event }) => event.output },
            target: 'incomplete',
            actions: 'leave',
          },
          { target: 'failed', actions: { type: 'fail', params: { step: 'collect' } } },
        ],
        onError: { target: 'failed', actions: { type: 'fail', params: { step: 'collect' } } },
      },
    },
    recording: {
      description: 'What is decided, or done, is written to the journal, durably.',
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
        { guard: { type: 'isPhase', params: { phase: 'resetting' } }, target: 'resetting' },
        { guard: { type: 'isPhase', params: { phase: 'recreating' } }, target: 'recreating' },
        { target: 'done' },
      ],
    },
    resetting: {
      description: 'The clone goes back to the newest baseline, in its place.',
      meta: BOUNDED,
      invoke: {
        id: 'reset',
        src: 'reset',
        onDone: [
          {
            guard: { type: 'succeeded', params: ({ event }) => event.output },
            target: 'recording',
            actions: 'becomeReady',
          },
          { target: 'failed', actions: { type: 'fail', params: { step: 'reset' } } },
        ],
        onError: { target: 'failed', actions: { type: 'fail', params: { step: 'reset' } } },
      },
    },
    recreating: {
      description: 'A new clone takes the place of the old one.',
      meta: BOUNDED,
      invoke: {
        id: 'recreate',
        src: 'recreate',
        onDone: [
          {
            guard: { type: 'succeeded', params: ({ event }) => event.output },
            target: 'recording',
            actions: 'becomeReady',
          },
          { target: 'failed', actions: { type: 'fail', params: { step: 'recreate' } } },
        ],
        onError: { target: 'failed', actions: { type: 'fail', params: { step: 'recreate' } } },
      },
    },
    done: { type: 'final', description: 'The work is out, and what was to follow has followed.' },
    incomplete: { type: 'final', description: 'Some of the work is only in the clone, which stays as it is.' },
    failed: {
      type: 'final',
      description: 'A step failed; what is recorded stays, and another run goes on from there.',
    },
  },
});
