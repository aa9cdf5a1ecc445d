/** What is promised: what a start may and may not do, whatever the chart looks like. */
import type { AnyEventObject } from 'xstate';
import { startMachine } from '../../../src/machines/session/start.machine.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { breaches, edit, type Requirement, requirementSuite, unheard, unique } from '../../kit/requirement-suite.ts';
import { describeState, describeTriple, isTimer, Reachable, statusOf } from '../../kit/requirements.ts';
import { model } from './domain.ts';

type Start = typeof startMachine;

/** The steps in their order: the deadline of each, and what its silence or breakage is called. */
const STEPS = [
  { step: 'selectModel', deadlineMs: 30_000, code: 'pi_session_creation_failed', stage: 'runtime' },
  { step: 'checkAuthentication', deadlineMs: 5_000, code: 'local_authentication_unavailable', stage: 'check_auth' },
  { step: 'readAuthentication', deadlineMs: 5_000, code: 'local_authentication_unavailable', stage: 'get_auth' },
  { step: 'checkAvailability', deadlineMs: 5_000, code: 'model_unavailable', stage: 'availability' },
  // Each server has its 10,000 in the connection chart; this one only catches an adapter that is silent.
  { step: 'connectTools', deadlineMs: 10_500, code: 'external_mcp_unavailable', stage: 'mcp_tools' },
  { step: 'createSession', deadlineMs: 10_000, code: 'pi_session_creation_failed', stage: 'create_session' },
] as const;

const REFUSED = { ok: false, code: 'model_unavailable', stage: 'availability' };

const explore = (machine: Start) => new Reachable(model(machine));
const liveSteps = (state: { readonly children: object }) => Object.keys(state.children);
const outputOf = (state: unknown) => (state as { output?: { ok: boolean; code?: string; stage?: string } }).output;
type State = Reachable<Start>['states'][number];
const isOpened = (state: State) => state.matches('opened') || outputOf(state)?.ok === true;
const isRefused = (state: State) => statusOf(state) === 'done' && !isOpened(state) && outputOf(state)?.ok === false;
const passed = (event: AnyEventObject) => (event['output'] as { ok?: boolean } | undefined)?.ok === true;

