/**
 * Launcher: one box of one writer, from the claim on the writer to the exit
 * status. Until the box is asked for, a signal ends it on the spot; from then on
 * nothing ends it but the end of the box, which has its grace and then is removed.
 */
import { launcherSetup, resultOf } from './launcher.setup.ts';

export const launcherMachine = launcherSetup.createMachine({
  id: 'launcher',
  description: 'One start of one writer, and its box.',
  meta: {
    guarantees: [
      'Nothing is started before the writer is claimed, found ready, and all that was abandoned is gone.',
      'A provider that does not answer holds the start for 5 s; then it goes on with what this start has copied.',
      'No box is started after a signal, and a start that is under way is never cut off halfway.',
      'The end of stdin or a signal gives the box 20 s to end by itself; then it is removed, once.',
      'The first signal decides the exit status; without one the box does.',
      'It ends only with its box, or says that a box is left.',
    ],
  },
  options: { maxIterations: 100 },
  context: { signalled: null, ended: null, refusal: null },
  output: ({ context }) => resultOf(context),
  initial: 'preparing',
  states: {
    preparing: {
      description: 'Step by step to a box; nothing of it exists yet.',
      meta: { rests: 'the adapter bounds every step, and a signal ends all of them' },
      initial: 'admitting',
      on: { SIGNAL: { target: 'signalled', actions: { type: 'noteSignal', params: ({ event }) => event } } },
      states: {
        admitting: {
          description: 'At the same time: the lock is another program’s work.',
          type: 'parallel',
          onDone: 'clearing',
          states: {
            claim: {
              description: 'One box of a writer at a time, and none while setup works on it.',
              initial: 'claiming',
              states: {
                claiming: {
                  description: 'The writer’s lock is asked for; nobody is waited for.',
                  invoke: {
                    id: 'claim',
                    src: 'claim',
                    onDone: [
                      { guard: { type: 'isHeld', params: ({ event }) => event.output }, target: 'claimed' },
                      {
                        guard: { type: 'isBusy', params: ({ event }) => event.output },
                        target: '#launcher.refused',
                        actions: { type: 'refuse', params: { code: 'writer_busy' } },
                      },
                      {
                        target: '#launcher.refused',
                        actions: { type: 'refuse', params: { code: 'writer_lock_unavailable' } },
                      },
                    ],
                    onError: {
                      target: '#launcher.refused',
                      actions: { type: 'refuse', params: { code: 'writer_lock_unavailable' } },
                    },
                  },
                },
                claimed: { type: 'final', description: 'Until this process ends.' },
              },
            },
            check: {
              description: 'Only what has been accepted, as it was accepted.',
              initial: 'checking',
              states: {
                checking: {
                  description: 'Journal and acceptance are read.',
                  invoke: {
                    id: 'check',
                    src: 'check',
                    onDone: [
                      { guard: { type: 'succeeded', params: ({ event }) => event.output }, target: 'checked' },
                      {
                        target: '#launcher.refused',
                        actions: {
                          type: 'refuseAs',
                          params: ({ event }) => ({ outcome: event.output, otherwise: 'writer_not_ready' }),
                        },
                      },
                    ],
                    onError: {
                      target: '#launcher.refused',
                      actions: { type: 'refuse', params: { code: 'writer_not_ready' } },
                    },
                  },
                },
                checked: { type: 'final', description: 'It may be started.' },
              },
            },
          },
        },
        clearing: {
          description: 'What killed processes have left of holds and marks goes.',
          invoke: {
            id: 'clear',
            src: 'clear',
            onDone: [
              { guard: { type: 'succeeded', params: ({ event }) => event.output }, target: 'opening' },
              { target: '#launcher.refused', actions: { type: 'refuse', params: { code: 'layout_unreadable' } } },
            ],
            onError: {
              target: '#launcher.refused',
              actions: { type: 'refuse', params: { code: 'layout_unreadable' } },
            },
          },
        },
        opening: {
          description: 'Podman’s own state, for this boot.',
          invoke: {
            id: 'open',
            src: 'open',
            onDone: [
              { guard: { type: 'succeeded', params: ({ event }) => event.output }, target: 'reaping' },
              {
                target: '#launcher.refused',
                actions: {
                  type: 'refuseAs',
                  params: ({ event }) => ({ outcome: event.output, otherwise: 'state_directory_unusable' }),
                },
              },
            ],
            onError: {
              target: '#launcher.refused',
              actions: { type: 'refuse', params: { code: 'state_directory_unusable' } },
            },
          },
        },
        reaping: {
          description: 'Before the look at the directories: what an abandoned box could still do to them is over then.',
          invoke: {
            id: 'reap',
            src: 'reap',
            onDone: [
              { guard: { type: 'succeeded', params: ({ event }) => event.output }, target: 'renewing' },
              { target: '#launcher.refused', actions: { type: 'refuse', params: { code: 'abandoned_box_left' } } },
            ],
            onError: {
              target: '#launcher.refused',
              actions: { type: 'refuse', params: { code: 'abandoned_box_left' } },
            },
          },
        },
        renewing: {
          description:
            'The writer’s credentials, after all that may take long: they are fresh when the box starts. ' +
            'They are copied before a provider is asked, and a renewal that takes longer goes on by itself.',
          after: { renewalPatience: 'planning' },
          invoke: {
            id: 'renew',
            src: 'renew',
            onDone: [
              { guard: { type: 'succeeded', params: ({ event }) => event.output }, target: 'planning' },
              { target: '#launcher.refused', actions: { type: 'refuse', params: { code: 'credentials_unavailable' } } },
            ],
            onError: {
              target: '#launcher.refused',
              actions: { type: 'refuse', params: { code: 'credentials_unavailable' } },
            },
          },
        },
        planning: {
          description: 'The look at the writer’s directories, just before they are mounted.',
          invoke: {
            id: 'plan',
            src: 'plan',
            onDone: [
              { guard: { type: 'succeeded', params: ({ event }) => event.output }, target: '#launcher.starting' },
              {
                target: '#launcher.refused',
                actions: {
                  type: 'refuseAs',
                  params: ({ event }) => ({ outcome: event.output, otherwise: 'layout_unreadable' }),
                },
              },
            ],
            onError: {
              target: '#launcher.refused',
              actions: { type: 'refuse', params: { code: 'layout_unreadable' } },
            },
          },
        },
      },
    },

    starting: {
      description:
        'Podman’s client is being started. A signal waits: a start cut off halfway would leave parts of a box.',
      meta: { rests: 'starting two processes waits for nobody' },
      on: { SIGNAL: { actions: { type: 'noteSignal', params: ({ event }) => event } } },
      invoke: {
        id: 'start',
        src: 'start',
        onDone: [
          { guard: { type: 'startedAfterSignal', params: ({ event }) => event.output }, target: 'boxed.ending' },
          { guard: { type: 'succeeded', params: ({ event }) => event.output }, target: 'boxed' },
          { guard: 'wasSignalled', target: 'signalled' },
          { target: 'refused', actions: { type: 'refuse', params: { code: 'box_not_started' } } },
        ],
        // Nobody knows what there is.
        onError: { target: 'left', actions: { type: 'refuse', params: { code: 'box_left' } } },
      },
    },

    boxed: {
      description: 'There is a box, or Podman’s client is making it; nothing but its end is the end.',
      initial: 'running',
      on: { SIGNAL: { actions: { type: 'noteSignal', params: ({ event }) => event } } },
      invoke: {
        id: 'box',
        src: 'box',
        onDone: [
          {
            guard: { type: 'isRetained', params: ({ event }) => event.output },
            target: 'left',
            actions: { type: 'refuse', params: { code: 'box_left' } },
          },
          { guard: 'wasSignalled', target: 'signalled' },
          {
            guard: { type: 'neverRan', params: ({ event }) => event.output },
            target: 'refused',
            actions: { type: 'refuse', params: { code: 'box_not_started' } },
          },
          { target: 'ended', actions: { type: 'noteEnd', params: ({ event }) => event.output } },
        ],
        onError: { target: 'left', actions: { type: 'refuse', params: { code: 'box_left' } } },
      },
      states: {
        running: {
          description: 'The server in the box serves its client.',
          // A broken child chart breaks this one too, and the root's observer removes the box.
          meta: { rests: 'until the client leaves, a signal comes or the server ends', escalates: ['credentials'] },
          invoke: [
            // Unwatched, the box could outlive its client.
            { id: 'watchInput', src: 'watchInput', onError: 'ending' },
            { id: 'credentials', src: 'credentials' },
          ],
          on: {
            INPUT_ENDED: 'ending',
            SIGNAL: { target: 'ending', actions: { type: 'noteSignal', params: ({ event }) => event } },
          },
        },
        ending: {
          description: 'Its stdin has ended: the server closes its sessions and ends by itself.',
          entry: 'endInput',
          after: { graceTimeout: 'removing' },
        },
        removing: {
          description: 'It has had its time; it is removed.',
          meta: { rests: 'the watchdog tries a bounded number of times, and then says that the box is left' },
          entry: 'removeBox',
        },
      },
    },

    refused: { type: 'final', description: 'No box has run; the code says why.' },
    signalled: { type: 'final', description: 'A signal has ended it, and nothing of a box is there.' },
    ended: { type: 'final', description: 'The server has ended, and its box is gone.' },
    left: { type: 'final', description: 'Nobody can say that the box is gone; the next start looks for it.' },
  },
});
