/**
 * Process: from the first instruction to the exit status. The first trigger
 * decides the status; a signal that comes a second time ends it at once.
 */
import { assign, sendTo, setup, stateIn } from 'xstate';
import { registryMachine } from '../session/registry.machine.ts';
import { DEADLINES_MS } from '../shared/deadlines.ts';
import { unprovidedPromise } from '../shared/unprovided.ts';

export type ProcessEvent =
  /** The transport is connected. */
  | { readonly type: 'READY' }
  /** stdin ended, or the client's side of a pipe is gone. */
  | { readonly type: 'END' }
  /** `status` is 128 plus the signal's number. */
  | { readonly type: 'SIGNAL'; readonly status: number }
  /** A chart or an adapter broke its own rules. */
  | { readonly type: 'DEFECT' };

interface ProcessContext {
  readonly status: number;
  readonly signals: number;
}

export interface ProcessOutput {
  readonly status: number;
}

const DEFECT_STATUS = 1;

export const processMachine = setup({
  types: {
    context: {} as ProcessContext,
    events: {} as ProcessEvent,
    output: {} as ProcessOutput,
  },
  actors: {
    registry: registryMachine,
    closeTransport: unprovidedPromise<void, void>('closeTransport'),
  },
  delays: { processTimeout: DEADLINES_MS.processTimeout },
  guards: {
    stopping: stateIn({ live: 'stopping' }),
    secondSignal: ({ context }) => context.signals > 0,
  },
  actions: {
    decide: assign({ status: (_, params: { readonly status: number }) => params.status }),
    countSignal: assign({ signals: ({ context }) => context.signals + 1 }),
  },
}).createMachine({
  id: 'process',
  description: 'The server process and its one client.',
  meta: {
    guarantees: [
      'The end of stdin, a signal or a defect starts the shutdown from every state, and 15 s end it.',
      'What comes first decides the exit status.',
      'A signal that comes a second time ends the process at once.',
      'Sessions are told before the transport is closed, and a shutdown is never undone.',
    ],
  },
  options: { maxIterations: 100 },
  context: { status: 0, signals: 0 },
  initial: 'live',
  states: {
    live: {
      description: 'The registry runs.',
      // No onError: a broken registry breaks this chart too, and the root's observer ends the process.
      meta: { escalates: ['registry'] },
      initial: 'starting',
      invoke: {
        id: 'registry',
        src: 'registry',
        onDone: [
          { guard: 'stopping', target: '.stopping.closing' },
          // A registry that ends unasked has lost a session to a defect.
          { target: '.stopping.closing', actions: { type: 'decide', params: { status: DEFECT_STATUS } } },
        ],
      },
      states: {
        starting: {
          description: 'The transport is being connected; the client may already be gone.',
          meta: { rests: 'connecting a stdio transport does not wait for anything' },
          on: { READY: 'serving' },
        },
        serving: {
          description: 'Requests are answered.',
          meta: { rests: 'until the client leaves or a signal comes' },
        },
        stopping: {
          description: 'One bound for everything that is still to do.',
          initial: 'draining',
          after: { processTimeout: '#process.exited' },
          on: {
            END: {},
            DEFECT: {},
            SIGNAL: [{ guard: 'secondSignal', target: '#process.exited' }, { actions: 'countSignal' }],
          },
          states: {
            draining: {
              description: 'The registry closes its sessions.',
              entry: sendTo(() => 'registry', { type: 'STOP' }),
            },
            closing: {
              description: 'The transport is closed.',
              invoke: {
                id: 'closeTransport',
                src: 'closeTransport',
                onDone: '#process.exited',
                onError: '#process.exited',
              },
            },
          },
        },
      },
      on: {
        END: { target: '.stopping', actions: { type: 'decide', params: { status: 0 } } },
        SIGNAL: {
          target: '.stopping',
          actions: [{ type: 'decide', params: ({ event }) => event }, 'countSignal'],
        },
        DEFECT: { target: '.stopping', actions: { type: 'decide', params: { status: DEFECT_STATUS } } },
      },
    },
    exited: { type: 'final', description: 'The process ends with the status.' },
  },
  output: ({ context }) => ({ status: context.status }),
});
