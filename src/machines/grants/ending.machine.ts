/**
 * Ending: how the child of an external server is brought to its end. It may go
 * by itself at the end of its input, then it is asked, then it is killed; each
 * way gets a third of the bound for all of it.
 */
import { setup } from 'xstate';
import { DEADLINES_MS } from '../shared/deadlines.ts';
import { unprovidedPromise } from '../shared/unprovided.ts';

export const endingMachine = setup({
  actors: {
    endInput: unprovidedPromise<void, void>('endInput'),
    terminate: unprovidedPromise<void, void>('terminate'),
    kill: unprovidedPromise<void, void>('kill'),
  },
  delays: {
    externalEndTimeout: DEADLINES_MS.externalEndTimeout,
    externalTerminateTimeout: DEADLINES_MS.externalTerminateTimeout,
    externalKillTimeout: DEADLINES_MS.externalKillTimeout,
  },
}).createMachine({
  id: 'ending',
  description: 'The end of one child process, within a bound.',
  meta: {
    guarantees: [
      'The end of the input, SIGTERM and SIGKILL follow each other, each with its share of 4.5 s.',
      'A way that fails is followed by the next one, and deadlines alone bring the end.',
      'A child that has ended is left alone.',
    ],
  },
  options: { maxIterations: 100 },
  initial: 'finishing',
  states: {
    finishing: {
      description: 'Its input has ended; a server that keeps to the protocol goes by itself.',
      invoke: { id: 'endInput', src: 'endInput', onDone: 'ended', onError: 'terminating' },
      after: { externalEndTimeout: 'terminating' },
    },
    terminating: {
      description: 'SIGTERM has been sent.',
      invoke: { id: 'terminate', src: 'terminate', onDone: 'ended', onError: 'killing' },
      after: { externalTerminateTimeout: 'killing' },
    },
    killing: {
      description: 'SIGKILL has been sent; only the kernel can keep the child now.',
      invoke: { id: 'kill', src: 'kill', onDone: 'ended', onError: 'ended' },
      after: { externalKillTimeout: 'ended' },
    },
    ended: { type: 'final', description: 'The child has ended, or nobody waits for it any longer.' },
  },
});
