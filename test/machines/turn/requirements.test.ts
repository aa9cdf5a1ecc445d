/** What is promised on one turn, whatever the chart looks like. */
import { type AnyEventObject, assign } from 'xstate';
import { turnMachine } from '../../../src/machines/session/turn.machine.ts';
import { doneEvent, errorEvent } from '../../kit/domain.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { breaches, edit, type Requirement, requirementSuite, unheard, unique } from '../../kit/requirement-suite.ts';
import { describeState, isTimer, Reachable, statusOf } from '../../kit/requirements.ts';
import { model } from './domain.ts';

type Turn = typeof turnMachine;
type State = Reachable<Turn>['states'][number];

const TERMINAL = ['completed', 'failed', 'aborted'] as const;
const CLOSE_ABORT_MS = 5_000;

/** With a clock that moves whenever it is looked at. */
const observed = (machine: Turn) =>
  machine.provide({ actions: { stamp: assign({ updatedAt: ({ context }) => context.updatedAt + 1 }) } }) as Turn;
const explore = (machine: Turn) => new Reachable(model(observed(machine)));

const over = (state: unknown) => statusOf(state) === 'done';
const isDeadline = (triple: { readonly event: AnyEventObject }) =>
  isTimer(triple) || triple.event.type === 'ABORT_DEADLINE';
const isEnding = (state: State) => state.matches({ running: { end: 'ending' } });
const attempts = (state: { readonly children: object }) => 'abortTurn' in state.children;
const after = (state: State, event: AnyEventObject) => effectsOf(state, event).state as unknown as State;

