/**
 * Registration: one target, one operation, from the record to the verdict. Each
 * durable write is a state of its own, and every state is a legal place to start
 * from again. Looks are given up when the run is interrupted; what changes
 * something is aborted and awaited, so that nothing overlaps.
 */
import {
  judgeApply,
  judgePlan,
  judgeRemoval,
  judgeVerify,
  newRecord,
  newRegistration,
  removed,
  verified,
} from './registration.judgement.ts';
import { registrationSetup } from './registration.setup.ts';
import { targetOf } from './run.records.ts';
import { concluded, INTERRUPTED, UNKNOWN_OWNER, verdictOf } from './run.verdicts.ts';

const INSPECT_FAILED = { status: 'failed', code: 'inspect_failed' } as const;
const LEFT_PENDING = { status: 'failed', code: 'apply_failed_recovery_pending' } as const;
const NOT_CLEAN = { status: 'failed', code: 'cleanup_failed' } as const;
const TIMED_OUT = { status: 'failed', code: 'mcp_timeout' } as const;

const LOCAL = { rests: 'the store answers or fails, and never rejects' };
const GUARDED = { rests: 'each command of a client has its own deadline' };

/** What a step does about an interruption that must not overtake it. */
const AWAITED = { INTERRUPT: { actions: [{ type: 'conclude', params: INTERRUPTED }, 'abortStep'] } } as const;

