/** What is promised on the end of the process, whatever the chart looks like. */
import { processMachine } from '../../../src/machines/process/process.machine.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import {
  branchOn,
  breaches,
  edit,
  type Requirement,
  requirementSuite,
  unheard,
  unique,
} from '../../kit/requirement-suite.ts';
import { describeState, describeTriple, isTimer, Reachable, statusOf } from '../../kit/requirements.ts';
import { model } from './domain.ts';

type Process = typeof processMachine;
type State = Reachable<Process>['states'][number];

const PROCESS_MS = 15_000;
const SIGINT = { type: 'SIGNAL', status: 130 } as const;
const SIGTERM = { type: 'SIGNAL', status: 143 } as const;
const END = { type: 'END' } as const;
const DEFECT = { type: 'DEFECT' } as const;
/** What may start the shutdown, with the status it stands for. */
const TRIGGERS = [
  [END, 0],
  [SIGINT, 130],
  [SIGTERM, 143],
  [DEFECT, 1],
] as const;

const explore = (machine: Process) => new Reachable(model(machine));
const over = (state: unknown) => statusOf(state) === 'done';
const isStopping = (state: State) => state.matches({ live: 'stopping' });
const serves = (state: State) => statusOf(state) === 'active' && !isStopping(state);
const after = (state: State, event: Parameters<typeof effectsOf>[1]) =>
  effectsOf(state, event).state as unknown as State;

