/** Contract, sections 3 and 4, on one turn, whatever the chart looks like. */
import { type AnyEventObject, assign, enqueueActions, initialTransition } from 'xstate';
import { turnMachine } from '../../../src/machines/session/turn.machine.ts';
import { doneEvent, errorEvent } from '../../kit/domain.ts';
import { effectsOf } from '../../kit/effects.ts';
import { begin, extensions, imbalance, type Walk } from '../../kit/ledger.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { breaches, edit, firstOf, type Requirement, requirementSuite, unique } from '../../kit/requirement-suite.ts';
import { describeState, isTimer, Reachable, statusOf } from '../../kit/requirements.ts';
import { model } from './domain.ts';

type Turn = typeof turnMachine;
type State = Reachable<Turn>['states'][number];

const TERMINAL = ['completed', 'failed', 'aborted'] as const;
const ABORT_MS = 5_000;
const CLOSE_ABORT_MS = 5_000;
const WALK_LENGTH = 5;

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
        const [last, other] = awaited.on?.['ABORT_DEADLINE'] as object[];
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
          ABORT: { ...(awaited.on?.['ABORT'] as object), target: '#turn.running.abort.attempting', reenter: true },
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
        const [, other] = awaited.on?.['ABORT_DEADLINE'] as { guard?: unknown }[];
        drop(other, 'guard');
      }),
      'a deadline is not answered': edit((at) => {
        const awaited = at('running.abort.attempting.awaited');
        const [last] = awaited.on?.['ABORT_DEADLINE'] as { actions: unknown[] }[];
        last?.actions.pop();
      }),
      'the end keeps its callers': (machine) => edit<Turn>((at) => drop(at(), 'output'))(machine),
    },
  },
  {
    says: 'updatedAt moves with each activity and with the end, and with nothing else',
    findings: (chart) =>
      breaches(chart.triples, ({ state, event, nextState }) => {
        const moves = nextState.context.updatedAt - state.context.updatedAt;
        return moves !== (event.type === 'ACTIVITY' || over(nextState) ? 1 : 0);
      }),
    brokenBy: {
      'an abort moves it': edit((at) => {
        at('running.abort.none').on = {
          ...at('running.abort.none').on,
          END: { target: 'attempting.unawaited', actions: 'stamp' },
        };
      }),
      'activity does not': edit((at) => {
        at('running').on = { ACTIVITY: {} };
      }),
      'the end does not': edit((at) => {
        const [first] = (invocation(at('running'), 'runTurn') as { onDone: { actions: unknown[] }[] }).onDone;
        first?.actions.shift();
      }),
    },
  },
];

requirementSuite(turnMachine, explore, requirements);
