/** What is promised: close lets the child see EOF, then SIGTERM, then SIGKILL inside its bound. */
import { initialTransition } from 'xstate';
import { endingMachine } from '../../../src/machines/grants/ending.machine.ts';
import { doneEvent } from '../../kit/domain.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { edit, type Requirement, requirementSuite, unheard, unique } from '../../kit/requirement-suite.ts';
import { describeState, isTimer, Reachable, statusOf } from '../../kit/requirements.ts';
import { type Ending, model, WAYS } from './domain.ts';

const BOUND_MS = 4_500;

const explore = (machine: Ending) => new Reachable(model(machine));
const over = (state: unknown) => statusOf(state) === 'done';
const live = (state: { readonly children: object }) => Object.keys(state.children).join();

/** The ways in their order, and how long each has, when the child does nothing. */
function patience(machine: Ending): { readonly ways: readonly string[]; readonly totalMs: number } {
  const [start, actions] = initialTransition(machine);
  const ways: string[] = [];
  let totalMs = 0;
  let state = start as unknown as Reachable<Ending>['states'][number];
  let begun = actions
    .filter(({ type }) => type === 'xstate.raise')
    .map(({ params }) => params as unknown as { event: { type: string }; delay: number })
    .map(({ event, delay }) => ({ type: event.type, delayMs: delay }));
  while (!over(state) && ways.length < 9) {
    ways.push(live(state));
    const [deadline] = begun;
    if (!deadline) break;
    totalMs += deadline.delayMs;
    const effects = effectsOf(state, { type: deadline.type });
    state = effects.state as unknown as typeof state;
    begun = [...effects.deadlines];
  }
  return { ways, totalMs };
}

const requirements: Requirement<Ending>[] = [
  {
    says: 'with a silent child, deadlines alone always end it',
    findings: (chart) => chart.avoiding(over, isTimer).map(describeState),
    brokenBy: {
      'SIGKILL is waited for': edit((at) => drop(at('killing'), 'after')),
      'SIGTERM is sent again and again': edit((at) => {
        at('terminating').after = { externalTerminateTimeout: { target: 'terminating', reenter: true } };
      }),
    },
  },
  {
    says: 'the end of the input, SIGTERM and SIGKILL come one by one in this order, inside 4,500 ms',
    findings: (_, machine) => {
      const { ways, totalMs } = patience(machine);
      return [
        ...(ways.join() === WAYS.join() ? [] : [`the ways are ${ways.join()}`]),
        ...(totalMs === BOUND_MS ? [] : [`they take ${totalMs} ms`]),
      ];
    },
    brokenBy: {
      'SIGTERM is left out': edit((at) => {
        at('finishing').after = { externalEndTimeout: 'killing' };
      }),
      'SIGKILL comes first': edit((at) => {
        at().initial = 'killing';
      }),
      'one way has two deadlines': edit((at) => {
        at('terminating').after = { externalTerminateTimeout: { target: 'finishing' } };
      }),
    },
  },
  {
    says: 'a child that has ended is left alone',
    findings: (chart) =>
      chart.active().flatMap((state) => {
        const { state: next, spawned } = effectsOf(state, doneEvent(live(state)));
        return over(next) && spawned.length === 0 ? [] : [`${describeState(state)} goes on`];
      }),
    brokenBy: {
      'it is killed all the same': edit((at) => {
        invocation(at('finishing'), 'endInput').onDone = 'killing';
      }),
    },
  },
  {
    says: 'a way that fails is followed by the next one',
    findings: (chart) => unique(unheard(chart, { endInput: [undefined], terminate: [undefined], kill: [undefined] })),
    brokenBy: {
      'a rejection breaks the chart': edit((at) => drop(invocation(at('terminating'), 'terminate'), 'onError')),
    },
  },
];

requirementSuite(endingMachine, explore, requirements);
