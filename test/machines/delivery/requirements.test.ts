import type { AnyMachineSnapshot } from 'xstate';
import type { DeliveryContext, Job } from '../../../src/machines/events/delivery.context.ts';
import { deliveryMachine } from '../../../src/machines/events/delivery.machine.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import {
  branchesOn,
  branchOn,
  breaches,
  edit,
  type Requirement,
  requirementSuite,
  unheard,
  unique,
} from '../../kit/requirement-suite.ts';
import { describeState, isSettlement, isTimer, Reachable, statusOf } from '../../kit/requirements.ts';
import { closed, type Delivery, ended, model, type State } from './domain.ts';

const explore = (machine: Delivery) => new Reachable(model(machine));
const over = (state: unknown) => statusOf(state) === 'done';
const isStop = ({ event }: { readonly event: { readonly type: string } }) => event.type === 'STOP';
const contextOf = (state: AnyMachineSnapshot) => state.context as DeliveryContext;
const isEnding = (state: State) => state.matches('closing') || state.matches({ working: 'ending' });

const fresh = ended('s9', 'fresh');
const hasFresh = (job: Job | null) => job?.kind === 'write' && job.turn.turnId === 'fresh';

/** What became of a turn that has just ended. */
function fateOf(state: State): string {
  const { state: next, actions } = effectsOf(state, fresh);
  const before = contextOf(state as unknown as AnyMachineSnapshot);
  const { current, waiting, dropped } = contextOf(next);
  if (hasFresh(current)) return 'at work';
  if (waiting.some(hasFresh)) return 'waits';
  return dropped === before.dropped + 1 && actions.includes('report') ? 'counted' : 'forgotten';
}

const requirements: Requirement<Delivery>[] = [
  {
    says: 'with a silent disk, a stop and its deadlines always end it',
    findings: (chart) => [
      ...chart.stuck(over, (triple) => isStop(triple) || isTimer(triple)).map(describeState),
      ...unique(
        chart.triples
          .filter(isStop)
          .filter(({ nextState }) => chart.avoiding(over, isTimer).includes(nextState))
          .map(({ nextState }) => describeState(nextState)),
      ),
    ],
    brokenBy: {
      'the last job is waited for': edit((at) => drop(at('working.ending'), 'after')),
      'removing the directory is waited for': edit((at) => drop(at('closing'), 'after')),
      'a hanging disk is waited for': edit((at) => drop(at('working.stalled').on, 'STOP')),
    },
  },
  {
    says: 'a disk that hangs gets nothing more until it has answered',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ state }) => state.matches({ working: 'stalled' })),
        (triple) => !isSettlement(triple) && effectsOf(triple.state, triple.event).spawned.length > 0,
      ),
    brokenBy: {
      'it gets the next job': edit((at) => {
        at('working.timely').after = { deliveryTimeout: '#delivery.idle' };
      }),
      'it is asked to remove the directory': edit((at) => {
        branchesOn(at('working.stalled'), 'SESSION_CLOSED');
        (at('working.stalled').on as Record<string, unknown>)['STOP'] = '#delivery.closing';
      }),
    },
  },
  {
    says: 'until the server ends, each turn that ends is at work, waits, or is counted and told',
    findings: (chart) =>
      unique(
        chart
          .active()
          .filter((state) => !isEnding(state))
          .filter((state) => fateOf(state) === 'forgotten')
          .map((state) => `forgotten in ${describeState(state)}`),
      ),
    brokenBy: {
      'a hanging disk swallows it': edit((at) => {
        branchOn(at('working.stalled'), 'TURN_ENDED').actions = [];
      }),
      'it is counted but not told': edit((at) => {
        branchOn(at('working.stalled'), 'TURN_ENDED').actions = [{ type: 'countDropped', params: { count: 1 } }];
      }),
      'only an idle disk takes it': edit((at) => {
        branchesOn(at('working.timely'), 'TURN_ENDED').splice(0, 2, { actions: [] });
      }),
    },
  },
  {
    says: 'an event that could not be written is counted and told',
    findings: (chart) =>
      breaches(
        chart.triples.filter(
          ({ state, event }) =>
            state.matches({ working: 'timely' }) &&
            contextOf(state as unknown as AnyMachineSnapshot).current?.kind === 'write' &&
            (event.type === 'xstate.error.actor.work' || event['output']?.ok === false),
        ),
        ({ state, event }) => {
          const { state: next, actions } = effectsOf(state, event);
          return contextOf(next).dropped !== state.context.dropped + 1 || !actions.includes('report');
        },
      ),
    brokenBy: {
      'a refusal passes for a success': edit((at) => {
        const work = invocation(at('working'), 'work');
        work.onDone = [work.onDone].flat().filter((_, index) => index !== 1);
      }),
      'a rejection passes for a success': edit((at) => {
        invocation(at('working'), 'work').onError = '#delivery.idle';
      }),
    },
  },
  {
    says: 'nothing of a closed session waits for the disk',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ event, state }) => event.type === closed().type && !isEnding(state)),
        ({ nextState, event }) =>
          nextState.context.waiting.some(
            (job) => job.kind === 'write' && job.turn.sessionId === (event as { sessionId?: string }).sessionId,
          ),
      ),
    brokenBy: {
      'it is only removed from the disk': edit((at) => {
        branchOn(at('working.timely'), 'SESSION_CLOSED').actions = [
          { type: 'enqueue', params: { kind: 'forget', sessionId: 's1' } },
        ];
      }),
    },
  },
  {
    says: 'whatever becomes of a job is heard',
    findings: (chart) => unheard(chart, { work: [{ ok: true }, { ok: false }], close: [undefined] }),
    brokenBy: {
      'a job that fails breaks the chart': edit((at) => drop(invocation(at('working'), 'work'), 'onError')),
      'a directory that cannot be removed breaks it': edit((at) => drop(invocation(at('closing'), 'close'), 'onError')),
    },
  },
];

requirementSuite(deliveryMachine, explore, requirements);