export const registrationMachine = registrationSetup.createMachine({
  id: 'registration',
  description: 'One registration of one client, and one operation on it.',
  meta: {
    guarantees: [
      'A client is asked to add only after a record of it is durable.',
      'What a client says of its own success counts for nothing: a look afterwards decides.',
      'Only what is recorded, unchanged and exactly there is removed; anything else of the name is never touched.',
      'A dry-run and a verification change nothing.',
      'An interruption is heard everywhere; what may still run ends the whole run.',
    ],
  },
  options: { maxIterations: 100 },
  context: ({ input }) => newRegistration(input),
  output: ({ context }) => ({ verdict: concluded(context), isHalted: context.isHalted, ownsHook: context.ownsHook }),
  initial: 'reading',
  on: { INTERRUPT: { target: '.done', actions: { type: 'conclude', params: INTERRUPTED } } },
  states: {
    reading: {
      description: 'What setup owns is read; a removal of what it does not own ends here.',
      meta: LOCAL,
      invoke: {
        id: 'readRecords',
        src: 'readRecords',
        onDone: [
          {
            guard: { type: 'isForeign', params: ({ event }) => event.output },
            target: 'done',
            actions: { type: 'conclude', params: UNKNOWN_OWNER },
          },
          {
            target: 'inspecting',
            actions: { type: 'keepRecord', params: ({ event }) => event.output },
          },
        ],
        onError: { target: 'done', actions: { type: 'conclude', params: UNKNOWN_OWNER } },
      },
    },

    inspecting: {
      description: 'The client says what it holds. Record and entry together decide what may be done.',
      meta: GUARDED,
      entry: { type: 'announce', params: ({ context }) => ({ step: 'inspecting', target: targetOf(context.key) }) },
      initial: 'routing',
      states: {
        routing: {
          description: 'Each operation looks with its own eyes.',
          always: [
            { guard: 'isDryRun', target: 'toPlan' },
            { guard: 'isApply', target: 'toApply' },
            { guard: 'isVerify', target: 'toVerify' },
            { target: 'toRemove' },
          ],
        },
        toPlan: {
          description: 'Nothing will be done about it.',
          invoke: {
            id: 'inspect',
            src: 'inspect',
            input: ({ context }) => targetOf(context.key),
            onDone: {
              target: '#registration.done',
              actions: {
                type: 'conclude',
                params: ({ context, event }) => verdictOf(judgePlan(context, event.output)),
              },
            },
            onError: { target: '#registration.done', actions: { type: 'conclude', params: INSPECT_FAILED } },
          },
        },
        toApply: {
          description: 'An absent entry is added, one that an earlier run left pending is adopted.',
          invoke: {
            id: 'inspect',
            src: 'inspect',
            input: ({ context }) => targetOf(context.key),
            onDone: [
              {
                guard: { type: 'mayAdd', params: ({ context, event }) => judgeApply(context, event.output) },
                target: '#registration.applying.recordingPending',
              },
              {
                guard: { type: 'mayPromote', params: ({ context, event }) => judgeApply(context, event.output) },
                target: '#registration.applying.promoting',
              },
              {
                target: '#registration.done',
                actions: {
                  type: 'conclude',
                  params: ({ context, event }) => verdictOf(judgeApply(context, event.output)),
                },
              },
            ],
            onError: { target: '#registration.done', actions: { type: 'conclude', params: INSPECT_FAILED } },
          },
        },
        toVerify: {
          description: 'Only exactly the intended entry is worth starting its server.',
          invoke: {
            id: 'inspect',
            src: 'inspect',
            input: ({ context }) => targetOf(context.key),
            onDone: [
              {
                guard: { type: 'mayShake', params: ({ context, event }) => judgeVerify(context, event.output) },
                target: '#registration.handshaking',
              },
              {
                target: '#registration.done',
                actions: {
                  type: 'conclude',
                  params: ({ context, event }) => verdictOf(judgeVerify(context, event.output)),
                },
              },
            ],
            onError: { target: '#registration.done', actions: { type: 'conclude', params: INSPECT_FAILED } },
          },
        },
        toRemove: {
          description: 'Only what is recorded and still exactly that is removed; what is gone is forgotten.',
          invoke: {
            id: 'inspect',
            src: 'inspect',
            input: ({ context }) => targetOf(context.key),
            onDone: [
              {
                guard: { type: 'mayRemove', params: ({ context, event }) => judgeRemoval(context, event.output) },
                target: '#registration.unregistering.removing',
              },
              {
                guard: { type: 'mayDrop', params: ({ context, event }) => judgeRemoval(context, event.output) },
                target: '#registration.unregistering.dropping',
              },
              {
                target: '#registration.done',
                actions: {
                  type: 'conclude',
                  params: ({ context, event }) => verdictOf(judgeRemoval(context, event.output)),
                },
              },
            ],
            onError: { target: '#registration.done', actions: { type: 'conclude', params: INSPECT_FAILED } },
          },
        },
      },
    },

    applying: {
      description: 'An entry is made, and owned once it has been seen.',
      initial: 'recordingPending',
      states: {
        recordingPending: {
          description: 'Durable before the client is asked: a later run knows what was meant.',
          meta: LOCAL,
          on: AWAITED,
          invoke: {
            id: 'put',
            src: 'put',
            input: ({ context }) => newRecord(context, 'pending'),
            onDone: [
              { guard: { type: 'isWritten', params: ({ event }) => event.output }, target: 'adding' },
              { target: '#registration.done', actions: { type: 'conclude', params: UNKNOWN_OWNER } },
            ],
            onError: { target: '#registration.done', actions: { type: 'conclude', params: UNKNOWN_OWNER } },
          },
        },
        adding: {
          description: 'The client adds the entry. What its command says about it counts for nothing.',
          meta: GUARDED,
          entry: { type: 'announce', params: ({ context }) => ({ step: 'adding', target: targetOf(context.key) }) },
          on: AWAITED,
          invoke: {
            id: 'add',
            src: 'add',
            input: ({ context }) => targetOf(context.key),
            onDone: [
              { guard: { type: 'hasEnded', params: ({ event }) => event.output }, target: 'inspectingAgain' },
              {
                target: '#registration.done',
                actions: [
                  { type: 'conclude', params: LEFT_PENDING },
                  { type: 'noteMutation', params: ({ event }) => event.output },
                ],
              },
            ],
            // Nobody can tell what it left behind.
            onError: {
              target: '#registration.done',
              actions: [
                { type: 'conclude', params: LEFT_PENDING },
                { type: 'noteMutation', params: 'retained' },
              ],
            },
          },
        },
        inspectingAgain: {
          description: 'The client says whether the entry is there.',
          meta: GUARDED,
          invoke: {
            id: 'inspect',
            src: 'inspect',
            input: ({ context }) => targetOf(context.key),
            onDone: [
              { guard: { type: 'isEquivalent', params: ({ event }) => event.output }, target: 'recordingOwned' },
              { target: '#registration.done', actions: { type: 'conclude', params: LEFT_PENDING } },
            ],
            onError: { target: '#registration.done', actions: { type: 'conclude', params: LEFT_PENDING } },
          },
        },
        recordingOwned: {
          description: 'The entry was seen: from now on it is ours.',
          meta: LOCAL,
          on: AWAITED,
          invoke: {
            id: 'put',
            src: 'put',
            input: ({ context }) => newRecord(context, 'owned'),
            onDone: [
              {
                guard: { type: 'isWritten', params: ({ event }) => event.output },
                target: '#registration.done',
                actions: { type: 'conclude', params: { status: 'ok', code: 'applied' } },
              },
              { target: '#registration.done', actions: { type: 'conclude', params: LEFT_PENDING } },
            ],
            onError: { target: '#registration.done', actions: { type: 'conclude', params: LEFT_PENDING } },
          },
        },
        promoting: {
          description: 'An earlier run made the entry and could not say so any more.',
          meta: LOCAL,
          on: AWAITED,
          invoke: {
            id: 'put',
            src: 'put',
            input: ({ context }) => newRecord(context, 'owned'),
            onDone: [
              {
                guard: { type: 'isWritten', params: ({ event }) => event.output },
                target: '#registration.done',
                actions: { type: 'conclude', params: { status: 'ok', code: 'pending_recovered' } },
              },
              { target: '#registration.done', actions: { type: 'conclude', params: LEFT_PENDING } },
            ],
            onError: { target: '#registration.done', actions: { type: 'conclude', params: LEFT_PENDING } },
          },
        },
      },
    },

    unregistering: {
      description: 'The entry is removed, and forgotten once it was seen to be gone.',
      initial: 'removing',
      states: {
        removing: {
          description: 'The client removes the entry. What its command says about it counts for nothing.',
          meta: GUARDED,
          entry: { type: 'announce', params: ({ context }) => ({ step: 'removing', target: targetOf(context.key) }) },
          on: AWAITED,
          invoke: {
            id: 'remove',
            src: 'remove',
            input: ({ context }) => targetOf(context.key),
            onDone: [
              { guard: { type: 'hasEnded', params: ({ event }) => event.output }, target: 'inspectingGone' },
              {
                target: '#registration.done',
                actions: [
                  { type: 'conclude', params: NOT_CLEAN },
                  { type: 'noteMutation', params: ({ event }) => event.output },
                ],
              },
            ],
            onError: {
              target: '#registration.done',
              actions: [
                { type: 'conclude', params: NOT_CLEAN },
                { type: 'noteMutation', params: 'retained' },
              ],
            },
          },
        },
        inspectingGone: {
          description: 'The client says whether the entry is gone.',
          meta: GUARDED,
          invoke: {
            id: 'inspect',
            src: 'inspect',
            input: ({ context }) => targetOf(context.key),
            onDone: [
              { guard: { type: 'isAbsent', params: ({ event }) => event.output }, target: 'dropping' },
              { target: '#registration.done', actions: { type: 'conclude', params: NOT_CLEAN } },
            ],
            onError: { target: '#registration.done', actions: { type: 'conclude', params: NOT_CLEAN } },
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
                target: '#registration.done',
                actions: { type: 'conclude', params: ({ context }) => removed(context) },
              },
              { target: '#registration.done', actions: { type: 'conclude', params: NOT_CLEAN } },
            ],
            onError: { target: '#registration.done', actions: { type: 'conclude', params: NOT_CLEAN } },
          },
        },
      },
    },

    handshaking: {
      description: 'The intended server is started directly and asked who it is; its end is waited for.',
      entry: { type: 'announce', params: ({ context }) => ({ step: 'verifying', target: targetOf(context.key) }) },
      invoke: {
        id: 'handshake',
        src: 'handshake',
        onDone: { target: 'done', actions: { type: 'conclude', params: ({ event }) => verified(event.output) } },
        onError: { target: 'done', actions: { type: 'conclude', params: { status: 'failed', code: 'mcp_failed' } } },
      },
      initial: 'talking',
      states: {
        talking: {
          description: 'It has one deadline for all of its answers.',
          on: {
            INTERRUPT: { target: 'ending', actions: { type: 'conclude', params: INTERRUPTED } },
          },
          after: { handshakeTimeout: { target: 'ending', actions: { type: 'conclude', params: TIMED_OUT } } },
        },
        ending: {
          description: 'Nobody wants its answers any more; its process is on its way out.',
          entry: 'abortStep',
          on: { INTERRUPT: {} },
          after: { handshakeEndTimeout: '#registration.done' },
        },
      },
    },

    done: { type: 'final', description: 'The verdict stands.' },
  },
});
