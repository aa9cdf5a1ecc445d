/** What is promised on what a client sees of a session and its turns, whatever the chart looks like. */
import { assign, initialTransition } from 'xstate';
import type { SessionContext } from '../../../src/machines/session/session.context.ts';
import { sessionMachine } from '../../../src/machines/session/session.machine.ts';
import { doneEvent } from '../../kit/domain.ts';
import { effectsOf, requestIdsOf } from '../../kit/effects.ts';
import { begin, step } from '../../kit/ledger.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import {
  branchesOn,
  branchOn,
  breaches,
  edit,
  type Requirement,
  requirementSuite,
} from '../../kit/requirement-suite.ts';
import { Reachable } from '../../kit/requirements.ts';
import { SELECTION } from '../../kit/world.ts';
import { model } from './domain.ts';
import { observed, PROMPT, publicState, type Session, turnEnds } from './walks.ts';

const KEPT_TURNS = 20;

const explore = (machine: Session) => new Reachable(model(observed(machine)));
/** The chart as it comes to the first prompt of a session that was opened. */
const opened = (machine: Session) => {
  const input = {
    id: 's1',
    workspace: 'here',
    executionProfile: 'reader',
    profile: 'read-only',
    startRequestId: 'S',
  } as const;
  const [initial] = initialTransition(observed(machine), input);
  return step(begin(initial), doneEvent('start', { ok: true, selection: SELECTION })).walk;
};
const isStarted = (event: { readonly type: string; readonly output?: unknown }) =>
  event.type === 'xstate.done.actor.admitPrompt' && (event.output as { disposition: string }).disposition === 'started';
type Part = { target?: string; guard?: unknown; actions?: unknown[] };
const branches = (invoke: object) => (invoke as { onDone: Part[] }).onDone;

const requirements: Requirement<Session>[] = [
  {
    says: 'at most 20 ended turns are kept, the oldest out first',
    findings: (_, machine) => {
      let walk = opened(machine);
      for (let count = 1; count <= KEPT_TURNS + 2; count += 1) {
        const events = [
          PROMPT,
          doneEvent('admitPrompt', { disposition: 'started' }),
          turnEnds('completed', []),
        ] as const;
        for (const event of events) walk = step(walk, numbered(event, count)).walk;
      }
      const kept = (walk.state.context as SessionContext).turns.map(({ turnId }) => turnId);
      const expected = Array.from({ length: KEPT_TURNS }, (_each, index) => `t${index + 3}`);
      return kept.join() === expected.join() ? [] : [`kept: ${kept}`];
    },
    brokenBy: {
      'all are kept': (machine) =>
        machine.provide({
          actions: { endTurn: assign({ turns: ({ context }, { turn }) => [...context.turns, turn] }) },
        }) as Session,
      'the newest goes first': (machine) =>
        machine.provide({
          actions: {
            endTurn: assign({ turns: ({ context }, { turn }) => [...context.turns, turn].slice(0, KEPT_TURNS) }),
          },
        }) as Session,
    },
  },
  {
    says: 'only the disposition started publishes a turn, and only one at a time',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ state, event }) => effectsOf(state, event).spawned.some(({ src }) => src === 'turn')),
        ({ state, event }) => !isStarted(event) || 'turn' in state.children || !state.matches('admitting'),
      ),
    brokenBy: {
      'a refusal publishes one': edit((at) => drop(branches(invocation(at('admitting'), 'admitPrompt'))[0], 'guard')),
      'a rejection publishes one': edit((at) => {
        invocation(at('admitting'), 'admitPrompt').onError = 'engaged';
      }),
      'a timed-out prompt that settles publishes one': edit((at) => {
        invocation(at('quarantined.prompt.unsettled'), 'settlePrompt').onDone = '#session.engaged';
      }),
      'a close begins it again': edit((at) => {
        at('engaged').on = { ...at('engaged').on, CLOSE: { target: 'engaged', reenter: true } };
        drop(at('engaged.running').on, 'CLOSE');
      }),
    },
  },
  {
    says: 'the turn that begins is that of the admitted prompt, and so its caller is told',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ event }) => isStarted(event)),
        ({ state, event }) => {
          const { spawned, answers } = effectsOf(state, event);
          const input = spawned.find(({ src }) => src === 'turn')?.input as { turnId?: string } | undefined;
          const [told] = answers;
          const turn = told?.reply.ok && 'turn' in told.reply ? told.reply.turn : undefined;
          const { admission } = state.context;
          return input?.turnId !== admission?.turnId || turn?.turnId !== input?.turnId || turn?.state !== 'running';
        },
      ),
    brokenBy: {
      'another turn begins': edit((at) => {
        const [started] = branches(invocation(at('admitting'), 'admitPrompt'));
        if (started) started.actions = started.actions?.filter((action) => action !== 'beginTurn') ?? [];
      }),
    },
  },
  {
    says: 'a turn is told to abort only where somebody asked for it',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ state, event }) => effectsOf(state, event).sent.some(({ to }) => to === 'turn')),
        ({ state, event }) =>
          effectsOf(state, event).sent.some(
            (each) => each.event.type === 'ABORT' && requestIdsOf(each.event).length === 0,
          ),
      ),
    brokenBy: {
      'every admission ends in an abort': edit((at) => drop(branchesOn(at('engaged'), 'TAKE_WAITING')[0], 'guard')),
    },
  },
  {
    says: 'updatedAt moves with what a client can see change, and with nothing else',
    findings: (chart) =>
      breaches(
        // A session whose turn broke has a new beginning of its end.
        chart.triples.filter(({ event }) => event.type !== 'xstate.error.actor.turn'),
        ({ state, nextState }) => {
          const isSeen = publicState(nextState) !== undefined && publicState(nextState) !== publicState(state);
          return nextState.context.updatedAt > state.context.updatedAt !== isSeen;
        },
      ),
    brokenBy: Object.fromEntries(
      (
        [
          ['ready', 'CLOSE'],
          ['ready', 'STOP'],
          ['engaged.running', 'CLOSE'],
          ['engaged.running', 'STOP'],
          ['quarantined', 'CLOSE'],
          ['quarantined', 'STOP'],
          ['admitting', 'STOP'],
        ] as const
      ).map(([where, event]) => [
        `${event} in ${where} does not`,
        edit<Session>((at) => {
          const branch = branchOn(at(where), event);
          branch.actions = branch.actions.filter((action) => action !== 'stamp');
        }),
      ]),
    ),
  },
];

/** The turn that a step of the round is about. */
function numbered(event: object & { readonly type: string }, count: number) {
  if (event.type === 'PROMPT') return { ...event, turnId: `t${count}` };
  if (event.type !== 'xstate.done.actor.turn') return event;
  const { output } = event as unknown as { output: { turn: object } };
  return { ...event, output: { ...output, turn: { ...output.turn, turnId: `t${count}` } } };
}

requirementSuite(sessionMachine, explore, requirements);
