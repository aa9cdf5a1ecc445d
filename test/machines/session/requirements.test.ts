/** Contract, sections 3 and 4, on one session, whatever the chart looks like. Its answers: `answers.test.ts`. */
import { assign, initialTransition } from 'xstate';
import { type SessionContext, sessionRecord } from '../../../src/machines/session/session.context.ts';
import { sessionMachine } from '../../../src/machines/session/session.machine.ts';
import { doneEvent } from '../../kit/domain.ts';
import { effectsOf } from '../../kit/effects.ts';
import { begin, step } from '../../kit/ledger.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { breaches, edit, firstOf, type Requirement, requirementSuite, unique } from '../../kit/requirement-suite.ts';
import { describeState, isSettlement, Reachable } from '../../kit/requirements.ts';
import { SELECTION } from '../../kit/world.ts';
import { model } from './domain.ts';
import {
  ABORT,
  allWalks,
  CLOSE,
  observed,
  over,
  PROMPT,
  publicState,
  type Session,
  STOP,
  type State,
  timersOf,
  turnEnds,
} from './walks.ts';

const DEADLINES_MS: Readonly<Record<string, number>> = {
  preflightTimeout: 5_000,
  closeAbortTimeout: 5_000,
  disposeTimeout: 5_000,
};
const KEPT_TURNS = 20;

const explore = (machine: Session) => new Reachable(model(observed(machine)));
const isRestless = (state: State) => ['idle', 'failed', 'running'].includes(publicState(state) ?? '');
const after = (state: State, event: Parameters<typeof effectsOf>[1]) =>
  effectsOf(state, event).state as unknown as State;
