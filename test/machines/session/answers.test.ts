/** What is promised: every request gets exactly one reply; and what that reply may be, whatever the chart looks like. */
import type { AnyEventObject } from 'xstate';
import { sessionMachine } from '../../../src/machines/session/session.machine.ts';
import { effectsOf } from '../../kit/effects.ts';
import { imbalance, step } from '../../kit/ledger.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { branchOn, edit, firstOf, type Requirement, requirementSuite, unique } from '../../kit/requirement-suite.ts';
import { describeState, Reachable } from '../../kit/requirements.ts';
import { replyLabel } from '../../kit/world.ts';
import { model } from './domain.ts';
import {
  ABORT,
  allWalks,
  CLOSE,
  observed,
  over,
  PROMPT,
  publicState,
  rememberedBy,
  type Session,
  STOP,
  type State,
  toTheEnd,
} from './walks.ts';

const explore = (machine: Session) => new Reachable(model(observed(machine)));
type Part = { actions: unknown[] };

/** What a request is told at once, by what the client sees; undefined: it has to wait for something. */
const AT_ONCE: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  PROMPT: {
    unknown: 'unknown_session',
    running: 'session_running',
    closing: undefined,
    quarantined: 'session_running',
  },
  ABORT: { unknown: 'unknown_session', idle: 'idle', failed: 'failed', closing: 'closing', running: undefined },
  CLOSE: { unknown: 'unknown_session', idle: undefined, failed: undefined, running: undefined, closing: undefined },
};

function whereIs(state: State): string {
  if (state.matches('admitting')) return 'admitting';
  return publicState(state) ?? 'unknown';
}

function wrongAnswers(state: State): string[] {
  return [PROMPT, ABORT, CLOSE].flatMap((request) => {
    const told = effectsOf(state, request)
      .answers.map(({ reply }) => replyLabel(reply))
      .join();
    const where = whereIs(state);
    const expected = expectedAnswer(state, request, where);
    return told === expected
      ? []
      : [`${request.type} in ${describeState(state)}: ${told || 'waits'}, not ${expected || 'waits'}`];
  });
}

function expectedAnswer(state: State, { type }: AnyEventObject, where: string): string {
  if (where === 'admitting') return '';
  if (type === 'PROMPT' && state.matches('quarantined')) return 'session_running';
  if (type === 'PROMPT' && state.matches({ engaged: 'running' })) return 'session_running';
  if (type === 'PROMPT' && where === 'closing') return 'prompt_rejected';
  return AT_ONCE[type]?.[where] ?? '';
}

