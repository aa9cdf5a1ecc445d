import { sessionMachine } from '../../../src/machines/session/session.machine.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import {
  branchOn,
  breaches,
  edit,
  firstOf,
  type Requirement,
  requirementSuite,
  unheard,
  unique,
} from '../../kit/requirement-suite.ts';
import { describeState, Reachable } from '../../kit/requirements.ts';
import { model } from './domain.ts';
import {
  allWalks,
  CLOSE,
  OUTCOMES,
  observed,
  over,
  publicState,
  type Session,
  STOP,
  type State,
  timersOf,
} from './walks.ts';

const DEADLINES_MS: Readonly<Record<string, number>> = {
  preflightTimeout: 5_000,
  closeAbortTimeout: 5_000,
  disposeTimeout: 5_000,
};

const explore = (machine: Session) => new Reachable(model(observed(machine)));
const isEndedByStop = (state: State) =>
  state.matches({ closing: 'disposing' }) || state.matches({ engaged: { ending: 'told' } });
const isRestless = (state: State) => ['idle', 'failed', 'running'].includes(publicState(state) ?? '');
const after = (state: State, event: Parameters<typeof effectsOf>[1]) =>
  effectsOf(state, event).state as unknown as State;
type Part = { target?: string; guard?: unknown; actions?: unknown[] };
const branches = (invoke: object) => (invoke as { onDone: Part[] }).onDone;

