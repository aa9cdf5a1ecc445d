/**
 * Writer: one operation on one writer. It keeps everybody else off, reads where the
 * writer stands, and does what the operation means from there. Every durable
 * step may be cut off at any point; the journal says where the next run goes on.
 * The steps sit in child charts, but for a registration that a client has lost:
 * it is made up for without any change of phase, so that an acceptance stays one.
 */
import { assign, setup } from 'xstate';
import type {
  Consulted,
  Fence,
  Inspected,
  JournalRead,
  StepOutcome,
  WriterCode,
  WriterInput,
} from '../../ports/writers/lifecycle.ts';
import { unprovidedPromise } from '../shared/unprovided.ts';
import { finishMachine } from './finish.machine.ts';
import { DONE, type Plan, planFor, planUnhindered } from './plan.ts';
import { provisionMachine } from './provision.machine.ts';
import { removalMachine } from './removal.machine.ts';
import { BOUNDED, type Ended, succeeded } from './steps.ts';

interface WriterContext extends WriterInput {
  readonly plan: Plan;
  readonly code: WriterCode;
}

type WriterEvent = { readonly type: 'START' } | { readonly type: 'INTERRUPT' };

const FENCED: Readonly<Record<Exclude<Fence, 'held'>, WriterCode>> = {
  busy: 'writer_busy',
  unavailable: 'fence_unavailable',
};

function codeOf({ operation }: WriterInput, ended: Ended): WriterCode {
  if (ended.result === 'failed') return `${ended.step}_failed`;
  return ended.result === 'incomplete' ? 'collection_incomplete' : DONE[operation];
}

/** The children's inputs; the fallbacks only satisfy the types. */
function provisionInput(plan: Plan) {
  if (plan.kind === 'provision') return plan;
  return { phase: 'ready', recorded: true, until: 'ready' } as const;
}
function finishInput(plan: Plan) {
  return plan.kind === 'collect' || plan.kind === 'restart' ? plan : ({ kind: 'collect', next: null } as const);
}
function removalInput(plan: Plan) {
  return plan.kind === 'remove' ? plan : ({ phase: 'unregistering', recorded: false } as const);
}

