/**
 * Customization: the operator's own version of a shipped skill. It is copied
 * once and never written again; afterwards only the recorded base moves, and only
 * when the operator asks for it.
 */
import {
  CUSTOMIZE_FAILED,
  judgeBase,
  judgeOverride,
  judgeShipped,
  newCustomization,
  OVERRIDE_INVALID,
} from './customization.judgement.ts';
import { customizationSetup } from './customization.setup.ts';
import { concluded, INTERRUPTED, verdictOf } from './run.verdicts.ts';

/** A step that has begun comes to its end; nothing follows it then. */
const AWAITED = { INTERRUPT: { actions: { type: 'conclude', params: INTERRUPTED } } } as const;

export const customizationMachine = customizationSetup.createMachine({
  id: 'customization',
  description: "One shipped skill and the operator's version of it.",
  meta: {
    guarantees: [
      'An override that is there is never written over.',
      'A dry-run changes nothing.',
      'An interruption is heard everywhere: a look is given up, a step is awaited, nothing more is begun.',
    ],
  },
  options: { maxIterations: 100 },
  context: ({ input }) => newCustomization(input),
  output: ({ context }) => concluded(context),
  initial: 'looking',
  on: { INTERRUPT: { target: '.done', actions: { type: 'conclude', params: INTERRUPTED } } },
  states: {
    looking: {
      description: 'Nothing is changed before everything has been read.',
      meta: { rests: 'local files answer or fail, and never reject' },
      entry: { type: 'announce', params: { step: 'customizing_skill' } },
      initial: 'readingShipped',
      states: {
        readingShipped: {
          description: 'The skill as the package ships it.',
          invoke: {
            id: 'readShipped',
            src: 'readShipped',
            onDone: [
              {
                guard: { type: 'mayGoOn', params: ({ event }) => judgeShipped(event.output) },
                target: 'readingBase',
                actions: { type: 'keepShipped', params: ({ event }) => event.output },
              },
              {
                target: '#customization.done',
                actions: { type: 'conclude', params: ({ event }) => verdictOf(judgeShipped(event.output)) },
              },
            ],
            onError: { target: '#customization.done', actions: { type: 'conclude', params: CUSTOMIZE_FAILED } },
          },
        },
        readingBase: {
          description: 'What the override was copied from, as far as it was recorded.',
          invoke: {
            id: 'readBase',
            src: 'readBase',
            onDone: [
              {
                guard: { type: 'mayGoOn', params: ({ event }) => judgeBase(event.output) },
                target: 'readingOverride',
                actions: { type: 'keepBase', params: ({ event }) => event.output },
              },
              {
                target: '#customization.done',
                actions: { type: 'conclude', params: ({ event }) => verdictOf(judgeBase(event.output)) },
              },
            ],
            onError: { target: '#customization.done', actions: { type: 'conclude', params: CUSTOMIZE_FAILED } },
          },
        },
        readingOverride: {
          description: 'What is there decides what may be done.',
          invoke: {
            id: 'readOverride',
            src: 'readOverride',
            onDone: [
              {
                guard: { type: 'mayCopy', params: ({ context, event }) => judgeOverride(context, event.output) },
                target: '#customization.copying',
              },
              {
                guard: { type: 'mayRecord', params: ({ context, event }) => judgeOverride(context, event.output) },
                target: '#customization.moving',
              },
              {
                target: '#customization.done',
                actions: {
                  type: 'conclude',
                  params: ({ context, event }) => verdictOf(judgeOverride(context, event.output)),
                },
              },
            ],
            onError: { target: '#customization.done', actions: { type: 'conclude', params: OVERRIDE_INVALID } },
          },
        },
      },
    },

    copying: {
      description: 'The shipped skill is copied, and put in place in one step.',
      meta: { rests: 'local files answer or fail, and never reject' },
      initial: 'recovering',
      on: AWAITED,
      states: {
        recovering: {
          description: 'What an interrupted run staged is removed.',
          invoke: {
            id: 'recover',
            src: 'recover',
            onDone: [
              { guard: { type: 'isDone', params: ({ event }) => event.output }, target: 'staging' },
              { target: '#customization.done', actions: { type: 'conclude', params: CUSTOMIZE_FAILED } },
            ],
            onError: { target: '#customization.done', actions: { type: 'conclude', params: CUSTOMIZE_FAILED } },
          },
        },
        staging: {
          description: 'The copy is written beside its place.',
          invoke: {
            id: 'stage',
            src: 'stage',
            onDone: [
              { guard: { type: 'isDone', params: ({ event }) => event.output }, target: 'placing' },
              { target: '#customization.done', actions: { type: 'conclude', params: CUSTOMIZE_FAILED } },
            ],
            onError: { target: '#customization.done', actions: { type: 'conclude', params: CUSTOMIZE_FAILED } },
          },
        },
        placing: {
          description: 'The copy takes its place; nothing that is there is overwritten.',
          invoke: {
            id: 'place',
            src: 'place',
            onDone: [
              { guard: { type: 'isDone', params: ({ event }) => event.output }, target: 'recording' },
              { target: '#customization.done', actions: { type: 'conclude', params: CUSTOMIZE_FAILED } },
            ],
            onError: { target: '#customization.done', actions: { type: 'conclude', params: CUSTOMIZE_FAILED } },
          },
        },
        recording: {
          description: 'What it was copied from is recorded.',
          invoke: {
            id: 'recordBase',
            src: 'recordBase',
            input: ({ context }) => context.shipped ?? '',
            onDone: [
              {
                guard: { type: 'isDone', params: ({ event }) => event.output },
                target: '#customization.done',
                actions: { type: 'conclude', params: { status: 'ok', code: 'skill_customized' } },
              },
              { target: '#customization.done', actions: { type: 'conclude', params: CUSTOMIZE_FAILED } },
            ],
            onError: { target: '#customization.done', actions: { type: 'conclude', params: CUSTOMIZE_FAILED } },
          },
        },
      },
    },

    moving: {
      description: 'The operator has seen that the shipped skill changed: only the recorded base moves.',
      meta: { rests: 'local files answer or fail, and never reject' },
      on: AWAITED,
      invoke: {
        id: 'recordBase',
        src: 'recordBase',
        input: ({ context }) => context.shipped ?? '',
        onDone: [
          {
            guard: { type: 'isDone', params: ({ event }) => event.output },
            target: 'done',
            actions: { type: 'conclude', params: { status: 'ok', code: 'skill_base_updated' } },
          },
          { target: 'done', actions: { type: 'conclude', params: CUSTOMIZE_FAILED } },
        ],
        onError: { target: 'done', actions: { type: 'conclude', params: CUSTOMIZE_FAILED } },
      },
    },

    done: { type: 'final', description: 'The verdict stands.' },
  },
});
