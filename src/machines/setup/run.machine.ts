/**
 * Setup run: the whole command, from the lock to the result. Targets are worked
 * on one after the other; what has begun to change something is always awaited
 * before the lock goes.
 */
import { sendTo } from 'xstate';
import {
  brokenSkillFindings,
  customizationFinding,
  hookFindings,
  hookInput,
  newRun,
  reasonToStop,
  registrationFindings,
  registrationInput,
  resultOf,
  skillFindings,
  skillInput,
} from './run.context.ts';
import { setupRunSetup } from './run.setup.ts';
import { INTERRUPTED, UNKNOWN_OWNER } from './run.verdicts.ts';

const DOCTOR_FAILED = { status: 'failed', code: 'doctor_failed' } as const;
const NO_RELEASE = { status: 'failed', code: 'release_unavailable' } as const;
const BROKEN = { status: 'failed', code: 'operation_failed' } as const;

const CHARTED = { rests: 'the chart below has its own deadlines' };

export const setupRunMachine = setupRunSetup.createMachine({
  id: 'setupRun',
  description: 'One setup command: lock, doctor, release, then each target, then the result.',
  meta: {
    guarantees: [
      'What changes something begins only with the lock, after the doctor and with a known release.',
      'Every target has its findings, in order and once.',
      'After an interruption, or beside what may still run, no other target is begun.',
      'Every run ends by letting the lock go, when nothing below runs any more.',
    ],
  },
  options: { maxIterations: 100 },
  context: ({ input }) => newRun(input),
  output: ({ context }) => resultOf(context),
  initial: 'starting',
  states: {
    starting: {
      description: 'What changes a client or its skill needs the lock; looking needs none.',
      always: [
        { guard: 'isCustomization', target: 'customizing' },
        { guard: 'changesSomething', target: 'locking' },
        { guard: 'needsDoctor', target: 'checking' },
        { target: 'binding' },
      ],
    },

    locking: {
      description: 'One run at a time. Whatever the wait comes to is heard, so that no lock is lost.',
      meta: { rests: 'the lock gives up after 30 seconds' },
      entry: { type: 'announce', params: { step: 'waiting_for_lock' } },
      on: { INTERRUPT: { actions: [{ type: 'noteSignal', params: ({ event }) => event }, 'abortStep'] } },
      invoke: {
        id: 'acquire',
        src: 'acquire',
        onDone: [
          { guard: { type: 'isLockedToApply', params: ({ event }) => event.output }, target: 'checking' },
          { guard: { type: 'isLocked', params: ({ event }) => event.output }, target: 'binding' },
          { guard: 'isInterrupted', target: 'releasing', actions: { type: 'reportRest', params: INTERRUPTED } },
          { target: 'releasing', actions: { type: 'reportRest', params: UNKNOWN_OWNER } },
        ],
        onError: { target: 'releasing', actions: { type: 'reportRest', params: UNKNOWN_OWNER } },
      },
    },

    checking: {
      description: 'The offline doctor has to find nothing wrong.',
      entry: { type: 'announce', params: { step: 'checking_configuration' } },
      on: {
        INTERRUPT: {
          target: 'releasing',
          actions: [
            { type: 'noteSignal', params: ({ event }) => event },
            { type: 'reportRest', params: INTERRUPTED },
          ],
        },
      },
      after: { doctorTimeout: { target: 'releasing', actions: { type: 'reportRest', params: DOCTOR_FAILED } } },
      invoke: {
        id: 'checkDoctor',
        src: 'checkDoctor',
        onDone: [
          { guard: { type: 'isHealthy', params: ({ event }) => event.output }, target: 'binding' },
          { target: 'releasing', actions: { type: 'reportRest', params: DOCTOR_FAILED } },
        ],
        onError: { target: 'releasing', actions: { type: 'reportRest', params: DOCTOR_FAILED } },
      },
    },

    binding: {
      description: 'The bytes that the registrations start get their fingerprint.',
      entry: { type: 'announce', params: { step: 'reading_release' } },
      on: {
        INTERRUPT: {
          target: 'releasing',
          actions: [
            { type: 'noteSignal', params: ({ event }) => event },
            { type: 'reportRest', params: INTERRUPTED },
          ],
        },
      },
      after: { releaseTimeout: { target: 'releasing', actions: { type: 'reportRest', params: NO_RELEASE } } },
      invoke: {
        id: 'bindRelease',
        src: 'bindRelease',
        onDone: [
          {
            guard: { type: 'isBound', params: ({ event }) => event.output },
            target: 'working',
            actions: { type: 'noteRelease', params: ({ event }) => event.output },
          },
          { target: 'releasing', actions: { type: 'reportRest', params: NO_RELEASE } },
        ],
        onError: { target: 'releasing', actions: { type: 'reportRest', params: NO_RELEASE } },
      },
    },

    working: {
      description: 'Target by target, in order: first the registration, then the skill, then the hook.',
      initial: 'choosing',
      states: {
        choosing: {
          description: 'After an interruption, or beside something that may still run, nothing more is begun.',
          always: [
            {
              guard: 'mustStop',
              target: '#setupRun.releasing',
              actions: { type: 'reportRest', params: ({ context }) => reasonToStop(context) },
            },
            { guard: 'hasMore', target: 'registering' },
            { target: '#setupRun.releasing' },
          ],
        },
        registering: {
          description: 'The registration of the first target that waits.',
          meta: CHARTED,
          on: {
            INTERRUPT: {
              actions: [
                { type: 'noteSignal', params: ({ event }) => event },
                sendTo(() => 'registration', { type: 'INTERRUPT' }),
              ],
            },
          },
          invoke: {
            id: 'registration',
            src: 'registration',
            input: ({ context }) => registrationInput(context),
            onDone: [
              {
                guard: { type: 'skillFollows', params: ({ event }) => event.output },
                target: 'placingSkill',
                actions: [
                  { type: 'report', params: ({ context, event }) => registrationFindings(context, event.output) },
                  { type: 'noteHook', params: ({ event }) => event.output },
                ],
              },
              {
                target: 'choosing',
                actions: [
                  { type: 'report', params: ({ context, event }) => registrationFindings(context, event.output) },
                  { type: 'noteHalt', params: ({ event }) => event.output },
                  'next',
                ],
              },
            ],
            // Nobody knows what it was at: nothing more is begun.
            onError: { target: '#setupRun.releasing', actions: { type: 'reportRest', params: BROKEN } },
          },
        },
        placingSkill: {
          description: 'The skill of the same target.',
          meta: CHARTED,
          on: {
            INTERRUPT: {
              actions: [
                { type: 'noteSignal', params: ({ event }) => event },
                sendTo(() => 'skillSlot', { type: 'INTERRUPT' }),
              ],
            },
          },
          invoke: {
            id: 'skillSlot',
            src: 'skillSlot',
            input: ({ context }) => skillInput(context),
            onDone: [
              {
                guard: 'hookFollows',
                target: 'placingHook',
                actions: { type: 'report', params: ({ context, event }) => skillFindings(context, event.output) },
              },
              {
                target: 'choosing',
                actions: [
                  { type: 'report', params: ({ context, event }) => skillFindings(context, event.output) },
                  'next',
                ],
              },
            ],
            onError: {
              target: 'choosing',
              actions: [
                { type: 'report', params: ({ context }) => brokenSkillFindings(context, BROKEN) },
                { type: 'noteHalt', params: { isHalted: true } },
                'next',
              ],
            },
          },
        },
        placingHook: {
          description: 'The hook that wakes the same client.',
          meta: CHARTED,
          on: {
            INTERRUPT: {
              actions: [
                { type: 'noteSignal', params: ({ event }) => event },
                sendTo(() => 'wakeHook', { type: 'INTERRUPT' }),
              ],
            },
          },
          invoke: {
            id: 'wakeHook',
            src: 'wakeHook',
            input: ({ context }) => hookInput(context),
            onDone: {
              target: 'choosing',
              actions: [
                { type: 'report', params: ({ context, event }) => hookFindings(context, event.output.verdict) },
                { type: 'noteHalt', params: ({ event }) => event.output },
                'next',
              ],
            },
            onError: {
              target: 'choosing',
              actions: [
                { type: 'report', params: ({ context }) => hookFindings(context, BROKEN) },
                { type: 'noteHalt', params: { isHalted: true } },
                'next',
              ],
            },
          },
        },
      },
    },

    customizing: {
      description: 'A skill is customized; no client and no lock has to do with it.',
      meta: CHARTED,
      on: {
        INTERRUPT: {
          actions: [
            { type: 'noteSignal', params: ({ event }) => event },
            sendTo(() => 'customization', { type: 'INTERRUPT' }),
          ],
        },
      },
      invoke: {
        id: 'customization',
        src: 'customization',
        input: ({ context }) => ({ operation: context.operation === 'apply' ? 'apply' : 'dry-run' }),
        onDone: {
          target: 'done',
          actions: { type: 'report', params: ({ context, event }) => customizationFinding(context, event.output) },
        },
        onError: {
          target: 'done',
          actions: { type: 'report', params: ({ context }) => customizationFinding(context, BROKEN) },
        },
      },
    },

    releasing: {
      description: 'What client commands have left is ended, then the lock goes; the findings stand.',
      meta: { rests: 'the guardian bounds the end of what it watches, or keeps the lock by itself' },
      entry: { type: 'announce', params: { step: 'finishing' } },
      on: { INTERRUPT: { actions: { type: 'noteSignal', params: ({ event }) => event } } },
      invoke: { id: 'release', src: 'release', onDone: 'done', onError: 'done' },
    },

    done: { type: 'final', description: 'The result stands.' },
  },
});