const requirements: Requirement<Session>[] = [
  {
    says: 'at every moment each request is answered once, or remembered once, or owed by the turn',
    findings: (_, machine) =>
      firstOf(
        (function* () {
          for (const walk of allWalks(machine, 2)) yield* imbalance(walk, rememberedBy(walk));
        })(),
      ),
    brokenBy: {
      'a prompt during admission is dropped': edit((at) => drop(at('admitting').on, 'PROMPT')),
      'aborts that waited are answered but not forgotten': edit((at) => {
        const [, refused] = (invocation(at('admitting'), 'admitPrompt') as { onDone: Part[] }).onDone;
        refused?.actions.pop();
      }),
      'a deadline forgets who waits to close': edit((at) => {
        const timeout = at('admitting').after?.['preflightTimeout'] as Part;
        timeout.actions = timeout.actions.filter((action) => action !== 'takeClosers');
      }),
      'a close that waited is taken twice': edit((at) => {
        const timeout = at('admitting').after?.['preflightTimeout'] as Part;
        timeout.actions.push('takeClosers');
        timeout.actions = timeout.actions.filter((action) => action !== 'dropWaiting');
      }),
      'STOP forgets the start': edit((at) => {
        at('opening').on = { ...at('opening').on, STOP: 'discarded' };
      }),
      'a second close is dropped': edit((at) => drop(at('closing').on, 'CLOSE')),
      'the end of a turn forgets its abort callers': edit((at) => {
        const [, , ended] = (invocation(at('engaged'), 'turn') as { onDone: Part[] }).onDone;
        ended?.actions.pop();
      }),
      'a closing session swallows prompts': edit((at) => drop(at('closing').on, 'PROMPT')),
      'an abort goes to the turn and is answered, too': edit((at) => {
        const running = at('engaged.running');
        branchOn(running, 'ABORT').actions.push(...branchOn(at('ready'), 'ABORT').actions);
      }),
    },
  },
  {
    says: 'from everywhere, close or stop and then deadlines alone end it, with every request answered once',
    findings: (_, machine) =>
      firstOf(
        (function* () {
          for (const walk of allWalks(machine, 1)) {
            for (const event of [CLOSE, STOP]) {
              if (over(walk.state)) continue;
              // A session that is not public cannot be closed; only the server can stop it.
              if (event === CLOSE && publicState(walk.state as State) === undefined) continue;
              const end = toTheEnd(step(walk, event).walk);
              if (!over(end.state)) yield `${end.trail.join(' → ')}: stays in ${describeState(end.state)}`;
              else yield* imbalance(end, rememberedBy(end));
            }
          }
        })(),
      ),
    brokenBy: {
      'closed does not answer': edit((at) => {
        const closed = at('closed') as { entry: unknown[] };
        closed.entry.pop();
      }),
      'disposing has no deadline': edit((at) => drop(at('closing.disposing'), 'after')),
      'the abort of an admission has no deadline': edit((at) => drop(at('closing.abortingAdmission'), 'after')),
      'the preflight has no deadline': edit((at) => drop(at('admitting'), 'after')),
      'stopping takes no closers along': edit((at) => {
        const stop = branchOn(at('admitting'), 'STOP');
        stop.actions = stop.actions.filter((action) => action !== 'takeClosers');
      }),
      'quarantine ignores who waits to close': edit((at) => drop(at('quarantined'), 'always')),
    },
  },
  {
    says: 'close is accepted in every public state: it is under way from then on, and is answered closed and nothing else',
    findings: (_, machine) =>
      firstOf(
        (function* () {
          // Among them: whatever happens between a close and the deadlines.
          for (const walk of allWalks(machine, 2)) {
            const end = walk.asked.some((id) => id.startsWith('C')) ? toTheEnd(walk) : undefined;
            for (const id of end?.asked.filter((asked) => asked.startsWith('C')) ?? []) {
              const told = end?.answered.filter(({ requestId }) => requestId === id).map(({ label }) => label);
              // It came before the session was public.
              if (told?.join() === 'unknown_session') continue;
              if (told?.join() !== 'closed') yield `${walk.trail.join(' → ')}: ${told?.join() || 'never answered'}`;
            }
          }
        })(),
      ),
    brokenBy: {
      'a turn ignores who waits to close': edit((at) => drop(at('engaged.running'), 'always')),
      'a session at rest ignores who waits to close': edit((at) => (at('ready').always as unknown[]).pop()),
      'a failed session refuses it': edit((at) => {
        at('ready.failed').on = { CLOSE: {} };
      }),
      'a session in quarantine refuses it': edit((at) => drop(at('quarantined').on, 'CLOSE')),
      'it is answered too early': edit((at) => {
        branchOn(at('ready'), 'CLOSE').actions = ['stamp', ...branchOn(at('ready'), 'ABORT').actions];
      }),
    },
  },
  {
    says: 'a request that need not wait has the answer of the contract at once',
    findings: (chart) => unique(chart.active().flatMap(wrongAnswers)),
    brokenBy: {
      'a session in quarantine says prompt_rejected': edit((at) => {
        at('quarantined').on = { ...at('quarantined').on, PROMPT: at('closing').on?.['PROMPT'] };
      }),
      'a prompt beside a turn waits': edit((at) => {
        at('engaged').on = { ...at('engaged').on, PROMPT: at('admitting').on?.['PROMPT'] };
      }),
      'an unpublished session answers': edit((at) => {
        at('opening').on = { ...at('opening').on, CLOSE: at('ready').on?.['ABORT'] };
      }),
      'a close during admission is answered before it': edit((at) => {
        at('admitting').on = { ...at('admitting').on, CLOSE: at('closing').on?.['PROMPT'] };
      }),
      'an abort of a closing session waits': edit((at) => {
        at('closing').on = { ...at('closing').on, ABORT: at('closing').on?.['CLOSE'] };
      }),
    },
  },
];

requirementSuite(sessionMachine, explore, requirements);
