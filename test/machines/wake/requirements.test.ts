import { wakeMachine } from '../../../src/machines/events/wake.machine.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { breaches, edit, type Requirement, requirementSuite, unheard, unique } from '../../kit/requirement-suite.ts';
import { describeState, isSettlement, isTimer, Reachable, statusOf } from '../../kit/requirements.ts';
import { CLAIMS, LOOKS, model, type State, type Wake } from './domain.ts';

const explore = (machine: Wake) => new Reachable(model(machine));
const over = (state: unknown) => statusOf(state) === 'done';
const begins = (work: string, { state, event }: { state: unknown; event: { type: string } }) =>
  effectsOf(state, event).spawned.some(({ src }) => src === work);
const isWaiting = (state: State) => state.matches('waiting');

const requirements: Requirement<Wake>[] = [
  {
    says: 'it always ends by its deadlines, whatever stays silent',
    findings: (chart) =>
      // The looks may go round, but the budget is a deadline in every one of their states.
      chart.stuck(over, (triple) => isTimer(triple)).map(describeState),
    brokenBy: {
      'there is no budget': edit((at) => drop(at('waiting'), 'after')),
      'a claim is waited for': edit((at) => drop(at('claiming'), 'after')),
      'the client is waited for': edit((at) => drop(at('notifying'), 'after')),
    },
  },
  {
    says: 'it ends with its client, in one step, wherever it waits',
    findings: (chart) =>
      unique(
        chart
          .active()
          .filter(isWaiting)
          .filter((state) => effectsOf(state, { type: 'CLIENT_GONE' }).state.value !== 'orphaned')
          .map((state) => `${describeState(state)} outlives it`),
      ),
    brokenBy: {
      'it goes on': edit((at) => drop(at('waiting').on, 'CLIENT_GONE')),
      'it only stops looking': edit((at) => {
        (at('waiting').on as Record<string, unknown>)['CLIENT_GONE'] = '.deserted';
      }),
    },
  },
  {
    says: 'the client is only told after the event was found and the turn claimed',
    findings: (chart) => [
      ...breaches(
        chart.triples.filter((triple) => begins('notify', triple)),
        ({ event }) => !event.type.endsWith('.claim') || event['output'] !== 'claimed',
      ),
      ...breaches(
        chart.triples.filter((triple) => begins('claim', triple)),
        ({ event }) => !/\.look(Again)?$/.test(event.type) || event['output'] !== 'found',
      ),
    ],
    brokenBy: {
      'a claim of somebody else will do': edit((at) => {
        invocation(at('claiming'), 'claim').onDone = 'notifying';
      }),
      'claims that cannot be made will do': edit((at) => {
        invocation(at('claiming'), 'claim').onError = 'notifying';
      }),
      'any change will do': edit((at) => {
        (at('waiting.resting').on as Record<string, unknown>)['CHANGED'] = '#wake.claiming';
      }),
    },
  },
  {
    says: 'nobody is told twice',
    findings: (chart) =>
      breaches(
        chart.triples.filter((triple) => begins('notify', triple)),
        ({ nextState }) =>
          chart.follow(nextState).some((state) => state !== nextState && !over(state) && !state.matches('notifying')),
      ),
    brokenBy: {
      'a client that did not take it is told again': edit((at) => {
        invocation(at('notifying'), 'notify').onError = 'claiming';
      }),
    },
  },
  {
    says: 'changes alone never make it look at once, and never twice at a time',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ event }) => event.type === 'CHANGED'),
        (triple) => begins('look', triple),
      ),
    brokenBy: {
      'it looks at each change': edit((at) => {
        (at('waiting.resting').on as Record<string, unknown>)['CHANGED'] = 'looking';
      }),
    },
  },
  {
    says: 'an empty spool is looked at a second time before it is given up',
    findings: (chart) =>
      breaches(
        chart.triples.filter(
          ({ event, nextState }) => isSettlement({ event }) && event['output'] === 'deserted' && over(nextState),
        ),
        ({ state }) => !state.matches({ waiting: 'lookingAgain' }),
      ),
    brokenBy: {
      'the first look decides': edit((at) => {
        invocation(at('waiting.looking'), 'look').onDone = '#wake.expired';
      }),
    },
  },
  {
    says: 'whatever becomes of its work is heard',
    findings: (chart) =>
      unheard(chart, { look: LOOKS, lookAgain: LOOKS, claim: CLAIMS, notify: [{ ok: true }, { ok: false }] }),
    brokenBy: {
      'a look that fails breaks it': edit((at) => drop(invocation(at('waiting.looking'), 'look'), 'onError')),
      'a second look that fails breaks it': edit((at) =>
        drop(invocation(at('waiting.lookingAgain'), 'lookAgain'), 'onError'),
      ),
    },
  },
];

requirementSuite(wakeMachine, explore, requirements);
