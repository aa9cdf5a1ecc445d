/**
 * Skill slot: the place where a client reads the controller skill, one
 * operation. A tree is staged beside the slot and exchanged in steps of which each
 * is durable; the record is written before the first and after the last of them.
 */

import { targetOf } from './run.records.ts';
import { concluded, INTERRUPTED, UNKNOWN_OWNER, verdictOf } from './run.verdicts.ts';
import {
  INSTALL_FAILED,
  installed,
  judgeApply,
  judgePlan,
  judgeRecords,
  judgeSource,
  judgeVerify,
  newSkillSlot,
  oursOf,
  ownedRecord,
  pendingRecord,
  promoted,
} from './skill-slot.judgement.ts';
import { removing } from './skill-slot.removing.ts';
import { skillSlotSetup } from './skill-slot.setup.ts';

const UNREADABLE = { status: 'failed', code: 'skill_source_invalid' } as const;
const MISSING = { status: 'failed', code: 'skill_missing' } as const;

const LOCAL = { rests: 'local files answer or fail, and never reject' };

/** A step that has begun comes to its end; nothing follows it then. */
const AWAITED = { INTERRUPT: { actions: { type: 'conclude', params: INTERRUPTED } } } as const;

export const skillSlotMachine = skillSlotSetup.createMachine({
  id: 'skillSlot',
  description: 'The controller skill in the directory of one client, and one operation on it.',
  meta: {
    guarantees: [
      'Nothing is written, moved or placed before a record of it is durable; during an update it knows both copies.',
      'Only our own, unchanged copies leave the slot.',
      'A swap that fails half-way is put back.',
      'While another owned registration uses the slot, nothing is removed; the record of a removed copy goes last.',
      'A dry-run and a verification change nothing.',
    ],
  },
  options: { maxIterations: 100 },
  context: ({ input }) => newSkillSlot(input),
  output: ({ context }) => concluded(context),
  initial: 'starting',
  on: { INTERRUPT: { target: '.done', actions: { type: 'conclude', params: INTERRUPTED } } },
  states: {
    starting: {
      description: 'A verification does not look at ownership.',
      entry: {
        type: 'announce',
        params: ({ context }) => ({ step: 'checking_skill', target: targetOf(context.registration) }),
      },
      always: [{ guard: 'isVerify', target: 'readingSource' }, { target: 'readingRecords' }],
    },

    readingRecords: {
      description: 'What setup owns is read; a removal of what it does not own, or shares, ends here.',
      meta: LOCAL,
      invoke: {
        id: 'readRecords',
        src: 'readRecords',
        onDone: [
          {
            guard: { type: 'mayRemove', params: ({ context, event }) => judgeRecords(context, event.output) },
            target: 'removing',
            actions: { type: 'keepRecord', params: ({ event }) => event.output },
          },
          {
            guard: { type: 'mayReadSource', params: ({ context, event }) => judgeRecords(context, event.output) },
            target: 'readingSource',
            actions: { type: 'keepRecord', params: ({ event }) => event.output },
          },
          {
            target: 'done',
            actions: {
              type: 'conclude',
              params: ({ context, event }) => verdictOf(judgeRecords(context, event.output)),
            },
          },
        ],
        onError: { target: 'done', actions: { type: 'conclude', params: UNKNOWN_OWNER } },
      },
    },

    readingSource: {
      description: 'The effective skill: the override of the operator, else the shipped one.',
      meta: LOCAL,
      invoke: {
        id: 'readSource',
        src: 'readSource',
        input: ({ context }) => targetOf(context.key),
        onDone: [
          {
            guard: { type: 'mayLook', params: ({ event }) => judgeSource(event.output) },
            target: 'looking',
            actions: { type: 'keepSource', params: ({ event }) => event.output },
          },
          {
            target: 'done',
            actions: { type: 'conclude', params: ({ event }) => verdictOf(judgeSource(event.output)) },
          },
        ],
        onError: { target: 'done', actions: { type: 'conclude', params: UNREADABLE } },
      },
    },

    looking: {
      description: 'Each operation looks with its own eyes.',
      always: [
        { guard: 'isDryRun', target: 'planning' },
        { guard: 'isVerify', target: 'verifying' },
        { target: 'applying' },
      ],
    },

    planning: {
      description: 'Nothing will be done about what is in the slot.',
      meta: LOCAL,
      invoke: {
        id: 'look',
        src: 'look',
        input: ({ context }) => targetOf(context.key),
        onDone: {
          target: 'done',
          actions: { type: 'conclude', params: ({ context, event }) => verdictOf(judgePlan(context, event.output)) },
        },
        onError: { target: 'done', actions: { type: 'conclude', params: UNREADABLE } },
      },
    },

    verifying: {
      description: 'What is in the slot is compared with the effective skill.',
      meta: LOCAL,
      invoke: {
        id: 'look',
        src: 'look',
        input: ({ context }) => targetOf(context.key),
        onDone: {
          target: 'done',
          actions: { type: 'conclude', params: ({ context, event }) => judgeVerify(context, event.output) },
        },
        onError: { target: 'done', actions: { type: 'conclude', params: MISSING } },
      },
    },

    applying: {
      description: 'The slot comes to hold the effective skill, unless it holds something that is not ours.',
      meta: LOCAL,
      initial: 'lookingFirst',
      states: {
        lookingFirst: {
          description: 'Record and slot together decide what may be done.',
          invoke: {
            id: 'look',
            src: 'look',
            input: ({ context }) => targetOf(context.key),
            onDone: [
              {
                guard: { type: 'mustRecover', params: ({ context, event }) => judgeApply(context, event.output) },
                target: 'recovering',
              },
              {
                guard: { type: 'mayInstall', params: ({ context, event }) => judgeApply(context, event.output) },
                target: 'recordingPending',
              },
              {
                guard: { type: 'mayUpdate', params: ({ context, event }) => judgeApply(context, event.output) },
                target: 'recordingPending',
                actions: { type: 'noteOld', params: ({ event }) => event.output },
              },
              {
                guard: { type: 'mayPromote', params: ({ context, event }) => judgeApply(context, event.output) },
                target: 'promoting',
              },
              {
                guard: { type: 'mayForget', params: ({ context, event }) => judgeApply(context, event.output) },
                target: 'forgetting',
              },
              {
                target: '#skillSlot.done',
                actions: {
                  type: 'conclude',
                  params: ({ context, event }) => verdictOf(judgeApply(context, event.output)),
                },
              },
            ],
            onError: { target: '#skillSlot.done', actions: { type: 'conclude', params: INSTALL_FAILED } },
          },
        },
        recovering: {
          description: 'What an interrupted run left beside the slot is removed, or put back.',
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
              { target: '#skillSlot.done', actions: { type: 'conclude', params: INSTALL_FAILED } },
            ],
            onError: { target: '#skillSlot.done', actions: { type: 'conclude', params: INSTALL_FAILED } },
          },
        },
        recordingPending: {
          description: 'Durable before the first change: a later run knows both copies as its own.',
          entry: {
            type: 'announce',
            params: ({ context }) => ({ step: 'installing_skill', target: targetOf(context.registration) }),
          },
          on: AWAITED,
          invoke: {
            id: 'put',
            src: 'put',
            input: ({ context }) => pendingRecord(context),
            onDone: [
              { guard: { type: 'isDone', params: ({ event }) => event.output }, target: 'exchanging' },
              { target: '#skillSlot.done', actions: { type: 'conclude', params: INSTALL_FAILED } },
            ],
            onError: { target: '#skillSlot.done', actions: { type: 'conclude', params: INSTALL_FAILED } },
          },
        },
        exchanging: {
          description: 'The new tree takes the place of the old one. What fails half-way is put back.',
          initial: 'staging',
          on: AWAITED,
          states: {
            staging: {
              description: 'The new tree is written beside the slot.',
              invoke: {
                id: 'stage',
                src: 'stage',
                input: ({ context }) => targetOf(context.key),
                onDone: [
                  { guard: { type: 'isStagedUpdate', params: ({ event }) => event.output }, target: 'displacing' },
                  { guard: { type: 'isDone', params: ({ event }) => event.output }, target: 'placing' },
                  { target: 'failing' },
                ],
                onError: 'failing',
              },
            },
            displacing: {
              description: 'The old tree is moved out of the slot, if it still is exactly that.',
              invoke: {
                id: 'displace',
                src: 'displace',
                input: ({ context }) => ({ target: targetOf(context.key), expected: context.old ?? '' }),
                onDone: [
                  { guard: { type: 'isDone', params: ({ event }) => event.output }, target: 'placing' },
                  { target: 'failing' },
                ],
                onError: 'failing',
              },
            },
            placing: {
              description: 'The new tree is moved into the empty slot.',
              invoke: {
                id: 'place',
                src: 'place',
                input: ({ context }) => targetOf(context.key),
                onDone: [
                  { guard: { type: 'isDone', params: ({ event }) => event.output }, target: 'lookingAgain' },
                  { target: 'failing' },
                ],
                onError: 'failing',
              },
            },
            lookingAgain: {
              description: 'The slot has to hold the new tree before the old one goes.',
              on: { INTERRUPT: { target: '#skillSlot.done', actions: { type: 'conclude', params: INTERRUPTED } } },
              invoke: {
                id: 'look',
                src: 'look',
                input: ({ context }) => targetOf(context.key),
                onDone: [
                  { guard: { type: 'isUpdated', params: ({ event }) => event.output }, target: 'discarding' },
                  {
                    guard: { type: 'isInstalled', params: ({ event }) => event.output },
                    target: '#skillSlot.applying.recordingOwned',
                  },
                  { target: '#skillSlot.done', actions: { type: 'conclude', params: INSTALL_FAILED } },
                ],
                onError: { target: '#skillSlot.done', actions: { type: 'conclude', params: INSTALL_FAILED } },
              },
            },
            discarding: {
              description: 'The old tree is deleted, if it still is exactly that.',
              invoke: {
                id: 'discard',
                src: 'discard',
                input: ({ context }) => ({ target: targetOf(context.key), expected: context.old ?? '' }),
                onDone: [
                  {
                    guard: { type: 'isDone', params: ({ event }) => event.output },
                    target: '#skillSlot.applying.recordingOwned',
                  },
                  { target: '#skillSlot.done', actions: { type: 'conclude', params: INSTALL_FAILED } },
                ],
                onError: { target: '#skillSlot.done', actions: { type: 'conclude', params: INSTALL_FAILED } },
              },
            },
            failing: {
              description: 'A step failed, or nobody wants the next one any more.',
              always: [
                {
                  guard: 'isOpen',
                  target: '#skillSlot.applying.restoring',
                  actions: { type: 'conclude', params: INSTALL_FAILED },
                },
                { target: '#skillSlot.done' },
              ],
            },
          },
        },
        restoring: {
          description: 'The old tree goes back where it was; the record stays, for the next run.',
          on: AWAITED,
          invoke: {
            id: 'recover',
            src: 'recover',
            input: ({ context }) => ({ target: targetOf(context.key), ours: oursOf(context) }),
            onDone: '#skillSlot.done',
            onError: '#skillSlot.done',
          },
        },
        recordingOwned: {
          description: 'The new tree was seen: from now on it is ours.',
          on: AWAITED,
          invoke: {
            id: 'put',
            src: 'put',
            input: ({ context }) => ownedRecord(context),
            onDone: [
              {
                guard: { type: 'isDone', params: ({ event }) => event.output },
                target: '#skillSlot.done',
                actions: { type: 'conclude', params: ({ context }) => installed(context) },
              },
              { target: '#skillSlot.done', actions: { type: 'conclude', params: INSTALL_FAILED } },
            ],
            onError: { target: '#skillSlot.done', actions: { type: 'conclude', params: INSTALL_FAILED } },
          },
        },
        promoting: {
          description: 'An earlier run put the tree there and could not say so any more.',
          on: AWAITED,
          invoke: {
            id: 'put',
            src: 'put',
            input: ({ context }) => ownedRecord(context),
            onDone: [
              {
                guard: { type: 'isDone', params: ({ event }) => event.output },
                target: '#skillSlot.done',
                actions: { type: 'conclude', params: ({ context }) => promoted(context) },
              },
              { target: '#skillSlot.done', actions: { type: 'conclude', params: INSTALL_FAILED } },
            ],
            onError: { target: '#skillSlot.done', actions: { type: 'conclude', params: INSTALL_FAILED } },
          },
        },
        forgetting: {
          description: 'The operator has put a link to the skill in the place of our copy.',
          on: AWAITED,
          invoke: {
            id: 'drop',
            src: 'drop',
            input: ({ context }) => context.key,
            onDone: [
              {
                guard: { type: 'isDone', params: ({ event }) => event.output },
                target: '#skillSlot.done',
                actions: { type: 'conclude', params: { status: 'unchanged', code: 'skill_linked' } },
              },
              { target: '#skillSlot.done', actions: { type: 'conclude', params: INSTALL_FAILED } },
            ],
            onError: { target: '#skillSlot.done', actions: { type: 'conclude', params: INSTALL_FAILED } },
          },
        },
      },
    },

    removing,
    done: { type: 'final', description: 'The verdict stands.' },
  },
});
