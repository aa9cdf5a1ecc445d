/** What is promised on one external server: its end, its deadlines and what it is asked for. */
import type { AnyEventObject } from 'xstate';
import { connectionMachine } from '../../../src/machines/grants/connection.machine.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { breaches, edit, type Requirement, requirementSuite, unheard, unique } from '../../kit/requirement-suite.ts';
import { describeState, describeTriple, isTimer, Reachable, statusOf } from '../../kit/requirements.ts';
import { SUCCESS } from '../../kit/scripted-server.ts';
import { type Connection, model, PAGES, type State } from './domain.ts';

const START_MS = 10_000;
const CALL_MS = 30_000;

const explore = (machine: Connection) => new Reachable(model(machine));
const over = (state: unknown) => statusOf(state) === 'done';
const children = (state: unknown) => Object.keys((state as { children: object }).children);
const isEnding = (state: unknown) => children(state).join() === 'ending';
const isLive = (state: State) => state.matches('live');
const after = (state: State, event: AnyEventObject) => effectsOf(state, event).state as unknown as State;
/** `deadline` within `ms`: the delays that began with the event. */
const began = (state: State, event: AnyEventObject) => effectsOf(state, event).deadlines.map(({ delayMs }) => delayMs);
const isEnd = ({ event }: { readonly event: AnyEventObject }) => /actor\.ending$/.test(event.type);