const requirements: Requirement<Start>[] = [
  {
    says: 'with silent adapters, deadlines alone always end a start, refused',
    findings: (chart) => chart.avoiding(isRefused, isTimer).map(describeState),
    brokenBy: {
      'the SDK may load for ever': edit((at) => drop(at('selecting').after, 'loadingTimeout')),
      'a deadline opens the session': edit((at) => {
        at('creating').after = { creationTimeout: 'opened' };
      }),
      'a deadline only begins the step again': edit((at) => {
        at('checkingAvailability').after = { authenticationTimeout: { target: 'checkingAvailability', reenter: true } };
      }),
    },
  },
  {
    says: 'each step has the deadline that is promised, and they come one by one in this order',
    findings: (chart) =>
      chart.active().flatMap((state) => {
        const [live = '', ...more] = liveSteps(state);
        const index = STEPS.findIndex(({ step }) => step === live);
        const { state: next, spawned, deadlines } = effectsOf(state, doneOf(live));
        const expected = STEPS[index + 1];
        return [
          ...(index < 0 || more.length > 0 ? [`${describeState(state)} works on ${liveSteps(state)}`] : []),
          ...(expected?.step === spawned[0]?.src ? [] : [`${live} is followed by ${spawned[0]?.src}`]),
          ...(expected?.deadlineMs === deadlines[0]?.delayMs
            ? []
            : [`${spawned[0]?.src}: ${deadlines[0]?.delayMs} ms`]),
          ...(expected !== undefined || outputOf(next)?.ok ? [] : [`all steps passed, but ${describeState(next)}`]),
        ];
      }),
    brokenBy: {
      'a step is left out': edit((at) => {
        const select = invocation(at('selecting'), 'selectModel') as { onDone: { target: string }[] };
        if (select.onDone[0]) select.onDone[0].target = 'readingAuthentication';
      }),
      'reading the authentication has the wrong deadline': edit((at) => {
        const { authenticationTimeout } = at('readingAuthentication').after ?? {};
        at('readingAuthentication').after = { creationTimeout: authenticationTimeout };
      }),
    },
  },
  {
    says: 'only the success of every step opens a session',
    findings: (chart) => [
      ...breaches(
        chart.triples.filter(({ nextState }) => isOpened(nextState)),
        ({ event }) => event.type !== 'xstate.done.actor.createSession' || !passed(event),
      ),
      ...chart.states
        .filter((state) => statusOf(state) === 'done' && state.matches('opened') !== (outputOf(state)?.ok === true))
        .map((state) => `${describeState(state)} says ok: ${outputOf(state)?.ok}`),
    ],
    brokenBy: {
      'a created session is refused': edit((at) => {
        (invocation(at('creating'), 'createSession') as { onDone: object[] }).onDone.shift();
      }),
      'a refused creation opens': edit((at) => {
        const create = invocation(at('creating'), 'createSession') as { onDone: { guard?: unknown }[] };
        drop(create.onDone[0], 'guard');
      }),
      'availability opens': edit((at) => {
        const check = invocation(at('checkingAvailability'), 'checkAvailability') as { onDone: object[] };
        check.onDone[0] = {
          target: 'opened',
          actions: { type: 'settle', params: { ok: true, selection: { provider: '', model: '', thinkingLevel: '' } } },
        };
      }),
    },
  },
  {
    says: 'nothing after a refusal starts another step',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ event }) => isTimer({ event }) || !passed(event)),
        ({ state, event, nextState }) => effectsOf(state, event).spawned.length > 0 || !isRefused(nextState),
      ),
    brokenBy: {
      'a rejection is skipped': edit((at) => {
        invocation(at('checkingAuthentication'), 'checkAuthentication').onError = 'readingAuthentication';
      }),
      'a refused step is tried again': edit((at) => {
        const select = invocation(at('selecting'), 'selectModel') as { onDone: object[] };
        select.onDone[1] = { target: 'selecting', reenter: true };
      }),
    },
  },
  {
    says: 'each refusal carries the code and the stage of what failed',
    findings: (chart) =>
      unique(
        chart.triples
          .filter(({ nextState }) => isRefused(nextState))
          .flatMap(({ state, event, nextState }) => {
            const own = STEPS.find(({ step }) => step === liveSteps(state)[0]);
            const { code, stage } = (event['output'] as { code?: string; stage?: string } | undefined) ?? own ?? {};
            const actual = outputOf(nextState);
            return actual?.code === code && actual?.stage === stage
              ? []
              : [`${describeTriple({ state, event, nextState })}: ${actual?.code} at ${actual?.stage}`];
          }),
      ),
    brokenBy: {
      'a deadline says nothing of its stage': edit((at) => {
        at('checkingAuthentication').after = { authenticationTimeout: 'refused' };
      }),
      'the step that refused is not listened to': edit((at) => {
        const select = invocation(at('selecting'), 'selectModel') as { onDone: object[] };
        select.onDone[1] = { target: 'refused' };
      }),
      'two stages are mixed up': edit((at) => {
        const read = invocation(at('readingAuthentication'), 'readAuthentication');
        read.onError = invocation(at('checkingAuthentication'), 'checkAuthentication').onError;
      }),
    },
  },
  {
    says: 'whatever a step comes to is heard',
    findings: (chart) =>
      unheard(chart, Object.fromEntries(STEPS.map(({ step }) => [step, [{ ok: true, selection: {} }, REFUSED]]))),
    brokenBy: {
      'a rejected step is waited for': edit((at) => drop(invocation(at('connecting'), 'connectTools'), 'onError')),
      'a created session is not noticed': edit((at) => drop(invocation(at('creating'), 'createSession'), 'onDone')),
    },
  },
];

function doneOf(step: string): AnyEventObject {
  return { type: `xstate.done.actor.${step}`, actorId: step, output: { ok: true, selection: {} } };
}

requirementSuite(startMachine, explore, requirements);