/** Everything that a client can see of it, or could if it asked. */
const view = (state: State) => {
  const seen = publicState(state);
  return JSON.stringify([seen && sessionRecord(state.context, seen), state.context.turns, state.context.active]);
};
const isStarted = (event: { readonly type: string; readonly output?: unknown }) =>
  event.type === 'xstate.done.actor.admitPrompt' && (event.output as { disposition: string }).disposition === 'started';
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
    says: 'close and stop lead to the end from every public state, by way of an abort where a prompt is out',
    findings: (chart) =>
      unique(
        chart
          .active()
          .filter((state) => publicState(state) !== undefined)
          .flatMap((state) => {
            const stopped = after(state, STOP);
            const isOut =
              'admitPrompt' in state.children ||
              'settlePrompt' in state.children ||
              'abortQuarantined' in state.children;
            return [
              ...(publicState(stopped) === 'closing'
                ? []
                : [`STOP in ${describeState(state)} comes to ${describeState(stopped)}`]),
              ...(isOut && !('abortAdmission' in stopped.children)
                ? [`STOP in ${describeState(state)} aborts nothing`]
                : []),
              ...(isRestless(state) && !state.matches('admitting') && publicState(after(state, CLOSE)) !== 'closing'
                ? [`CLOSE in ${describeState(state)}`]
                : []),
              ...('turn' in state.children &&
              isRestless(state) &&
              !effectsOf(state, STOP).sent.some(({ event }) => event.type === 'END')
                ? [`STOP in ${describeState(state)} does not tell the turn`]
                : []),
            ];
          }),
      ),
    brokenBy: {
      'a session at rest does not stop': edit((at) => drop(at('ready').on, 'STOP')),
      'an admission is not aborted': edit((at) => {
        (at('admitting').on?.['STOP'] as Part).target = 'closing.disposing';
      }),
      'the turn is not told': edit((at) => drop(at('engaged.ending'), 'entry')),
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
    says: 'a rejected or timed-out preflight publishes nothing and restores the earlier view',
    findings: (chart) =>
      unique([
        ...breaches(
          chart.triples.filter(
            ({ state, event }) => (state.matches('admitting') || state.matches('quarantined')) && !isStarted(event),
          ),
          // A close that waited for its turn changes the view rightly.
          ({ state, event, nextState }) => {
            const waits = state.context.waiting.some(({ type }) => type === 'CLOSE');
            return isRestless(nextState)
              ? view(state) !== view(nextState)
              : !(waits || ['CLOSE', 'STOP'].includes(event.type));
          },
        ),
        ...chart
          .active()
          .filter(
            (state) => state.matches('ready') && state.matches({ ready: 'failed' }) !== state.context.lastTurnFailed,
          )
          .map(
            (state) =>
              `rests in ${describeState(state)} after a turn that ${state.context.lastTurnFailed ? 'failed' : 'did not fail'}`,
          ),
      ]),
    brokenBy: {
      'a failed session becomes idle': edit((at) => {
        const [, refused] = branches(invocation(at('admitting'), 'admitPrompt'));
        if (refused) refused.target = 'ready.idle';
      }),
      'quarantine ends idle': edit((at) => {
        (at('quarantined').onDone as Part).target = 'ready';
      }),
      'a refusal touches the time': edit((at) => {
        (invocation(at('admitting'), 'admitPrompt').onError as Part).actions?.push('stamp');
      }),
      'the end of quarantine touches the time': edit((at) => {
        at('quarantined').onDone = { target: 'ready.remembered', actions: ['dropAdmission', 'stamp'] };
      }),
      'the preflight publishes': edit((at) => {
        (at('admitting').after?.['preflightTimeout'] as Part).actions?.push('beginTurn');
      }),
    },
  },
  {
    says: 'quarantine ends when both the prompt and the abort have settled, or by close or stop',
    findings: (chart) =>
      unique([
        ...breaches(
          chart.triples.filter(
            ({ state, nextState }) => state.matches('quarantined') && !nextState.matches('quarantined'),
          ),
          ({ state, event }) => {
            // Whose settlement is this, and is the other one's actor gone?
            const isLast = isSettlement({ event }) && Object.keys(state.children).length === 1;
            return !isLast && event.type !== 'CLOSE' && event.type !== 'STOP';
          },
        ),
        ...chart.triples
          .filter(({ state, nextState }) => !state.matches('quarantined') && nextState.matches('quarantined'))
          .filter(({ nextState: { children } }) => !('settlePrompt' in children && 'abortQuarantined' in children))
          .map(({ nextState }) => `${describeState(nextState)} waits for less than both`),
        ...chart
          .stuck((state) => state.matches('ready'), isSettlement)
          .filter((state) => state.matches('quarantined'))
          .map((state) => `${describeState(state)} never ends`),
      ]),
    brokenBy: {
      'the prompt alone ends it': edit((at) => {
        invocation(at('quarantined.prompt.unsettled'), 'settlePrompt').onDone = '#session.ready';
      }),
      'nobody waits for the abort': edit((at) => {
        at('quarantined.abort').initial = 'settled';
      }),
      'a prompt ends it': edit((at) => {
        at('quarantined').on = { ...at('quarantined').on, PROMPT: at('ready').on?.['PROMPT'] };
      }),
      'a rejected abort keeps it for ever': edit((at) => {
        invocation(at('quarantined.abort.attempting'), 'abortQuarantined').onError = {};
        invocation(at('quarantined.abort.attempting'), 'abortQuarantined').onDone = {};
      }),
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
    says: 'one admission at a time, and none beside a turn; a prompt that waited is tried next',
    findings: (chart) =>
      unique([
        ...breaches(
          chart.triples.filter(({ state, event }) =>
            effectsOf(state, event).spawned.some(({ src }) => src === 'admitPrompt'),
          ),
          ({ state, event }) =>
            Object.keys(state.children).some((id) => id !== 'admitPrompt') ||
            (event.type === 'PROMPT' && 'admitPrompt' in state.children),
        ),
        ...chart
          .active()
          .filter((state) => state.matches('ready') && state.context.waiting.length > 0)
          .map((state) => `${describeState(state)} leaves ${state.context.waiting.length} waiting`),
      ]),
    brokenBy: {
      'a second prompt interrupts': edit((at) => {
        at('admitting').on = {
          ...at('admitting').on,
          PROMPT: { ...(at('ready').on?.['PROMPT'] as object), reenter: true },
        };
      }),
      'a prompt beside a turn is admitted': edit((at) => {
        at('engaged').on = { ...at('engaged').on, PROMPT: at('ready').on?.['PROMPT'] };
      }),
      'a prompt that waited is left': edit((at) => (at('ready').always as unknown[]).shift()),
    },
  },
  {
    says: 'an abort of a session at rest changes nothing',
    findings: (chart) =>
      unique(
        chart
          .active()
          .filter((state) => state.matches('ready'))
          .flatMap((state) => {
            const { state: next, spawned, sent } = effectsOf(state, ABORT);
            const isSame = JSON.stringify([next.value, next.context]) === JSON.stringify([state.value, state.context]);
            return isSame && spawned.length + sent.length === 0 ? [] : [describeState(state)];
          }),
      ),
    brokenBy: {
      'it moves the time': edit((at) => {
        const abort = at('ready').on?.['ABORT'] as { actions: unknown };
        abort.actions = [abort.actions, 'stamp'];
      }),
      'it makes a failed session idle': edit((at) => {
        at('ready.failed').on = { ABORT: { ...(at('ready').on?.['ABORT'] as object), target: 'idle' } };
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
          CLOSE: { ...(at('closing').on?.['CLOSE'] as object), target: '.disposing', reenter: true },
        };
      }),
      'a deadline disposes again': edit((at) => {
        at('closing.disposing').after = { disposeTimeout: { target: 'disposing', reenter: true } };
      }),
      'a close in quarantine disposes nothing': edit((at) => {
        (at('quarantined').on?.['CLOSE'] as Part).target = 'closed';
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
    says: 'a broken chart below is a defect, and is reported',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ event }) =>
          ['xstate.error.actor.turn', 'xstate.error.actor.start'].includes(event.type),
        ),
        ({ state, event, nextState }) =>
          !effectsOf(state, event).actions.includes('reportDefect') || isRestless(nextState),
      ),
    brokenBy: {
      'a broken turn is taken for a failed one': edit((at) => {
        invocation(at('engaged'), 'turn').onError = 'ready.failed';
      }),
      'a broken start is not reported': edit((at) => {
        const broken = invocation(at('opening'), 'start').onError as { actions: unknown[] };
        broken.actions.shift();
      }),
    },
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
