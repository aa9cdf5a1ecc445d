/** What is promised on the aborts of a turn, whatever the chart looks like. */
import { type AnyEventObject, assign, enqueueActions, initialTransition } from 'xstate';
import { turnMachine } from '../../../src/machines/session/turn.machine.ts';
import { doneEvent, errorEvent } from '../../kit/domain.ts';
import { effectsOf } from '../../kit/effects.ts';
import { begin, extensions, imbalance, type Walk } from '../../kit/ledger.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import {
  branchesOn,
  branchOn,
  breaches,
  edit,
  firstOf,
  type Requirement,
  requirementSuite,
} from '../../kit/requirement-suite.ts';
import { describeState, Reachable, statusOf } from '../../kit/requirements.ts';
import { model } from './domain.ts';

type Turn = typeof turnMachine;
type State = Reachable<Turn>['states'][number];

const TERMINAL = ['completed', 'failed', 'aborted'] as const;
const ABORT_MS = 5_000;
const WALK_LENGTH = 5;

/** With a clock that moves whenever it is looked at. */
const observed = (machine: Turn) =>
  machine.provide({ actions: { stamp: assign({ updatedAt: ({ context }) => context.updatedAt + 1 }) } }) as Turn;
const explore = (machine: Turn) => new Reachable(model(observed(machine)));

const over = (state: unknown) => statusOf(state) === 'done';
const isEnding = (state: State) => state.matches({ running: { end: 'ending' } });
const attempts = (state: { readonly children: object }) => 'abortTurn' in state.children;
const after = (state: State, event: AnyEventObject) => effectsOf(state, event).state as unknown as State;
const isFailedAttempt = ({ event }: { readonly event: AnyEventObject }) =>
  event.type === 'xstate.error.actor.abortTurn' ||
  (event.type === 'xstate.done.actor.abortTurn' && !(event['output'] as { ok: boolean }).ok);

/** Aborts that waited for the admission reach the turn even after the close that waited with them. */
function eventsOf({ state, asked }: Walk): AnyEventObject[] {
  const { children } = state;
  return [
    { type: 'ABORT', requestIds: asked.length === 0 ? ['A', 'A'] : ['A'] },
    ...(isEnding(state as unknown as State)
      ? [{ type: 'xstate.after.closeAbortTimeout.turn.running.end.ending' }]
      : [{ type: 'END' }]),
    // Also of callers that have their answer: a deadline may be late.
    ...asked.map((requestId) => ({ type: 'ABORT_DEADLINE', requestId })),
    ...('runTurn' in children
      ? [doneEvent('runTurn', { state: 'completed', assistantText: '', truncated: false })]
      : []),
    ...('abortTurn' in children
      ? [doneEvent('abortTurn', { ok: true }), doneEvent('abortTurn', { ok: false }), errorEvent('abortTurn')]
      : []),
  ];
}

function* walksOf(machine: Turn): Generator<Walk> {
  const [initial] = initialTransition(observed(machine), { sessionId: 's1', turnId: 't1', startedAt: 0 });
  yield* extensions(begin(initial), WALK_LENGTH, eventsOf);
}

/** Callers that the chart has yet to answer, or hands back with its end. */
function rememberedBy({ status, context, output }: Walk['state']): readonly string[] {
  return ((status === 'done' ? output : context)?.callers ?? []) as readonly string[];
}

