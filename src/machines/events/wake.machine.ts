/**
 * Wake: one waiter for the event of one turn. It ends with the event, with its
 * budget, with its client, or when no server is left that could deliver one.
 * What it finds is a hint and no more: the client reads the turn itself.
 */
import { setup } from 'xstate';
import type { ClaimOutcome, LookOutcome, SpoolOutcome, WakeTarget } from '../../ports/events.ts';
import { unprovidedCallback, unprovidedPromise } from '../shared/unprovided.ts';
import { WAKE_DEADLINES_MS } from './deadlines.ts';

export type WakeEvent =
  /** Something in the spool is not as it was. */
  | { readonly type: 'CHANGED' }
  /** The process to be woken is gone. */
  | { readonly type: 'CLIENT_GONE' };

const targetOf = ({ context }: { context: WakeTarget }): WakeTarget => context;

const wakeSetup = setup({
  types: { context: {} as WakeTarget, events: {} as WakeEvent, input: {} as WakeTarget },
  actors: {
    watchSpool: unprovidedCallback<{ type: 'CHANGED' }, void>('watchSpool'),
    watchClient: unprovidedCallback<{ type: 'CLIENT_GONE' }, void>('watchClient'),
    look: unprovidedPromise<LookOutcome, WakeTarget>('look'),
    claim: unprovidedPromise<ClaimOutcome, WakeTarget>('claim'),
    notify: unprovidedPromise<SpoolOutcome, WakeTarget>('notify'),
  },
  delays: WAKE_DEADLINES_MS,
  guards: {
    found: (_, params: { readonly seen: LookOutcome }) => params.seen === 'found',
    deserted: (_, params: { readonly seen: LookOutcome }) => params.seen === 'deserted',
    claimed: (_, params: { readonly claim: ClaimOutcome }) => params.claim === 'claimed',
    told: (_, outcome: SpoolOutcome) => outcome.ok,
  },
});

export const wakeMachine = wakeSetup.createMachine({
  id: 'wake',
  description: 'One waiter for the event of one turn.',
  meta: {
    guarantees: [
      'The client is told only after the event was found and the turn claimed, and never twice.',
      'It ends with its client, wherever it waits, and by its deadlines whatever stays silent.',
      'A flood of changes makes it look no more often than its pause allows.',
    ],
  },
  options: { maxIterations: 100 },
  context: ({ input }) => input,
  initial: 'waiting',
  states: {
    waiting: {
      description: 'The event has not been seen.',
      initial: 'looking',
      invoke: [
        // Unwatched, the spool is still looked at again and again.
        { id: 'watchSpool', src: 'watchSpool', onError: {} },
        // Unwatched, the client might be outlived.
        { id: 'watchClient', src: 'watchClient', onError: 'orphaned' },
      ],
      on: { CLIENT_GONE: 'orphaned' },
      after: { wakeBudget: 'expired' },
      states: {
        looking: {
          description: 'One look at the spool.',
          invoke: {
            id: 'look',
            src: 'look',
            input: targetOf,
            onDone: [
              { guard: { type: 'found', params: ({ event }) => ({ seen: event.output }) }, target: '#wake.claiming' },
              { guard: { type: 'deserted', params: ({ event }) => ({ seen: event.output }) }, target: 'deserted' },
              { target: 'resting' },
            ],
            onError: 'resting',
          },
        },
        resting: {
          description: 'The turn runs on.',
          after: { pollInterval: 'looking' },
          on: { CHANGED: 'settling' },
        },
        settling: {
          description: 'Something has changed; more may follow at once.',
          after: { settleDelay: 'looking' },
        },
        deserted: {
          description: 'No server delivers events here; one may be about to.',
          after: { desertedDelay: 'lookingAgain' },
          on: { CHANGED: 'settling' },
        },
        lookingAgain: {
          description: 'The look that decides whether waiting makes sense.',
          invoke: {
            id: 'lookAgain',
            src: 'look',
            input: targetOf,
            onDone: [
              { guard: { type: 'found', params: ({ event }) => ({ seen: event.output }) }, target: '#wake.claiming' },
              {
                guard: { type: 'deserted', params: ({ event }) => ({ seen: event.output }) },
                target: '#wake.expired',
              },
              { target: 'resting' },
            ],
            onError: 'resting',
          },
        },
      },
    },

    claiming: {
      description: 'The event is there; one waiter alone may tell of it.',
      invoke: {
        id: 'claim',
        src: 'claim',
        input: targetOf,
        onDone: [
          { guard: { type: 'claimed', params: ({ event }) => ({ claim: event.output }) }, target: 'notifying' },
          { target: 'expired' },
        ],
        onError: 'expired',
      },
      after: { claimTimeout: 'expired' },
    },
    notifying: {
      description: 'The client is told.',
      invoke: {
        id: 'notify',
        src: 'notify',
        input: targetOf,
        onDone: [
          { guard: { type: 'told', params: ({ event }) => event.output }, target: 'found' },
          { target: 'failed' },
        ],
        onError: 'failed',
      },
      after: { notifyTimeout: 'failed' },
    },

    found: { type: 'final', description: 'The client has the notice.' },
    expired: { type: 'final', description: 'The time is up, or there is nothing to tell.' },
    orphaned: { type: 'final', description: 'Nobody is left to be woken.' },
    failed: { type: 'final', description: 'The client did not take the notice.' },
  },
});
