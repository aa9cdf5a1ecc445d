/**
 * Session: one Pi handle from its verified start to its one disposal. Prompt
 * admission and close are serialized here: whatever arrives during an admission
 * waits in `waiting`, and is answered as soon as the admission is decided.
 */
import { raise, sendTo } from 'xstate';
import { answer } from '../shared/replies.ts';
import { activeTurn, admissionOf, idsOf, newSession, restingState, sessionRecord } from './session.context.ts';
import {
  admissionRefused,
  admissionStarted,
  admissionStopped,
  admissionTimedOut,
  startRefused,
  viewFor,
  waitingAtClose,
} from './session.replies.ts';
import { sessionSetup } from './session.setup.ts';

export const sessionMachine = sessionSetup.createMachine({
  id: 'session',
  description: 'One Pi session: opened, prompted, aborted, closed.',
  meta: {
    guarantees: [
      'A session is public only after its whole start has passed.',
      'Each request has one answer; one that comes during an admission waits for its decision.',
      'A prompt whose preflight timed out publishes no turn, and no other begins until it and its abort have settled.',
      'Close is heard in every public state, and nothing late revives what is closing or closed.',
      'The handle is disposed at most once, and before the session counts as closed.',
    ],
  },
  options: { maxIterations: 100 },
  context: ({ input }) => newSession(input),
  initial: 'opening',
  states: {
    opening: {
      description: 'Not public yet: the start chart decides.',
      meta: { rests: 'every step of the start chart has its own deadline' },
      invoke: {
        id: 'start',
        src: 'start',
        input: ({ context: { id, workspace, executionProfile } }) => ({ sessionId: id, workspace, executionProfile }),
        onDone: [
          {
            guard: { type: 'opened', params: ({ event }) => event.output },
            target: 'ready.idle',
            actions: [
              'stamp',
              { type: 'open', params: ({ event }) => event.output },
              { type: 'reply', params: ({ context }) => [viewFor([context.startRequestId], context, 'idle')] },
            ],
          },
          {
            target: 'discarded',
            actions: [
              { type: 'reportRefusal', params: ({ event }) => event.output },
              { type: 'reply', params: ({ context, event }) => startRefused(context, event.output) },
            ],
          },
        ],
        onError: {
          target: 'discarded',
          actions: [
            'reportDefect',
            { type: 'reply', params: ({ context }) => [answer([context.startRequestId], 'internal_error')] },
          ],
        },
      },
      on: {
        STOP: {
          target: 'discarded',
          actions: { type: 'reply', params: ({ context }) => [answer([context.startRequestId], 'server_stopping')] },
        },
        PROMPT: { actions: { type: 'reply', params: ({ event }) => [answer([event.requestId], 'unknown_session')] } },
        ABORT: { actions: { type: 'reply', params: ({ event }) => [answer([event.requestId], 'unknown_session')] } },
        CLOSE: { actions: { type: 'reply', params: ({ event }) => [answer([event.requestId], 'unknown_session')] } },
      },
    },

    ready: {
      description: 'At rest: a prompt is welcome.',
      initial: 'idle',
      on: {
        PROMPT: { target: 'admitting', actions: { type: 'considerPrompt', params: ({ event }) => event } },
        ABORT: {
          actions: {
            type: 'reply',
            params: ({ context, event }) => [viewFor([event.requestId], context, restingState(context))],
          },
        },
        CLOSE: { target: 'closing.disposing', actions: ['stamp', { type: 'addCloser', params: ({ event }) => event }] },
        STOP: { target: 'closing.disposing', actions: 'stamp' },
      },
      always: [
        { guard: 'promptWaits', target: 'admitting', actions: 'considerWaitingPrompt' },
        {
          guard: 'closeWaits',
          target: 'closing.disposing',
          actions: [
            'stamp',
            { type: 'reply', params: ({ context }) => waitingAtClose(context) },
            'takeClosers',
            'dropWaiting',
          ],
        },
      ],
      states: {
        idle: {
          description: 'No turn yet, or the last one completed or was aborted.',
          meta: { rests: 'the client decides what is next' },
        },
        failed: {
          description: 'The last turn failed; the session is still usable.',
          meta: { rests: 'the client decides what is next' },
        },
        remembered: { type: 'history', description: 'Where the session rested before the admission.' },
      },
    },

    admitting: {
      description: 'The preflight decides; nothing is public yet, later requests wait.',
      invoke: {
        id: 'admitPrompt',
        src: 'admitPrompt',
        input: ({ context }) => admissionOf(context),
        onDone: [
          {
            guard: { type: 'started', params: ({ event }) => event.output },
            target: 'engaged',
            actions: [
              'stamp',
              'beginTurn',
              { type: 'reply', params: ({ context }) => admissionStarted(context) },
              'dropAdmission',
              'takeClosers',
              raise({ type: 'TAKE_WAITING' }),
            ],
          },
          {
            target: 'ready.remembered',
            actions: [
              { type: 'reply', params: ({ context }) => admissionRefused(context) },
              'dropAdmission',
              'dropLeadingAborts',
            ],
          },
        ],
        onError: {
          target: 'ready.remembered',
          actions: [
            { type: 'reply', params: ({ context }) => admissionRefused(context) },
            'dropAdmission',
            'dropLeadingAborts',
          ],
        },
      },
      after: {
        preflightTimeout: {
          target: 'quarantined',
          actions: [
            { type: 'reply', params: ({ context }) => admissionTimedOut(context) },
            'dropPromptText',
            'takeClosers',
            'dropWaiting',
          ],
        },
      },
      on: {
        PROMPT: { actions: { type: 'wait', params: ({ event }) => event } },
        ABORT: { actions: { type: 'wait', params: ({ event }) => event } },
        CLOSE: { actions: { type: 'wait', params: ({ event }) => event } },
        STOP: {
          target: 'closing.disposing',
          actions: [
            'stamp',
            { type: 'reply', params: ({ context }) => admissionStopped(context) },
            'dropPromptText',
            'takeClosers',
            'dropWaiting',
          ],
        },
      },
    },

    engaged: {
      description: 'An admitted turn is live; its own chart decides how it ends.',
      initial: 'running',
      invoke: {
        id: 'turn',
        src: 'turn',
        input: ({ context }) => activeTurn(context),
        onDone: [
          {
            guard: 'closingTurn',
            target: 'closing.disposing',
            actions: {
              type: 'reply',
              params: ({ context, event }) => [viewFor(event.output.callers, context, 'closing')],
            },
          },
          {
            guard: { type: 'turnFailed', params: ({ event }) => event.output },
            target: 'ready.failed',
            actions: [
              'stamp',
              { type: 'endTurn', params: ({ event }) => event.output },
              { type: 'reply', params: ({ context, event }) => [viewFor(event.output.callers, context, 'failed')] },
            ],
          },
          {
            target: 'ready.idle',
            actions: [
              'stamp',
              { type: 'endTurn', params: ({ event }) => event.output },
              { type: 'reply', params: ({ context, event }) => [viewFor(event.output.callers, context, 'idle')] },
            ],
          },
        ],
        onError: { target: 'closing.disposing', actions: ['stamp', 'reportDefect'] },
      },
      on: {
        TAKE_WAITING: [
          {
            guard: 'abortsWait',
            actions: [
              sendTo(
                () => 'turn',
                ({ context }) => ({ type: 'ABORT', requestIds: idsOf(context.waiting, 'ABORT') }),
              ),
              'dropWaiting',
            ],
          },
          { actions: 'dropWaiting' },
        ],
        PROMPT: { actions: { type: 'reply', params: ({ event }) => [answer([event.requestId], 'session_running')] } },
      },
      states: {
        running: {
          description: 'Public as running.',
          meta: { rests: 'a turn may run for as long as the provider works' },
          always: { guard: 'hasClosers', target: 'ending', actions: 'stamp' },
          on: {
            ABORT: {
              actions: sendTo(
                () => 'turn',
                ({ event }) => ({ type: 'ABORT', requestIds: [event.requestId] }),
              ),
            },
            CLOSE: { target: 'ending', actions: ['stamp', { type: 'addCloser', params: ({ event }) => event }] },
            STOP: { target: 'ending.told', actions: 'stamp' },
          },
        },
        ending: {
          description: 'Public as closing: the turn comes to its end.',
          initial: 'asked',
          on: {
            PROMPT: {
              actions: { type: 'reply', params: ({ event }) => [answer([event.requestId], 'prompt_rejected')] },
            },
            ABORT: {
              actions: {
                type: 'reply',
                params: ({ context, event }) => [viewFor([event.requestId], context, 'closing')],
              },
            },
            CLOSE: { actions: { type: 'addCloser', params: ({ event }) => event } },
          },
          states: {
            asked: {
              description: 'The turn is to be aborted first.',
              meta: { rests: 'the turn chart ends by closeAbortTimeout' },
              entry: sendTo(() => 'turn', { type: 'END' }),
              on: { STOP: 'told' },
            },
            told: {
              description:
                'The server is stopping: the turn ends at once, and whoever waits for its abort is answered.',
              meta: { rests: 'the turn chart ends in the same step' },
              entry: sendTo(() => 'turn', { type: 'STOP' }),
            },
          },
        },
      },
    },

    quarantined: {
      type: 'parallel',
      description: 'A preflight timed out: busy until both the prompt and its abort have settled.',
      meta: { rests: 'an SDK call that never settles keeps the session unusable; close frees it' },
      onDone: { target: 'ready.remembered', actions: 'dropAdmission' },
      always: { guard: 'hasClosers', target: 'closing.abortingAdmission', actions: 'stamp' },
      on: {
        PROMPT: { actions: { type: 'reply', params: ({ event }) => [answer([event.requestId], 'session_running')] } },
        ABORT: {
          actions: {
            type: 'reply',
            params: ({ context, event }) => [viewFor([event.requestId], context, restingState(context))],
          },
        },
        CLOSE: {
          target: 'closing.abortingAdmission',
          actions: ['stamp', { type: 'addCloser', params: ({ event }) => event }],
        },
        STOP: { target: 'closing.disposing', actions: 'stamp' },
      },
      states: {
        prompt: {
          initial: 'unsettled',
          description: 'The submitted prompt.',
          states: {
            unsettled: {
              description: 'It may still start; nothing of it becomes public.',
              meta: { rests: 'see quarantined' },
              invoke: {
                id: 'settlePrompt',
                src: 'settlePrompt',
                input: ({ context }) => admissionOf(context),
                onDone: 'settled',
                onError: 'settled',
              },
            },
            settled: { type: 'final', description: 'It can no longer start.' },
          },
        },
        abort: {
          initial: 'attempting',
          description: 'The abort of that prompt.',
          states: {
            attempting: {
              description: 'One attempt.',
              meta: { rests: 'see quarantined' },
              invoke: {
                id: 'abortQuarantined',
                src: 'abortTurn',
                input: ({ context }) => admissionOf(context),
                onDone: 'settled',
                onError: 'settled',
              },
            },
            settled: { type: 'final', description: 'It can no longer hit a later turn.' },
          },
        },
      },
    },

    closing: {
      description: 'Terminal in all but name: nothing is accepted any more.',
      initial: 'disposing',
      on: {
        PROMPT: { actions: { type: 'reply', params: ({ event }) => [answer([event.requestId], 'prompt_rejected')] } },
        ABORT: {
          actions: {
            type: 'reply',
            params: ({ context, event }) => [viewFor([event.requestId], context, 'closing')],
          },
        },
        CLOSE: { actions: { type: 'addCloser', params: ({ event }) => event } },
      },
      states: {
        abortingAdmission: {
          description: 'A prompt that never became a turn is stopped first.',
          invoke: {
            id: 'abortAdmission',
            src: 'abortTurn',
            input: ({ context }) => admissionOf(context),
            onDone: 'disposing',
            onError: 'disposing',
          },
          after: { closeAbortTimeout: 'disposing' },
        },
        disposing: {
          description: 'The handle is disposed, once.',
          invoke: {
            id: 'disposeSession',
            src: 'disposeSession',
            input: ({ context }) => ({ sessionId: context.id }),
            onDone: '#session.closed',
            onError: '#session.closed',
          },
          after: { disposeTimeout: '#session.closed' },
        },
      },
    },

    closed: {
      type: 'final',
      description: 'The registry keeps a tombstone.',
      entry: ['stamp', { type: 'reply', params: ({ context }) => [viewFor(context.closers, context, 'closed')] }],
    },
    discarded: { type: 'final', description: 'It never became public; nothing is remembered.' },
  },
  output: ({ context }) =>
    context.selection === null ? { kind: 'discarded' } : { kind: 'closed', session: sessionRecord(context, 'closed') },
});