export const writerMachine = setup({
  types: {
    context: {} as WriterContext,
    events: {} as WriterEvent,
    input: {} as WriterInput,
    output: {} as { readonly code: WriterCode },
  },
  actors: {
    fence: unprovidedPromise<Fence, void>('fence'),
    read: unprovidedPromise<JournalRead, void>('read'),
    inspect: unprovidedPromise<Inspected, void>('inspect'),
    consult: unprovidedPromise<Consulted, void>('consult'),
    register: unprovidedPromise<StepOutcome, void>('register'),
    quiesce: unprovidedPromise<void, void>('quiesce'),
    release: unprovidedPromise<void, void>('release'),
    provision: provisionMachine,
    finish: finishMachine,
    removal: removalMachine,
  },
  guards: {
    isHeld: (_, fence: Fence) => fence === 'held',
    isRead: (_, read: JournalRead) => read.ok,
    isClean: (_, inspected: Inspected) => inspected === 'clean',
    hasWork: (_, inspected: Inspected) => inspected === 'work',
    isPresent: (_, consulted: Consulted) => consulted === 'present',
    isLost: (_, consulted: Consulted) => consulted === 'absent',
    succeeded,
    leadsTo: ({ context }, { kinds }: { readonly kinds: readonly Plan['kind'][] }) => kinds.includes(context.plan.kind),
  },
  actions: {
    plan: assign({
      plan: ({ context }, read: JournalRead) => (read.ok ? planFor(context, read.phase) : context.plan),
    }),
    planUnhindered: assign({ plan: ({ context }) => planUnhindered(context) }),
    conclude: assign({ code: (_, { code }: { readonly code: WriterCode }) => code }),
    concludeEnded: assign({ code: ({ context }, ended: Ended) => codeOf(context, ended) }),
    concludePlan: assign({ code: ({ context: { plan } }) => (plan.kind === 'stop' ? plan.code : 'defect') }),
    concludeFence: assign({ code: (_, fence: Fence) => (fence === 'held' ? 'defect' : FENCED[fence]) }),
  },
}).createMachine({
  id: 'writer',
  description: 'One operation on one writer.',
  meta: {
    guarantees: [
      'Nothing of a writer is read or touched before everybody else is kept off it.',
      'Work in the clone, or a clone that nobody can look into, stays unless the operator gives it up.',
      'A writer that its client has lost is registered again, and stays as accepted as it was; another entry of its name stays.',
      'An interruption is heard during all the work, and no durable step is cut short.',
      'The writer is let go of in the end, once nothing of the run is left, and is not touched after that.',
    ],
  },
  options: { maxIterations: 100 },
  context: ({ input }) => ({ ...input, plan: { kind: 'stop', code: 'defect' }, code: 'defect' }),
  output: ({ context }) => ({ code: context.code }),
  initial: 'idle',
  states: {
    idle: {
      description: 'Nothing has been asked of anybody.',
      meta: { rests: 'the owner starts it right away' },
      on: { START: 'working' },
    },

    working: {
      description: 'Step by step; an interruption lets go of the one that is under way.',
      meta: BOUNDED,
      initial: 'fencing',
      on: { INTERRUPT: { target: 'interrupting', actions: { type: 'conclude', params: { code: 'interrupted' } } } },
      states: {
        fencing: {
          description: 'Nothing else of the writer may run, from here to the end.',
          invoke: {
            id: 'fence',
            src: 'fence',
            onDone: [
              { guard: { type: 'isHeld', params: ({ event }) => event.output }, target: 'reading' },
              {
                target: '#writer.releasing',
                actions: { type: 'concludeFence', params: ({ event }) => event.output },
              },
            ],
            onError: {
              target: '#writer.releasing',
              actions: { type: 'conclude', params: { code: 'fence_unavailable' } },
            },
          },
        },
        reading: {
          description: 'The journal says where the writer stands.',
          invoke: {
            id: 'read',
            src: 'read',
            onDone: [
              {
                guard: { type: 'isRead', params: ({ event }) => event.output },
                target: 'deciding',
                actions: { type: 'plan', params: ({ event }) => event.output },
              },
              {
                target: '#writer.releasing',
                actions: { type: 'conclude', params: { code: 'journal_unreadable' } },
              },
            ],
            onError: {
              target: '#writer.releasing',
              actions: { type: 'conclude', params: { code: 'journal_unreadable' } },
            },
          },
        },
        deciding: {
          description: 'What the operation means from there.',
          always: [
            { guard: { type: 'leadsTo', params: { kinds: ['inspect'] } }, target: 'inspecting' },
            { guard: { type: 'leadsTo', params: { kinds: ['consult'] } }, target: 'consulting' },
            { guard: { type: 'leadsTo', params: { kinds: ['provision'] } }, target: 'provisioning' },
            { guard: { type: 'leadsTo', params: { kinds: ['collect', 'restart'] } }, target: 'finishing' },
            { guard: { type: 'leadsTo', params: { kinds: ['remove'] } }, target: 'removing' },
            { target: '#writer.releasing', actions: 'concludePlan' },
          ],
        },
        inspecting: {
          description: 'Would anything be lost?',
          invoke: {
            id: 'inspect',
            src: 'inspect',
            onDone: [
              {
                guard: { type: 'isClean', params: ({ event }) => event.output },
                target: 'deciding',
                actions: 'planUnhindered',
              },
              {
                guard: { type: 'hasWork', params: ({ event }) => event.output },
                target: '#writer.releasing',
                actions: { type: 'conclude', params: { code: 'work_left' } },
              },
              { target: '#writer.releasing', actions: { type: 'conclude', params: { code: 'inspect_failed' } } },
            ],
            onError: {
              target: '#writer.releasing',
              actions: { type: 'conclude', params: { code: 'inspect_failed' } },
            },
          },
        },
        consulting: {
          description: 'Does its client still know it?',
          invoke: {
            id: 'consult',
            src: 'consult',
            onDone: [
              {
                guard: { type: 'isPresent', params: ({ event }) => event.output },
                target: '#writer.releasing',
                actions: { type: 'conclude', params: { code: 'writer_unchanged' } },
              },
              { guard: { type: 'isLost', params: ({ event }) => event.output }, target: 'registering' },
              { target: '#writer.releasing', actions: { type: 'conclude', params: { code: 'register_failed' } } },
            ],
            onError: {
              target: '#writer.releasing',
              actions: { type: 'conclude', params: { code: 'register_failed' } },
            },
          },
        },
        registering: {
          description: 'It learns of it again.',
          invoke: {
            id: 'register',
            src: 'register',
            onDone: [
              {
                guard: { type: 'succeeded', params: ({ event }) => event.output },
                target: '#writer.releasing',
                actions: { type: 'conclude', params: { code: 'writer_registered' } },
              },
              { target: '#writer.releasing', actions: { type: 'conclude', params: { code: 'register_failed' } } },
            ],
            onError: {
              target: '#writer.releasing',
              actions: { type: 'conclude', params: { code: 'register_failed' } },
            },
          },
        },
        provisioning: {
          description: 'The writer is made, or accepted.',
          invoke: {
            id: 'provision',
            src: 'provision',
            input: ({ context }) => provisionInput(context.plan),
            onDone: {
              target: '#writer.releasing',
              actions: { type: 'concludeEnded', params: ({ event }) => event.output },
            },
            onError: { target: '#writer.releasing', actions: { type: 'conclude', params: { code: 'defect' } } },
          },
        },
        finishing: {
          description: 'Its work comes out, and it starts anew.',
          invoke: {
            id: 'finish',
            src: 'finish',
            input: ({ context }) => finishInput(context.plan),
            onDone: {
              target: '#writer.releasing',
              actions: { type: 'concludeEnded', params: ({ event }) => event.output },
            },
            onError: { target: '#writer.releasing', actions: { type: 'conclude', params: { code: 'defect' } } },
          },
        },
        removing: {
          description: 'It goes.',
          invoke: {
            id: 'removal',
            src: 'removal',
            input: ({ context }) => removalInput(context.plan),
            onDone: {
              target: '#writer.releasing',
              actions: { type: 'concludeEnded', params: ({ event }) => event.output },
            },
            onError: { target: '#writer.releasing', actions: { type: 'conclude', params: { code: 'defect' } } },
          },
        },
      },
    },

    interrupting: {
      description: 'What was under way has been told to stop; the fence stays until it has.',
      meta: BOUNDED,
      invoke: { id: 'quiesce', src: 'quiesce', onDone: 'releasing', onError: 'releasing' },
      on: { INTERRUPT: {} },
    },
    releasing: {
      description: 'Others may have the writer again.',
      meta: BOUNDED,
      invoke: { id: 'release', src: 'release', onDone: 'ended', onError: 'ended' },
      on: { INTERRUPT: {} },
    },
    ended: { type: 'final', description: 'The code says what has become of it.' },
  },
});
