/** The part of the skill slot chart that removes: displace, discard, drop, each durable and repeatable. */
import { targetOf } from './run.records.ts';
import { INTERRUPTED, verdictOf } from './run.verdicts.ts';
import { judgeRemoval, NOT_CLEAN, oursOf, removed } from './skill-slot.judgement.ts';
import { skillSlotSetup } from './skill-slot.setup.ts';

/** A step that has begun comes to its end; nothing follows it then. */
const AWAITED = { INTERRUPT: { actions: { type: 'conclude', params: INTERRUPTED } } } as const;

export const removing = skillSlotSetup.createStateConfig({
  description: 'Our own copy is taken away; the record goes after it.',
  meta: { rests: 'local files answer or fail, and never reject' },
  initial: 'lookingFirst',
  states: {
    lookingFirst: {
      description: 'Only a copy that is still exactly ours is removed.',
      invoke: {
        id: 'look',
        src: 'look',
        input: ({ context }) => targetOf(context.key),
        onDone: [
          {
            guard: { type: 'mustRecover', params: ({ context, event }) => judgeRemoval(context, event.output) },
            target: 'recovering',
          },
          {
            guard: { type: 'mayDisplace', params: ({ context, event }) => judgeRemoval(context, event.output) },
            target: 'displacing',
            actions: { type: 'noteOld', params: ({ event }) => event.output },
          },
          {
            guard: { type: 'mayDrop', params: ({ context, event }) => judgeRemoval(context, event.output) },
            target: 'dropping',
            actions: { type: 'noteLink', params: ({ event }) => event.output },
          },
          {
            target: '#skillSlot.done',
            actions: {
              type: 'conclude',
              params: ({ context, event }) => verdictOf(judgeRemoval(context, event.output)),
            },
          },
        ],
        onError: { target: '#skillSlot.done', actions: { type: 'conclude', params: NOT_CLEAN } },
      },
    },
    recovering: {
      description: 'A copy that an interrupted run moved away is put back, to be removed like any other.',
      on: AWAITED,
      invoke: {
        id: 'recover',
        src: 'recover',
        input: ({ context }) => ({ target: targetOf(context.key), ours: oursOf(context) }),
        onDone: [
          {
            guard: { type: 'isDone', params: ({ event }) => event.output },
            target: 'lookingFirst',
            actions: 'noteRecovery',
          },
          { target: '#skillSlot.done', actions: { type: 'conclude', params: NOT_CLEAN } },
        ],
        onError: { target: '#skillSlot.done', actions: { type: 'conclude', params: NOT_CLEAN } },
      },
    },
    displacing: {
      description: 'The copy is moved out of the slot, if it still is exactly that.',
      entry: {
        type: 'announce',
        params: ({ context }) => ({ step: 'removing_skill', target: targetOf(context.registration) }),
      },
      on: AWAITED,
      invoke: {
        id: 'displace',
        src: 'displace',
        input: ({ context }) => ({ target: targetOf(context.key), expected: context.old ?? '' }),
        onDone: [
          { guard: { type: 'isDone', params: ({ event }) => event.output }, target: 'discarding' },
          { target: '#skillSlot.done', actions: { type: 'conclude', params: NOT_CLEAN } },
        ],
        onError: { target: '#skillSlot.done', actions: { type: 'conclude', params: NOT_CLEAN } },
      },
    },
    discarding: {
      description: 'The copy is deleted, if it still is exactly that.',
      on: AWAITED,
      invoke: {
        id: 'discard',
        src: 'discard',
        input: ({ context }) => ({ target: targetOf(context.key), expected: context.old ?? '' }),
        onDone: [
          { guard: { type: 'isDone', params: ({ event }) => event.output }, target: 'dropping' },
          { target: '#skillSlot.done', actions: { type: 'conclude', params: NOT_CLEAN } },
        ],
        onError: { target: '#skillSlot.done', actions: { type: 'conclude', params: NOT_CLEAN } },
      },
    },
    dropping: {
      description: 'The record goes last.',
      on: AWAITED,
      invoke: {
        id: 'drop',
        src: 'drop',
        input: ({ context }) => context.key,
        onDone: [
          {
            guard: { type: 'isDone', params: ({ event }) => event.output },
            target: '#skillSlot.done',
            actions: { type: 'conclude', params: ({ context }) => removed(context) },
          },
          { target: '#skillSlot.done', actions: { type: 'conclude', params: NOT_CLEAN } },
        ],
        onError: { target: '#skillSlot.done', actions: { type: 'conclude', params: NOT_CLEAN } },
      },
    },
  },
});