const requirements: Requirement<Turn>[] = [
  {
    says: 'an abort deadline claims nothing: the turn runs on, and its end or a late abort may still end it',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ event }) => event.type === 'ABORT_DEADLINE'),
        ({ nextState }) =>
          over(nextState) ||
          !attempts(nextState) ||
          !TERMINAL.every((end) => chart.canReach(nextState, (state) => state.matches(end))) ||
          !after(nextState, doneEvent('abortTurn', { ok: true })).matches('aborted'),
      ),
    brokenBy: {
      'it ends the turn': edit((at) => {
        at('running.abort.attempting.awaited').on = {
          ...at('running.abort.attempting.awaited').on,
          ABORT_DEADLINE: '#turn.aborted',
        };
      }),
      'it gives the attempt up': edit((at) => {
        const awaited = at('running.abort.attempting.awaited');
        const [last, other] = branchesOn(awaited, 'ABORT_DEADLINE');
        awaited.on = { ...awaited.on, ABORT_DEADLINE: [{ ...last, target: '#turn.running.abort.none' }, other] };
      }),
    },
  },
  {
    says: 'concurrent callers share one attempt, each with its own five seconds',
    findings: (chart) =>
      chart.active().flatMap((state) => {
        const { state: next, spawned, deadlines } = effectsOf(state, { type: 'ABORT', requestIds: ['X', 'Y'] });
        const begun = spawned.filter(({ src }) => src === 'abortTurn').length;
        const own = deadlines.filter(({ type, delayMs }) => type === 'ABORT_DEADLINE' && delayMs === ABORT_MS).length;
        return [
          ...(begun === (attempts(state) ? 0 : 1) && attempts(next)
            ? []
            : [`${describeState(state)} begins ${begun} attempts`]),
          ...(own === 2 ? [] : [`${describeState(state)}: ${own} deadlines for 2 callers`]),
        ];
      }),
    brokenBy: {
      'a second caller begins the attempt again': edit((at) => {
        const awaited = at('running.abort.attempting.awaited');
        awaited.on = {
          ...awaited.on,
          ABORT: { ...branchOn(awaited, 'ABORT'), target: '#turn.running.abort.attempting', reenter: true },
        };
      }),
      'a late caller has no deadline': edit((at) => {
        at('running.abort.attempting.unawaited').on = { ABORT: { target: 'awaited' } };
      }),
      'callers share one deadline': (machine) =>
        machine.provide({
          actions: {
            addCallers: enqueueActions(({ context, enqueue }, { requestIds }) => {
              enqueue.assign({ callers: [...context.callers, ...requestIds] });
              enqueue.raise({ type: 'ABORT_DEADLINE', requestId: requestIds[0] ?? '' }, { delay: 'abortTimeout' });
            }),
          },
        }) as Turn,
    },
  },
  {
    says: 'a failed attempt is told to every caller, and a new one may be made',
    findings: (chart) =>
      breaches(
        chart.triples.filter((triple) => isFailedAttempt(triple) && !isEnding(triple.state)),
        ({ state, event, nextState }) => {
          const { answers } = effectsOf(state, event);
          const told = answers.map(({ requestId, reply }) => `${requestId} ${reply.ok || reply.code}`);
          const isTold = told.join() === state.context.callers.map((id) => `${id} abort_failed`).join();
          const again = effectsOf(nextState, { type: 'ABORT', requestIds: ['X'] });
          return over(nextState) || !isTold || again.spawned.every(({ src }) => src !== 'abortTurn');
        },
      ),
    brokenBy: {
      'no other attempt is ever made': edit((at) => {
        at('running.abort').states = { ...at('running.abort').states, spent: {} };
        invocation(at('running.abort.attempting'), 'abortTurn').onError = '#turn.running.abort.spent';
      }),
      'it ends the turn': edit((at) => {
        invocation(at('running.abort.attempting'), 'abortTurn').onError = '#turn.aborted';
      }),
      'callers are left waiting': edit((at) => {
        invocation(at('running.abort.attempting'), 'abortTurn').onError = { target: 'none' };
      }),
    },
  },
  {
    says: 'every abort caller is answered exactly once, or handed back with the end of the turn',
    findings: (_, machine) =>
      firstOf(
        (function* () {
          for (const walk of walksOf(machine)) yield* imbalance(walk, rememberedBy(walk.state));
        })(),
      ),
    brokenBy: {
      'a deadline answers but does not forget': (machine) =>
        machine.provide({ actions: { dropCaller: assign({}) } }) as Turn,
      'a failed attempt answers but does not forget': (machine) =>
        machine.provide({ actions: { dropAllCallers: assign({}) } }) as Turn,
      'a deadline answers whoever asked': edit((at) => {
        const awaited = at('running.abort.attempting.awaited');
        const [, other] = branchesOn(awaited, 'ABORT_DEADLINE');
        drop(other, 'guard');
      }),
      'a deadline is not answered': edit((at) => {
        const awaited = at('running.abort.attempting.awaited');
        branchOn(awaited, 'ABORT_DEADLINE').actions.pop();
      }),
      'the end keeps its callers': (machine) => edit<Turn>((at) => drop(at(), 'output'))(machine),
    },
  },
];

requirementSuite(turnMachine, explore, requirements);
