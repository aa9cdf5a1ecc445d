/** Credentials: the launcher's care for what its writer may use of them, while the box runs (docs/writers.md). */
import { setup } from 'xstate';
import type { StepOutcome } from '../../ports/writers/lifecycle.ts';
import { unprovidedPromise } from '../shared/unprovided.ts';
import { LAUNCHER_DELAYS_MS } from './launcher-deadlines.ts';

export const credentialsMachine = setup({
  actors: { renew: unprovidedPromise<StepOutcome, void>('renew') },
  delays: { renewalInterval: LAUNCHER_DELAYS_MS.renewalInterval },
}).createMachine({
  id: 'credentials',
  description: 'The credentials of one running writer.',
  meta: {
    guarantees: [
      'A minute lies between the start of the box, or the end of a renewal, and the next one.',
      'No two renewals run at the same time: one that the start did not wait for is joined.',
      'A renewal that fails is followed by the next one, and changes nothing for the box.',
    ],
  },
  options: { maxIterations: 100 },
  initial: 'resting',
  states: {
    resting: {
      description: 'What was copied last is good for longer than this takes.',
      after: { renewalInterval: 'renewing' },
    },
    renewing: {
      description: 'What is about to run out is renewed, and copied.',
      meta: { rests: 'the adapter bounds the provider’s answer; the chart that runs this one ends it' },
      invoke: { id: 'renew', src: 'renew', onDone: 'resting', onError: 'resting' },
    },
  },
});