const requirements: Requirement<Connection>[] = [
  {
    says: 'CLOSE is accepted everywhere: nothing has been started, or the child is brought to its end',
    findings: (chart) =>
      chart.active().flatMap((state) => {
        const next = after(state, { type: 'CLOSE' });
        const isRight = state.matches('idle') ? over(next) : next.matches('closing') && isEnding(next);
        return isRight ? [] : [`CLOSE in ${describeState(state)} comes to ${describeState(next)}`];
      }),
    brokenBy: {
      'a failed one is thought to be closed': edit((at) => {
        at('failed').on = { ...at('failed').on, CLOSE: 'closed' };
      }),
      'an opening one is not heard': edit((at) => {
        at('live.opening').on = { ...at('live.opening').on, CLOSE: {} };
      }),
      'a call is waited for': edit((at) => {
        at('live.calling').on = { ...at('live.calling').on, CLOSE: {} };
      }),
    },
  },
  {
    says: 'with a silent server, CLOSE and deadlines always end it',
    findings: (chart) =>
      unique([
        // The ending chart has its own deadlines, which its own requirements hold to 4,500 ms.
        ...chart
          .avoiding(over, (triple) => isTimer(triple) || isEnd(triple))
          .filter((state) => state.matches('closing'))
          .map(describeState),
        ...chart
          .active()
          .filter((state) => !chart.canReach(state, over, (triple) => triple.event.type === 'CLOSE' || isEnd(triple)))
          .map(describeState),
      ]),
    brokenBy: {
      'the end of the child does not close it': edit((at) => {
        invocation(at('closing'), 'ending').onDone = 'failed.over';
      }),
      'closing ends nothing': edit((at) => drop(at('closing'), 'invoke')),
    },
  },
  {
    says: 'nothing revives it: once it has failed or is closing, the server is asked for nothing but its end',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ state }) => state.matches('failed') || state.matches('closing')),
        ({ state, event, nextState }) =>
          isLive(nextState) || effectsOf(state, event).spawned.some(({ src }) => src !== 'ending'),
      ),
    brokenBy: {
      'a failed one connects again': edit((at) => {
        at('failed').on = { ...at('failed').on, LOST: 'live' };
      }),
      'a call brings it back': edit((at) => {
        at('closing').on = { ...at('closing').on, CALL: 'live' };
      }),
    },
  },
  {
    says: 'connecting and listing have 10,000 ms together, whatever the pages do',
    findings: (chart) =>
      unique(
        chart.triples.flatMap((triple) => {
          const isOpening = (state: State) => state.matches({ live: 'opening' });
          const delays = began(triple.state, triple.event).filter((delay) => delay === START_MS);
          const expected = !isOpening(triple.state) && isOpening(triple.nextState) ? 1 : 0;
          const isBroken = delays.length !== expected || (isOpening(triple.state) && isStuck(chart, triple.state));
          return isBroken ? [describeTriple(triple)] : [];
        }),
      ),
    brokenBy: {
      'each page has a deadline of its own': edit((at) => {
        at('live.opening.listing').after = { ...at('live.opening').after };
        drop(at('live.opening'), 'after');
      }),
      'a server may take its time': edit((at) => drop(at('live.opening'), 'after')),
    },
  },
  {
    says: 'each call has 30,000 ms of its own, counted from when the server gets it',
    findings: (chart) =>
      unique(
        chart.triples.flatMap((triple) => {
          const { deadlines, spawned } = effectsOf(triple.state, triple.event);
          const begun = spawned.filter(({ src }) => src === 'call').length;
          const own = deadlines.filter(({ delayMs }) => delayMs === CALL_MS).length;
          return begun === own ? [] : [`${describeTriple(triple)}: ${begun} calls, ${own} deadlines`];
        }),
      ),
    brokenBy: {
      'a call may take for ever': edit((at) => drop(at('live.calling'), 'after')),
      'it has the deadline of a start': edit((at) => {
        at('live.calling').after = { externalStartTimeout: at('live.calling').after?.['externalCallTimeout'] };
      }),
    },
  },
  {
    says: 'the server does one call at a time, in the order in which they came',
    findings: (chart) =>
      unique(
        chart.triples.flatMap((triple) => {
          const { spawned, answers } = effectsOf(triple.state, triple.event);
          const isBusy = children(triple.state).includes('call');
          const { context } = triple.state;
          const { current: next } = triple.nextState.context;
          const begins = spawned.some(({ src }) => src === 'call');
          if (!begins) return [];
          const expected = context.waiting[0]?.callId ?? (triple.event['callId'] as string);
          const isLate = isBusy && answers.every(({ requestId }) => requestId !== context.current?.requestId);
          return isLate || next?.callId !== expected ? [describeTriple(triple)] : [];
        }),
      ),
    brokenBy: {
      'the last to come is the first to go': edit((at) => {
        at('live.calling').on = {
          ...at('live.calling').on,
          CALL: {
            target: 'calling',
            reenter: true,
            actions: { type: 'begin', params: ({ event }: { event: unknown }) => event },
          },
        };
      }),
    },
  },
  {
    says: 'a server that is lost has failed, at once and for good',
    findings: (chart) =>
      chart
        .active()
        .filter(isLive)
        .flatMap((state) => {
          const next = after(state, { type: 'LOST' });
          return next.matches('failed') && isEnding(next) ? [] : [describeState(state)];
        }),
    brokenBy: {
      'its call is waited for': edit((at) => {
        at('live.calling').on = { ...at('live.calling').on, LOST: {} };
      }),
      'nobody looks': edit((at) => drop(at('live').on, 'LOST')),
      'what is left of it may stay': edit((at) => {
        at('live').on = { ...at('live').on, LOST: { ...(at('live').on?.['LOST'] as object), target: 'failed.over' } };
      }),
    },
  },
  {
    says: 'whatever the server comes to is heard',
    findings: (chart) =>
      unheard(chart, {
        connect: [{ ok: true }, { ok: false }],
        listPage: Object.values(PAGES),
        call: [SUCCESS.call, { ok: false, reason: 'failed' }],
      }),
    brokenBy: {
      'a refused page is waited for': edit((at) => {
        const list = invocation(at('live.opening.listing'), 'listPage') as { onDone: object[] };
        list.onDone = list.onDone.slice(0, 2);
      }),
      'a failed call is waited for': edit((at) => drop(invocation(at('live.calling'), 'call'), 'onError')),
    },
  },
  {
    says: 'while it works on a call, the server is watched and can be cancelled',
    findings: (chart) =>
      chart
        .active()
        .filter(({ context }) => context.current !== null)
        .flatMap((state) => {
          const cancelled = after(state, { type: 'CANCEL', callId: state.context.current?.callId });
          const isOver = cancelled.context.current?.callId !== state.context.current?.callId;
          return isOver && children(state).includes('watch') ? [] : [describeState(state)];
        }),
    brokenBy: {
      'a cancellation is not heard': edit((at) => drop(at('live.calling').on, 'CANCEL')),
      'it is not watched': edit((at) => drop(at('live'), 'invoke')),
    },
  },
];

/** Is there no deadline that would end this? */
function isStuck(chart: Reachable<Connection>, state: State): boolean {
  return !chart.canReach(state, (each) => each.matches('failed'), isTimer);
}

requirementSuite(connectionMachine, explore, requirements);
