/**
 * Command: one command of a client, so that nothing of it outlives the run. Told
 * about once: when a look at the process table has shown that nothing of it lives,
 * or when it could not be ended. In the second case the chart goes on until it is,
 * because the guardian, and with it the lock, stays as long as the chart runs.
 */
import { commandSetup, newCommand, RETAINED, verdict } from './command.setup.ts';

export const commandMachine = commandSetup.createMachine({
  id: 'command',
  description: 'One guarded command and everything that it has started.',
  meta: {
    guarantees: [
      'Deadlines alone bring setup its answer, whatever the command does.',
      'A command has ended only when a look at the process table shows that nothing of it lives.',
      'SIGTERM comes first, SIGKILL after its deadline, also for what the command leaves behind.',
      'What could not be ended is tried again for ever, and the lock stays held.',
    ],
  },
  options: { maxIterations: 100 },
  context: ({ input }) => newCommand(input),
  initial: 'guarded',
  states: {
    guarded: {
      description: 'Something of the command may live.',
      invoke: {
        id: 'watch',
        src: 'watch',
        // It only fails when it begins; then nobody can say later how the command ended.
        onError: '.ending.terminating',
      },
      initial: 'live',
      states: {
        live: {
          description: 'The command may go on.',
          initial: 'spawning',
          after: {
            commandTimeout: {
              target: 'ending.terminating',
              actions: { type: 'note', params: { end: 'timed_out' } },
            },
          },
          on: {
            EXITED: {
              target: 'ending.checking',
              actions: { type: 'note', params: ({ event }) => ({ end: 'exited', code: event.code }) },
            },
            OVERFLOW: {
              target: 'ending.terminating',
              actions: { type: 'note', params: { end: 'output_too_large' } },
            },
            STOP: { target: 'ending.terminating', actions: { type: 'note', params: { end: 'interrupted' } } },
          },
          states: {
            spawning: {
              description: 'The command is being started in a process group of its own.',
              invoke: {
                id: 'spawn',
                src: 'spawn',
                onDone: [
                  { guard: { type: 'wasSpawned', params: ({ event }) => event.output }, target: 'running' },
                  {
                    guard: { type: 'wasNotFound', params: ({ event }) => event.output },
                    target: '#command.released',
                    actions: [
                      { type: 'note', params: { end: 'not_found' } },
                      { type: 'tell', params: { kind: 'not_found', code: null } },
                    ],
                  },
                  { target: '#command.guarded.ending.terminating' },
                ],
                onError: '#command.guarded.ending.terminating',
              },
            },
            running: { description: 'The command works.' },
          },
        },

        ending: {
          description: 'The command has ended or must end, with everything that it has started.',
          on: {
            // What is in the pipes when a process ends is read only then.
            OVERFLOW: { guard: 'exitedByItself', actions: { type: 'note', params: { end: 'output_too_large' } } },
            STOP: {},
          },
          initial: 'checking',
          states: {
            checking: {
              description: 'The command has ended by itself; it mostly leaves nothing behind.',
              invoke: {
                id: 'scan',
                src: 'scan',
                onDone: [
                  {
                    guard: { type: 'isClear', params: ({ event }) => event.output },
                    target: '#command.released',
                    actions: { type: 'tell', params: ({ context }) => verdict(context) },
                  },
                  { target: 'terminating' },
                ],
                onError: 'terminating',
              },
              after: { commandScanTimeout: 'terminating' },
            },

            terminating: {
              description: 'All of it is asked to end.',
              initial: 'signalling',
              after: { commandTerminateTimeout: 'killing' },
              states: {
                signalling: {
                  description: 'SIGTERM is being sent.',
                  invoke: { id: 'terminate', src: 'terminate', onDone: 'looking', onError: 'looking' },
                },
                looking: {
                  description: 'Has it ended yet?',
                  invoke: {
                    id: 'scan',
                    src: 'scan',
                    onDone: [
                      {
                        guard: { type: 'isClear', params: ({ event }) => event.output },
                        target: '#command.released',
                        actions: { type: 'tell', params: ({ context }) => verdict(context) },
                      },
                      { target: 'pausing' },
                    ],
                    onError: 'pausing',
                  },
                },
                pausing: {
                  description: 'Until the next look.',
                  after: { commandLookDelay: 'looking' },
                  on: { EXITED: 'looking' },
                },
              },
            },

            killing: {
              description: 'All of it is killed.',
              invoke: { id: 'kill', src: 'kill', onDone: 'scanning', onError: 'scanning' },
              after: { commandKillTimeout: 'scanning' },
            },

            scanning: {
              description: 'Does anything of it live?',
              invoke: {
                id: 'scan',
                src: 'scan',
                onDone: [
                  {
                    guard: { type: 'isClear', params: ({ event }) => event.output },
                    target: '#command.released',
                    actions: { type: 'tell', params: ({ context }) => verdict(context) },
                  },
                  { target: '#command.guarded.retained', actions: { type: 'tell', params: RETAINED } },
                ],
                onError: { target: '#command.guarded.retained', actions: { type: 'tell', params: RETAINED } },
              },
              after: {
                commandScanTimeout: {
                  target: '#command.guarded.retained',
                  actions: { type: 'tell', params: RETAINED },
                },
              },
            },
          },
        },

        retained: {
          description: 'Something of it lives, or nobody can tell. Setup knows; the lock stays until this is over.',
          initial: 'pausing',
          states: {
            pausing: {
              description: 'Until the next attempt.',
              after: { commandRetryDelay: 'killing' },
            },
            killing: {
              description: 'What is left of it is killed.',
              invoke: { id: 'kill', src: 'kill', onDone: 'scanning', onError: 'scanning' },
              after: { commandKillTimeout: 'scanning' },
            },
            scanning: {
              description: 'Does anything of it still live?',
              invoke: {
                id: 'scan',
                src: 'scan',
                onDone: [
                  { guard: { type: 'isClear', params: ({ event }) => event.output }, target: '#command.released' },
                  { target: 'pausing' },
                ],
                onError: 'pausing',
              },
              after: { commandScanTimeout: 'pausing' },
            },
          },
        },
      },
    },
    released: { type: 'final', description: 'Nothing of the command lives.' },
  },
});
