/** Two small charts that the kit's own tests run on. */
import { assign, fromPromise, sendTo, setup, spawnChild, stopChild } from 'xstate';

type JobEvent = { readonly type: 'GO'; readonly text: string } | { readonly type: 'CLOSE' };
export interface Work {
  readonly ok: boolean;
}

const unprovided = () => Promise.reject(new Error('not provided'));

/** Invoked work, a deadline, a guard with params, an `always`, a transition that ignores on purpose. */
export const jobMachine = setup({
  types: {
    context: {} as { readonly name: string; readonly failures: number },
    events: {} as JobEvent,
    input: {} as { readonly name: string },
  },
  actors: { work: fromPromise<Work>(unprovided) },
  delays: { workTimeout: 1_000, closeTimeout: 200 },
  guards: { succeeded: (_, params: Work) => params.ok, tired: ({ context }) => context.failures >= 2 },
  actions: { noteFailure: assign({ failures: ({ context }) => context.failures + 1 }) },
}).createMachine({
  id: 'job',
  description: 'One job at a time.',
  meta: { guarantees: ['A job ends by its deadline.'] },
  options: { maxIterations: 100 },
  context: ({ input }) => ({ name: input.name, failures: 0 }),
  initial: 'idle',
  states: {
    idle: {
      description: 'Waits.',
      meta: { rests: 'nobody has to ask', requirements: ['J1'] },
      on: { GO: 'working', CLOSE: 'closing' },
    },
    working: {
      description: 'The work is under way.',
      invoke: {
        id: 'work',
        src: 'work',
        onDone: [
          { guard: { type: 'succeeded', params: ({ event }) => event.output }, target: 'idle' },
          { target: 'judging', actions: 'noteFailure' },
        ],
        onError: { target: 'judging', actions: 'noteFailure' },
      },
      after: { workTimeout: { target: 'judging', actions: 'noteFailure' } },
      on: { CLOSE: 'closing', GO: {} },
    },
    judging: {
      description: 'Is it worth another try?',
      always: [{ guard: 'tired', target: 'closing' }, { target: 'idle' }],
    },
    closing: { description: 'Lets go.', after: { closeTimeout: 'closed' } },
    closed: { description: 'Over.', type: 'final' },
  },
});

type PoolEvent =
  | { readonly type: 'ADD'; readonly id: string }
  | { readonly type: 'POKE'; readonly id: string }
  | { readonly type: `xstate.${'done' | 'error'}.actor.${string}`; readonly actorId: string };

/** Spawns jobs by id: partial wildcards, and cases that depend on the snapshot. */
export const poolMachine = setup({
  types: { context: {} as { readonly ids: readonly string[] }, events: {} as PoolEvent },
  actors: { job: jobMachine },
  guards: { isNew: ({ context }, params: { readonly id: string }) => !context.ids.includes(params.id) },
  actions: {
    add: assign({ ids: ({ context }, params: { readonly id: string }) => [...context.ids, params.id] }),
    forget: assign({
      ids: ({ context }, params: { readonly actorId: string }) => context.ids.filter((id) => id !== params.actorId),
    }),
  },
}).createMachine({
  id: 'pool',
  description: 'Jobs by id.',
  meta: { guarantees: ['Every job that is open has an actor.'] },
  options: { maxIterations: 100 },
  context: { ids: [] },
  initial: 'open',
  states: {
    open: {
      description: 'Takes jobs.',
      meta: { rests: 'lives as long as its owner' },
      on: {
        ADD: {
          guard: { type: 'isNew', params: ({ event }) => event },
          actions: [
            { type: 'add', params: ({ event }) => event },
            spawnChild('job', { id: ({ event }) => event.id, input: { name: 'pooled' } }),
          ],
        },
        POKE: {
          actions: sendTo(({ self, event }) => self.getSnapshot().children[event.id] ?? self, {
            type: 'GO',
            text: 'poked',
          }),
        },
        'xstate.done.actor.*': {
          actions: [{ type: 'forget', params: ({ event }) => event }, stopChild(({ event }) => event.actorId)],
        },
        'xstate.error.actor.*': {
          actions: { type: 'forget', params: ({ event }) => event },
        },
      },
    },
  },
});
