/**
 * Delivery: turn events on their way to the disk, one job at a time. A root of
 * its own beside the session charts: whatever becomes of it, no turn and no
 * request depends on it. A disk that hangs keeps one job and gets no second one.
 */
import { assign, setup, stateIn } from 'xstate';
import type { EndedTurn, SpoolOutcome } from '../../ports/events.ts';
import { unprovidedPromise } from '../shared/unprovided.ts';
import { EVENT_DEADLINES_MS } from './deadlines.ts';
import {
  currentJob,
  type DeliveryContext,
  type DropCode,
  isWrite,
  type Job,
  lossOf,
  MAX_WAITING_JOBS,
  NEW_DELIVERY,
  withoutSession,
} from './delivery.context.ts';

export type DeliveryEvent =
  | { readonly type: 'OPEN' }
  | { readonly type: 'TURN_ENDED'; readonly turn: EndedTurn }
  | { readonly type: 'SESSION_CLOSED'; readonly sessionId: string }
  | { readonly type: 'STOP' };

type Count = { readonly count: number };

const deliverySetup = setup({
  types: { context: {} as DeliveryContext, events: {} as DeliveryEvent },
  actors: {
    work: unprovidedPromise<SpoolOutcome, Job>('work'),
    close: unprovidedPromise<void, void>('close'),
  },
  delays: EVENT_DEADLINES_MS,
  guards: {
    jobWaits: ({ context }) => context.waiting.length > 0,
    hasRoom: ({ context }) => context.waiting.length < MAX_WAITING_JOBS,
    ending: stateIn({ working: 'ending' }),
    isLoss: ({ context }, { ok }: SpoolOutcome) => !ok && lossOf(currentJob(context)) !== undefined,
    losesOnError: ({ context }) => lossOf(currentJob(context)) !== undefined,
  },
  actions: {
    /** Provided by the wiring: one diagnostic line. */
    report: (_, _loss: { readonly code: DropCode; readonly dropped: number }) => {},
    begin: assign({ current: (_, job: Job) => job }),
    beginNext: assign(({ context }) => ({ current: context.waiting[0] ?? null, waiting: context.waiting.slice(1) })),
    enqueue: assign({ waiting: ({ context }, job: Job) => [...context.waiting, job] }),
    withdraw: assign({
      waiting: ({ context }, { sessionId }: { readonly sessionId: string }) =>
        withoutSession(context.waiting, sessionId),
    }),
    dropWaiting: assign({ waiting: [] }),
    finishJob: assign({ current: null }),
    countDropped: assign({ dropped: ({ context }, { count }: Count) => context.dropped + count }),
  },
});

/** A job has failed: the loss is counted, and told. */
const tellLoss = [
  {
    type: 'countDropped',
    params: ({ context }: { context: DeliveryContext }) => ({ count: lossOf(currentJob(context))?.count ?? 0 }),
  },
  {
    type: 'report',
    params: ({ context }: { context: DeliveryContext }) => ({
      code: lossOf(currentJob(context))?.code ?? 'write_failed',
      dropped: context.dropped,
    }),
  },
  'finishJob',
] as const;

const tellDropped = (code: DropCode) =>
  [
    { type: 'countDropped', params: { count: 1 } },
    {
      type: 'report',
      params: ({ context }: { context: DeliveryContext }) => ({ code, dropped: context.dropped }),
    },
  ] as const;

export const deliveryMachine = deliverySetup.createMachine({
  id: 'delivery',
  description: 'The turn events of one server, on their way to its directory in the spool.',
  meta: {
    guarantees: [
      'A disk that hangs gets nothing more until it has answered.',
      'Each turn that ends is delivered, waits, or is counted as dropped and told, until the server ends.',
      'Nothing of a closed session waits for the disk.',
      'A stop and its deadlines always end it.',
    ],
  },
  options: { maxIterations: 100 },
  context: NEW_DELIVERY,
  initial: 'idle',
  states: {
    idle: {
      description: 'The disk has nothing to do.',
      always: { guard: 'jobWaits', target: 'working', actions: 'beginNext' },
      on: {
        OPEN: { target: 'working', actions: { type: 'begin', params: { kind: 'open' } } },
        TURN_ENDED: {
          target: 'working',
          actions: { type: 'begin', params: ({ event }) => ({ kind: 'write', turn: event.turn }) },
        },
        SESSION_CLOSED: {
          target: 'working',
          actions: { type: 'begin', params: ({ event }) => ({ kind: 'forget', sessionId: event.sessionId }) },
        },
        STOP: 'closing',
      },
      after: { sweepInterval: { target: 'working', actions: { type: 'begin', params: { kind: 'sweep' } } } },
    },

    working: {
      description: 'The disk works on one job; later ones wait.',
      initial: 'timely',
      invoke: {
        id: 'work',
        src: 'work',
        input: ({ context }) => currentJob(context),
        onDone: [
          { guard: 'ending', target: 'closing' },
          { guard: { type: 'isLoss', params: ({ event }) => event.output }, target: 'idle', actions: [...tellLoss] },
          { target: 'idle', actions: 'finishJob' },
        ],
        onError: [
          { guard: 'ending', target: 'closing' },
          { guard: 'losesOnError', target: 'idle', actions: [...tellLoss] },
          { target: 'idle', actions: 'finishJob' },
        ],
      },
      states: {
        timely: {
          description: 'The job is within its time.',
          after: {
            deliveryTimeout: {
              target: 'stalled',
              actions: [
                {
                  type: 'countDropped',
                  params: ({ context }) => ({ count: context.waiting.filter(isWrite).length }),
                },
                {
                  type: 'report',
                  params: ({ context }) => ({ code: 'spool_stalled', dropped: context.dropped }),
                },
                'dropWaiting',
              ],
            },
          },
          on: {
            TURN_ENDED: [
              {
                guard: 'hasRoom',
                actions: { type: 'enqueue', params: ({ event }) => ({ kind: 'write', turn: event.turn }) },
              },
              { actions: [...tellDropped('queue_full')] },
            ],
            SESSION_CLOSED: { actions: { type: 'withdraw', params: ({ event }) => event } },
            STOP: { target: 'ending', actions: 'dropWaiting' },
          },
        },
        stalled: {
          description: 'The disk hangs: it gets nothing more until it has answered.',
          meta: { rests: 'a second call would hold one more thread of the server’s few' },
          on: {
            TURN_ENDED: { actions: [...tellDropped('spool_stalled')] },
            // What it leaves goes with age, or with the server.
            SESSION_CLOSED: {},
            STOP: '#delivery.closed',
          },
        },
        ending: {
          description: 'The server ends: the job is the last one.',
          after: { spoolCloseTimeout: '#delivery.closed' },
        },
      },
    },

    closing: {
      description: 'The directory is removed.',
      invoke: { id: 'close', src: 'close', onDone: 'closed', onError: 'closed' },
      after: { spoolCloseTimeout: 'closed' },
    },
    closed: { type: 'final', description: 'Nothing is left of it, or the next server removes it.' },
  },
});
