/**
 * Wake hook: the plugin that wakes a client when a turn has ended, and one
 * operation on it. It is recorded before the client is asked and owned once it
 * was seen, like a registration; every state is a legal place to start from again.
 */
import { concluded, INTERRUPTED, UNKNOWN_OWNER, verdictOf } from './run.verdicts.ts';
import {
  HOOK_FAILED,
  HOOK_REMOVED,
  judgeHook,
  judgeRecords,
  madeHook,
  newHookRecord,
  newWakeHook,
} from './wake-hook.judgement.ts';
import { wakeHookSetup } from './wake-hook.setup.ts';

const LOCAL = { rests: 'the store answers or fails, and never rejects' };
const GUARDED = { rests: 'each command of a client has its own deadline' };

/** What a step does about an interruption that must not overtake it. */
const AWAITED = { INTERRUPT: { actions: [{ type: 'conclude', params: INTERRUPTED }, 'abortStep'] } } as const;
const FAILED = { target: '#wakeHook.done', actions: { type: 'conclude', params: HOOK_FAILED } } as const;
const UNWRITTEN = { target: '#wakeHook.done', actions: { type: 'conclude', params: UNKNOWN_OWNER } } as const;

export const wakeHookMachine = wakeHookSetup.createMachine({
  id: 'wakeHook',
  description: 'The hook that wakes one client, and one operation on it.',
  meta: {
    guarantees: [
      'The client is asked to install only after a record of it is durable.',
      'What the client says of its own success counts for nothing: a look afterwards decides.',
      'A hook without a record, and one that its user has switched off, is never installed over.',
      'It goes with the last registration that needs it, and not before.',
      'A dry-run and a verification change nothing.',
    ],
  },
  options: { maxIterations: 100 },
  context: ({ input }) => newWakeHook(input),
  output: ({ context }) => ({ verdict: concluded(context), isHalted: context.isHalted }),
  initial: 'reading',
  on: { INTERRUPT: { target: '.done', actions: { type: 'conclude', params: INTERRUPTED } } },
  states: {
    reading: {
      description: 'What setup owns is read; a removal of what it does not own, or others need, ends here.',
      meta: LOCAL,
      invoke: {
        id: 'readRecords',
        src: 'readRecords',
        onDone: [
          {
            guard: { type: 'mayLook', params: ({ context, event }) => judgeRecords(context, event.output) },
            target: 'inspecting',
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
        onError: UNWRITTEN,
      },
    },

    inspecting: {
      description: 'The client says what it holds. Record, plugin and operation decide what is done.',
      meta: GUARDED,
      entry: { type: 'announce', params: ({ context }) => ({ step: 'checking_hook', target: context.target }) },
      invoke: {
        id: 'inspectHook',
        src: 'inspectHook',
        onDone: [
          {
            guard: { type: 'mayInstall', params: ({ context, event }) => judgeHook(context, event.output) },
            target: 'installing',
            actions: { type: 'noteUpdate', params: ({ event }) => event.output },
          },
          {
            guard: { type: 'mayPromote', params: ({ context, event }) => judgeHook(context, event.output) },
            target: 'installing.recordingOwned',
          },
          {
            guard: { type: 'mayUninstall', params: ({ context, event }) => judgeHook(context, event.output) },
            target: 'removing',
          },
          {
            target: 'done',
            actions: { type: 'conclude', params: ({ context, event }) => verdictOf(judgeHook(context, event.output)) },
          },
        ],
        onError: FAILED,
      },
    },

    installing: {
      description: 'The plugin is installed or updated, and owned once it has been seen.',
      initial: 'recordingPending',
      states: {
        recordingPending: {
          description: 'Durable before a file is written or the client is asked: a later run knows what was meant.',
          meta: LOCAL,
          on: AWAITED,
          invoke: {
            id: 'put',
            src: 'put',
            input: ({ context }) => newHookRecord(context, 'pending'),
            onDone: [
              { guard: { type: 'isWritten', params: ({ event }) => event.output }, target: 'adding' },
              UNWRITTEN,
            ],
            onError: UNWRITTEN,
          },
        },
        adding: {
          description: 'Its files are written and the client installs it. What that says about it counts for nothing.',
          meta: GUARDED,
          entry: { type: 'announce', params: ({ context }) => ({ step: 'installing_hook', target: context.target }) },
          on: AWAITED,
          invoke: {
            id: 'installHook',
            src: 'installHook',
            onDone: [
              { guard: { type: 'hasEnded', params: ({ event }) => event.output }, target: 'inspectingAgain' },
              {
                target: '#wakeHook.done',
                actions: [
                  { type: 'conclude', params: HOOK_FAILED },
                  { type: 'noteMutation', params: ({ event }) => event.output },
                ],
              },
            ],
            // Nobody can tell what it left behind.
            onError: {
              target: '#wakeHook.done',
              actions: [
                { type: 'conclude', params: HOOK_FAILED },
                { type: 'noteMutation', params: 'retained' },
              ],
            },
          },
        },
        inspectingAgain: {
          description: 'The client says whether the plugin is there.',
          meta: GUARDED,
          invoke: {
            id: 'inspectHook',
            src: 'inspectHook',
            onDone: [
              { guard: { type: 'isEquivalent', params: ({ event }) => event.output }, target: 'recordingOwned' },
              FAILED,
            ],
            onError: FAILED,
          },
        },
        recordingOwned: {
          description: 'The plugin was seen, now or by a run that could not say so any more: it is ours.',
          meta: LOCAL,
          on: AWAITED,
          invoke: {
            id: 'put',
            src: 'put',
            input: ({ context }) => newHookRecord(context, 'owned'),
            onDone: [
              {
                guard: { type: 'isWritten', params: ({ event }) => event.output },
                target: '#wakeHook.done',
                actions: { type: 'conclude', params: ({ context }) => madeHook(context) },
              },
              FAILED,
            ],
            onError: FAILED,
          },
        },
      },
    },

    removing: {
      description: 'The plugin is removed, and forgotten once it was seen to be gone.',
      initial: 'uninstalling',
      states: {
        uninstalling: {
          description: 'The client lets it go and its files are deleted, also those that half an install has left.',
          meta: GUARDED,
          entry: { type: 'announce', params: ({ context }) => ({ step: 'removing_hook', target: context.target }) },
          on: AWAITED,
          invoke: {
            id: 'uninstallHook',
            src: 'uninstallHook',
            onDone: [
              { guard: { type: 'hasEnded', params: ({ event }) => event.output }, target: 'inspectingGone' },
              {
                target: '#wakeHook.done',
                actions: [
                  { type: 'conclude', params: HOOK_FAILED },
                  { type: 'noteMutation', params: ({ event }) => event.output },
                ],
              },
            ],
            onError: {
              target: '#wakeHook.done',
              actions: [
                { type: 'conclude', params: HOOK_FAILED },
                { type: 'noteMutation', params: 'retained' },
              ],
            },
          },
        },
        inspectingGone: {
          description: 'The client says whether the plugin is gone.',
          meta: GUARDED,
          invoke: {
            id: 'inspectHook',
            src: 'inspectHook',
            onDone: [{ guard: { type: 'isAbsent', params: ({ event }) => event.output }, target: 'dropping' }, FAILED],
            onError: FAILED,
          },
        },
        dropping: {
          description: 'The record goes last: until then a later run knows what to look for.',
          meta: LOCAL,
          on: AWAITED,
          invoke: {
            id: 'drop',
            src: 'drop',
            input: ({ context }) => context.key,
            onDone: [
              {
                guard: { type: 'isWritten', params: ({ event }) => event.output },
                target: '#wakeHook.done',
                actions: { type: 'conclude', params: HOOK_REMOVED },
              },
              FAILED,
            ],
            onError: FAILED,
          },
        },
      },
    },

    done: { type: 'final', description: 'The verdict stands.' },
  },
});