const requirements: Requirement<Turn>[] = [
  {
    says: 'a turn has a result exactly when it is over, the one that its terminal state says',
    findings: (chart) =>
      chart.states
        .filter((state) =>
          over(state)
            ? !TERMINAL.includes(state.value as 'completed') ||
              state.context.result?.state !== state.value ||
              state.output?.turn.state !== state.value
            : state.context.result !== null,
        )
        .map(describeState),
    brokenBy: {
      'a terminal state can be left': edit((at) => drop(at('completed'), 'type')),
      'an abort is taken for a completion': edit((at) => {
        (invocation(at('running.abort.attempting'), 'abortTurn') as { onDone: { target: string }[] }).onDone.forEach(
          (to) => {
            if (to.target === '#turn.aborted') to.target = '#turn.completed';
          },
        );
      }),
      'a deadline forgets the result': edit((at) => {
        at('running.end.ending').after = { closeAbortTimeout: '#turn.aborted' };
      }),
    },
  },
  {
    says: 'only the final message decides: completed, aborted, and everything else failed',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ event }) => /actor\.runTurn$/.test(event.type)),
        ({ event, nextState }) => nextState.value !== ((event['output'] as { state?: string })?.state ?? 'failed'),
      ),
    brokenBy: {
      'a failure counts as completed': edit((at) => {
        const run = invocation(at('running'), 'runTurn') as { onDone: { target: string }[] };
        if (run.onDone[2]) run.onDone[2].target = 'completed';
      }),
      'a rejection counts as aborted': edit((at) => {
        invocation(at('running'), 'runTurn').onError = 'aborted';
      }),
    },
  },
  {
    says: 'END begins an attempt, and with silent adapters its deadline alone ends the turn',
    findings: (chart) => {
      const lasting = new Set(chart.avoiding(over, isDeadline).filter(isEnding).map(describeState));
      return unique([
        ...[...lasting].map((where) => `${where} may last`),
        ...chart.active().flatMap((state) => {
          const { deadlines } = effectsOf(state, { type: 'END' });
          const next = after(state, { type: 'END' });
          const isBounded = isEnding(state) || deadlines.some(({ delayMs }) => delayMs === CLOSE_ABORT_MS);
          return isEnding(next) && attempts(next) && isBounded
            ? []
            : [`END in ${describeState(state)} comes to ${describeState(next)}`];
        }),
      ]);
    },
    brokenBy: {
      'ending has no deadline': edit((at) => drop(at('running.end.ending'), 'after')),
      'END is not heard': edit((at) => drop(at('running.end.open').on, 'END')),
      'END asks for no abort': edit((at) => drop(at('running.abort.none').on, 'END')),
      'a failed attempt gives the turn more time': edit((at) => {
        at('running.abort').states = { ...at('running.abort').states, idle: {} };
        (invocation(at('running.abort.attempting'), 'abortTurn') as { onError: unknown }).onError =
          '#turn.running.abort.idle';
      }),
    },
  },
  {
    says: 'updatedAt moves with each activity and with the end, and with nothing else',
    findings: (chart) =>
      unique([
        ...breaches(chart.triples, ({ state, event, nextState }) => {
          const moves = nextState.context.updatedAt - state.context.updatedAt;
          return moves !== (event.type === 'ACTIVITY' || over(nextState) ? 1 : 0);
        }),
        ...chart
          .active()
          .filter((state) => after(state, { type: 'ACTIVITY' }).context.updatedAt === state.context.updatedAt)
          .map((state) => `${describeState(state)} does not notice activity`),
      ]),
    brokenBy: {
      'an abort moves it': edit((at) => {
        at('running.abort.none').on = {
          ...at('running.abort.none').on,
          END: { target: 'attempting.unawaited', actions: 'stamp' },
        };
      }),
      'activity is not heard': edit((at) => drop(at('running').on, 'ACTIVITY')),
      'activity does not': edit((at) => {
        at('running').on = { ACTIVITY: {} };
      }),
      'the end does not': edit((at) => {
        const [first] = (invocation(at('running'), 'runTurn') as { onDone: { actions: unknown[] }[] }).onDone;
        first?.actions.shift();
      }),
    },
  },
  {
    says: 'whatever the run and the attempt come to is heard; a broken watch ends nothing',
    findings: (chart) =>
      unique([
        ...unheard(chart, {
          runTurn: [
            { state: 'completed', assistantText: '', truncated: false },
            { state: 'failed' },
            { state: 'aborted' },
          ],
          abortTurn: [{ ok: true }, { ok: false }],
        }),
        ...chart
          .active()
          .filter(
            (state) => 'watchTurn' in state.children && statusOf(after(state, errorEvent('watchTurn'))) !== 'active',
          )
          .map((state) => `${describeState(state)} does not survive its watch`),
      ]),
    brokenBy: {
      'a rejected run is waited for': edit((at) => drop(invocation(at('running'), 'runTurn'), 'onError')),
      'a rejected attempt is waited for': edit((at) => {
        drop(invocation(at('running.abort.attempting'), 'abortTurn'), 'onError');
      }),
      'a broken watch breaks the turn': edit((at) => drop(invocation(at('running'), 'watchTurn'), 'onError')),
      'a broken watch fails the turn': edit((at) => {
        invocation(at('running'), 'watchTurn').onError = 'failed';
      }),
    },
  },
  {
    says: 'a session that closes does not wait longer than for the attempt, however that goes',
    findings: (chart) =>
      chart
        .active()
        .filter((state) => isEnding(state) && attempts(state))
        .filter((state) =>
          [doneEvent('abortTurn', { ok: true }), doneEvent('abortTurn', { ok: false }), errorEvent('abortTurn')].some(
            (event) => !after(state, event).matches('aborted'),
          ),
        )
        .map(describeState),
    brokenBy: {
      'a failed attempt is taken as while it runs': edit((at) => {
        const attempt = invocation(at('running.abort.attempting'), 'abortTurn') as { onDone: unknown[] };
        attempt.onDone.splice(1, 1);
      }),
      'a rejected one is': edit((at) => {
        const attempt = invocation(at('running.abort.attempting'), 'abortTurn') as { onError: unknown[] };
        attempt.onError.splice(0, 1);
      }),
    },
  },
];

requirementSuite(turnMachine, explore, requirements);
