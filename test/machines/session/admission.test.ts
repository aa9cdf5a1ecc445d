import { sessionRecord } from '../../../src/machines/session/session.context.ts';
import { sessionMachine } from '../../../src/machines/session/session.machine.ts';
import { effectsOf } from '../../kit/effects.ts';
import { invocation } from '../../kit/mutate.ts';
import {
  branchOn,
  breaches,
  edit,
  type Requirement,
  requirementSuite,
  type TransitionDraft,
  unique,
} from '../../kit/requirement-suite.ts';
import { describeState, describeTriple, isSettlement, Reachable } from '../../kit/requirements.ts';
import { model } from './domain.ts';
import { ABORT, observed, publicState, type Session, type State } from './walks.ts';

const explore = (machine: Session) => new Reachable(model(observed(machine)));
const isRestless = (state: State) => ['idle', 'failed', 'running'].includes(publicState(state) ?? '');
/** Everything that a client can see of it, or could if it asked. */
const view = (state: State) => {
  const seen = publicState(state);
  return JSON.stringify([seen && sessionRecord(state.context, seen), state.context.turns, state.context.active]);
};
const isStarted = (event: { readonly type: string; readonly output?: unknown }) =>
  event.type === 'xstate.done.actor.admitPrompt' && (event.output as { disposition: string }).disposition === 'started';
type Part = { target?: string; guard?: unknown; actions?: unknown[] };
const branches = (invoke: object) => (invoke as { onDone: Part[] }).onDone;

const requirements: Requirement<Session>[] = [
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
        const timeout = at('admitting').after?.['preflightTimeout'] as Part | undefined;
        timeout?.actions?.push('beginTurn');
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
          PROMPT: { ...branchOn(at('ready'), 'PROMPT'), reenter: true },
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
        branchOn(at('ready'), 'ABORT').actions.push('stamp');
      }),
      'it makes a failed session idle': edit((at) => {
        at('ready.failed').on = { ABORT: { ...branchOn(at('ready'), 'ABORT'), target: 'idle' } };
      }),
    },
  },
  {
    says: 'what is admitted is the prompt that was asked, and its text is kept no longer than until that is decided',
    findings: (chart) =>
      unique([
        ...chart.triples.flatMap((triple) =>
          effectsOf(triple.state, triple.event)
            .spawned.filter(({ src }) => src === 'admitPrompt')
            .filter(
              ({ input }) =>
                JSON.stringify(input) !== JSON.stringify({ sessionId: 's1', turnId: 't1', prompt: 'do it' }),
            )
            .map(({ input }) => `${describeTriple(triple)} admits ${JSON.stringify(input)}`),
        ),
        ...chart.triples
          .filter(
            ({ nextState }) => !nextState.matches('admitting') && JSON.stringify(nextState.context).includes('do it'),
          )
          .map((triple) => `${describeTriple(triple)} keeps the text`),
      ]),
    brokenBy: {
      'a prompt that waited is not taken': edit((at) => {
        const [waits] = at('ready').always as TransitionDraft[];
        if (waits) waits.actions = [];
      }),
      'a started prompt is kept': edit((at) =>
        without(branches(invocation(at('admitting'), 'admitPrompt'))[0], 'dropAdmission'),
      ),
      'a refused prompt is kept': edit((at) =>
        without(branches(invocation(at('admitting'), 'admitPrompt'))[1], 'dropAdmission'),
      ),
      'a rejected prompt is kept': edit((at) =>
        without(invocation(at('admitting'), 'admitPrompt').onError as Part, 'dropAdmission'),
      ),
      'a timed-out prompt is kept': edit((at) =>
        without(at('admitting').after?.['preflightTimeout'] as Part, 'dropPromptText'),
      ),
      'a stop keeps it': edit((at) => without(branchOn(at('admitting'), 'STOP'), 'dropPromptText')),
    },
  },
];

function without(branch: Part | undefined, action: string): void {
  if (branch) branch.actions = branch.actions?.filter((each) => each !== action) ?? [];
}

requirementSuite(sessionMachine, explore, requirements);