const requirements: Requirement<Session>[] = [
  {
    says: 'a session is admitted only after its start has passed; before that it can only be discarded',
    findings: (chart) =>
      unique([
        ...breaches(
          chart.triples.filter(({ state, nextState }) => !publicState(state) && publicState(nextState) !== undefined),
          ({ event, nextState }) =>
            event.type !== 'xstate.done.actor.start' ||
            !(event['output'] as { ok: boolean }).ok ||
            publicState(nextState) !== 'idle',
        ),
        ...chart
          .active()
          .filter((state) => !publicState(state) && !after(state, STOP).matches('discarded'))
          .map(describeState),
        ...chart.states
          .filter((state) => over(state) && (state.output?.kind === 'closed') !== state.matches('closed'))
          .map(describeState),
      ]),
    brokenBy: {
      'a refused start opens it': edit((at) => drop(branches(invocation(at('opening'), 'start'))[0], 'guard')),
      'a rejected start opens it': edit((at) => {
        invocation(at('opening'), 'start').onError = 'ready';
      }),
      'a stop lets it open': edit((at) => drop(at('opening').on, 'STOP')),
    },
  },
  {
    says: 'close is heard in every public state and aborts what is out first; stop disposes at once',
    findings: (chart) =>
      unique(
        chart
          .active()
          .filter((state) => publicState(state) !== undefined && isRestless(state))
          .flatMap((state) => {
            const closed = after(state, CLOSE);
            const tells = effectsOf(state, CLOSE).sent.some(({ event }) => event.type === 'END');
            return [
              ...(isEndedByStop(after(state, STOP)) ? [] : [`STOP in ${describeState(state)}`]),
              ...(state.matches('admitting') || publicState(closed) === 'closing'
                ? []
                : [`CLOSE in ${describeState(state)}`]),
              ...(state.matches('quarantined') && !('abortAdmission' in closed.children)
                ? [`CLOSE in ${describeState(state)} aborts nothing`]
                : []),
              ...('turn' in state.children && !tells
                ? [`CLOSE in ${describeState(state)} does not tell the turn`]
                : []),
            ];
          }),
      ),
    brokenBy: {
      'a session at rest does not stop': edit((at) => drop(at('ready').on, 'STOP')),
      'stop waits for the turn': edit((at) => {
        branchOn(at('engaged.running'), 'STOP').target = 'ending.asked';
      }),
      'a quarantined prompt is not aborted': edit((at) => {
        branchOn(at('quarantined'), 'CLOSE').target = 'closing.disposing';
      }),
      'the turn is not told': edit((at) => drop(at('engaged.ending.asked'), 'entry')),
      'quarantine does not close': edit((at) => drop(at('quarantined').on, 'CLOSE')),
    },
  },
  {
    says: 'nothing late revives a session that is closing or closed',
    findings: (chart) =>
      unique(
        chart.states
          .filter((state) => ['closing', 'closed'].includes(publicState(state) ?? ''))
          .flatMap((state) =>
            chart
              .follow(state)
              .filter(isRestless)
              .map((next) => `${describeState(state)} … ${describeState(next)}`),
          ),
      ),
    brokenBy: {
      'the end of a turn revives it': edit((at) => {
        const turn = branches(invocation(at('engaged'), 'turn'));
        turn.shift();
      }),
      'a settled abort revives it': edit((at) => {
        invocation(at('closing.abortingAdmission'), 'abortAdmission').onDone = '#session.ready';
      }),
      'a prompt revives it': edit((at) => {
        at('closing').on = { ...at('closing').on, PROMPT: at('ready').on?.['PROMPT'] };
      }),
    },
  },
  {
    says: 'the handle is disposed at most once, and always before a session counts as closed',
    findings: (_, machine) =>
      firstOf(
        (function* () {
          for (const { state, spawned, trail } of allWalks(machine, 1)) {
            const times = spawned['disposeSession'] ?? 0;
            if (times > 1 || (state.matches('closed') && times !== 1)) yield `${trail.join(' → ')}: ${times} disposals`;
          }
        })(),
      ),
    brokenBy: {
      'another close disposes again': edit((at) => {
        at('closing').on = {
          ...at('closing').on,
          CLOSE: { ...branchOn(at('closing'), 'CLOSE'), target: '.disposing', reenter: true },
        };
      }),
      'a deadline disposes again': edit((at) => {
        at('closing.disposing').after = { disposeTimeout: { target: 'disposing', reenter: true } };
      }),
      'a close in quarantine disposes nothing': edit((at) => {
        branchOn(at('quarantined'), 'CLOSE').target = 'closed';
      }),
    },
  },
  {
    says: 'the deadlines are those of the contract',
    findings: (chart) => {
      const begun = chart.triples.flatMap(({ state, event }) => effectsOf(state, event).deadlines);
      const named = new Map(begun.map(({ type, delayMs }) => [type.split('.')[2] ?? '', delayMs]));
      const waits = chart
        .active()
        .filter((state) => ['admitPrompt', 'abortAdmission', 'disposeSession'].some((id) => id in state.children));
      return [
        ...Object.keys(DEADLINES_MS)
          .filter((name) => named.get(name) !== DEADLINES_MS[name])
          .map((name) => `${name}: ${named.get(name)}`),
        ...unique(waits.filter((state) => timersOf(state).length !== 1).map(describeState)),
      ];
    },
    brokenBy: {
      'the preflight has another': edit((at) => {
        at('admitting').after = { disposeTimeout: at('admitting').after?.['preflightTimeout'] };
      }),
      'disposing has none': edit((at) => drop(at('closing.disposing'), 'after')),
    },
  },
  {
    says: 'a refused start is reported; a broken chart below is a defect, and is reported as that',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ event, nextState }) => event.type === 'xstate.done.actor.start' && over(nextState)),
        ({ state, event }) => !effectsOf(state, event).actions.includes('reportRefusal'),
      ).concat(
        breaches(
          chart.triples.filter(({ event }) =>
            ['xstate.error.actor.turn', 'xstate.error.actor.start'].includes(event.type),
          ),
          ({ state, event, nextState }) =>
            !effectsOf(state, event).actions.includes('reportDefect') || isRestless(nextState),
        ),
      ),
    brokenBy: {
      'a refused start is not reported': edit((at) => {
        branches(invocation(at('opening'), 'start'))[1]?.actions?.shift();
      }),
      'a broken turn is taken for a failed one': edit((at) => {
        invocation(at('engaged'), 'turn').onError = 'ready.failed';
      }),
      'a broken start is not reported': edit((at) => {
        const broken = invocation(at('opening'), 'start').onError as { actions: unknown[] };
        broken.actions.shift();
      }),
    },
  },
  {
    says: 'whatever a call comes to is heard',
    findings: (chart) => unheard(chart, OUTCOMES),
    brokenBy: Object.fromEntries(
      (
        [
          ['opening', 'start'],
          ['admitting', 'admitPrompt'],
          ['engaged', 'turn'],
          ['quarantined.prompt.unsettled', 'settlePrompt'],
          ['quarantined.abort.attempting', 'abortQuarantined'],
          ['closing.abortingAdmission', 'abortAdmission'],
          ['closing.disposing', 'disposeSession'],
        ] as const
      ).flatMap(([where, id]) =>
        (['onDone', 'onError'] as const).map((which) => [
          `${id} has no ${which}`,
          edit<Session>((at) => drop(invocation(at(where), id), which)),
        ]),
      ),
    ),
  },
];

requirementSuite(sessionMachine, explore, requirements);