const requirements: Requirement<Process>[] = [
  {
    says: 'END, a signal or a defect starts the shutdown from everywhere, and deadlines alone then end it',
    findings: (chart) => {
      const open = new Set(chart.avoiding(over, isTimer).filter(isStopping).map(describeState));
      return unique([
        ...[...open].map((where) => `${where} may last`),
        ...chart
          .active()
          .filter(serves)
          .flatMap((state) =>
            TRIGGERS.filter(([event]) => !isStopping(after(state, event))).map(
              ([{ type }]) => `${describeState(state)} ignores ${type}`,
            ),
          ),
        ...chart.triples
          .filter(({ state, nextState }) => serves(state) && isStopping(nextState))
          .filter(
            ({ state, event }) => !effectsOf(state, event).deadlines.some(({ delayMs }) => delayMs === PROCESS_MS),
          )
          .map((triple) => `${describeTriple(triple)} has no deadline of ${PROCESS_MS} ms`),
      ]);
    },
    brokenBy: {
      'stopping has no deadline': edit((at) => drop(at('live.stopping'), 'after')),
      'END is only heard while serving': edit((at) => {
        const on = at('live').on ?? {};
        at('live.serving').on = { END: { ...(on['END'] as object), target: 'stopping' } };
        drop(on, 'END');
      }),
      'a signal is not heard': edit((at) => drop(at('live').on, 'SIGNAL')),
      'a deadline only begins with the transport': edit((at) => {
        at('live.stopping.closing').after = at('live.stopping').after ?? {};
        drop(at('live.stopping'), 'after');
      }),
    },
  },
  {
    says: 'the first trigger decides the status: END 0, a signal its own, a defect 1',
    findings: (chart) =>
      unique([
        ...chart
          .active()
          .filter(serves)
          .flatMap((state) =>
            TRIGGERS.filter(([event, status]) => after(state, event).context.status !== status).map(
              ([{ type }]) => `${type} in ${describeState(state)}: ${after(state, { type }).context.status}`,
            ),
          ),
        ...chart.triples
          .filter(({ state, nextState }) => isStopping(state) && nextState.context.status !== state.context.status)
          .map((triple) => `${describeTriple(triple)} changes the status`),
        ...chart.states
          .filter((state) => over(state) && state.output?.status !== state.context.status)
          .map(describeState),
      ]),
    brokenBy: {
      'a later signal decides again': edit((at) => {
        const second = branchOn(at('live.stopping'), 'SIGNAL');
        at('live.stopping').on = {
          END: {},
          DEFECT: {},
          SIGNAL: [second, { actions: branchOn(at('live'), 'SIGNAL').actions }],
        };
      }),
      'END after a signal decides again': edit((at) => drop(at('live.stopping').on, 'END')),
      'a signal is forgotten': edit((at) => {
        at('live').on = { ...at('live').on, SIGNAL: { target: '.stopping', actions: 'countSignal' } };
      }),
      'the status is never told': (machine) => edit<Process>((at) => drop(at(), 'output'))(machine),
    },
  },
  {
    says: 'a registry that ends unasked is a defect: status 1',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ state, event }) => serves(state) && event.type === 'xstate.done.actor.registry'),
        ({ nextState }) => nextState.context.status !== 1 || serves(nextState),
      ),
    brokenBy: {
      'it is taken for a normal end': edit((at) => {
        invocation(at('live'), 'registry').onDone = '.stopping.closing';
      }),
    },
  },
  {
    says: 'a signal that comes a second time ends the process at once; one after END does not',
    findings: (chart) =>
      unique([
        ...chart
          .active()
          .filter(serves)
          .flatMap((state) => [
            ...(over(after(after(state, SIGTERM), SIGINT))
              ? []
              : [`two signals in ${describeState(state)} are survived`]),
            ...(over(after(after(state, END), SIGINT))
              ? [`one signal after END in ${describeState(state)} kills`]
              : []),
          ]),
        ...chart
          .active()
          .filter(isStopping)
          .flatMap((state) => {
            const first = after(state, SIGINT);
            const isSecond = state.context.signals > 0;
            if (isSecond) return over(first) ? [] : [`${describeState(state)} survives a second signal`];
            if (over(first)) return [`${describeState(state)} dies of the first signal`];
            return over(after(first, SIGTERM)) ? [] : [`${describeState(first)} survives a second signal`];
          }),
      ]),
    brokenBy: {
      'a second one changes nothing': edit((at) => {
        at('live.stopping').on = { ...at('live.stopping').on, SIGNAL: {} };
      }),
      'the first is not counted': edit((at) => {
        const first = branchOn(at('live'), 'SIGNAL');
        first.actions = first.actions.slice(0, 1);
      }),
      'END counts as a signal': edit((at) => {
        branchOn(at('live'), 'END').actions.push('countSignal');
      }),
      'only draining hears it': edit((at) => {
        at('live.stopping.draining').on = { SIGNAL: at('live.stopping').on?.['SIGNAL'] };
        at('live.stopping').on = { END: {}, DEFECT: {}, SIGNAL: {} };
      }),
    },
  },
  {
    says: 'shutdown tells the registry once, closes the transport once the sessions are gone, and is never undone',
    findings: (chart) =>
      unique([
        ...chart.triples.flatMap((triple) => {
          const { sent, spawned } = effectsOf(triple.state, triple.event);
          const stops = sent.filter(({ to, event }) => to === 'registry' && event.type === 'STOP').length;
          const begins =
            serves(triple.state) && isStopping(triple.nextState) && triple.event.type !== 'xstate.done.actor.registry';
          const closes = spawned.filter(({ src }) => src === 'closeTransport').length;
          const isDone = triple.event.type === 'xstate.done.actor.registry';
          return [
            ...(stops === (begins ? 1 : 0) ? [] : [`${describeTriple(triple)}: ${stops} STOP`]),
            ...(closes === (isDone ? 1 : 0) ? [] : [`${describeTriple(triple)}: ${closes} closeTransport`]),
            ...(isStopping(triple.state) && serves(triple.nextState) ? [`${describeTriple(triple)}: revived`] : []),
          ];
        }),
      ]),
    brokenBy: {
      'the registry is not told': edit((at) => drop(at('live.stopping.draining'), 'entry')),
      'the transport goes first': edit((at) => {
        at('live.stopping').initial = 'closing';
      }),
      'a deadline serves again': edit((at) => {
        at('live.stopping').after = { processTimeout: '#process.live.serving' };
        drop(at('live').on, 'SIGNAL'); // or the signals would be counted for ever
      }),
      'a late END starts it again': edit((at) => drop(at('live.stopping').on, 'END')),
      'READY serves again': edit((at) => {
        at('live').on = { ...at('live').on, READY: '.serving' };
        drop(at('live').on, 'SIGNAL');
      }),
    },
  },
  {
    says: 'the end of the transport is heard, however that goes',
    findings: (chart) => unheard(chart, { closeTransport: [undefined] }),
    brokenBy: {
      'a closed transport is waited for': edit((at) => {
        drop(invocation(at('live.stopping.closing'), 'closeTransport'), 'onDone');
      }),
      'a broken transport is waited for': edit((at) => {
        drop(invocation(at('live.stopping.closing'), 'closeTransport'), 'onError');
      }),
    },
  },
];

requirementSuite(processMachine, explore, requirements);
