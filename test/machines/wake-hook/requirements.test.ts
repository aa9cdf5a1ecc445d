/** What is promised on the hook: what may be changed when, and what an interruption does. */
import { wakeHookMachine } from '../../../src/machines/setup/wake-hook.machine.ts';
import type { OwnershipRecord } from '../../../src/ports/setup/ownership.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { breaches, edit, type Requirement, requirementSuite, unheard, unique } from '../../kit/requirement-suite.ts';
import { describeState, isSettlement, Reachable, statusOf } from '../../kit/requirements.ts';
import { remembered } from '../setup-run/paths.ts';
import { ANSWERS, allModels, type State, type WakeHook } from './domain.ts';

type Chart = Reachable<WakeHook>;
type Triple = Chart['triples'][number];

const explore = remembered((machine: WakeHook) => new Reachable(allModels(machine)));
const over = (state: unknown) => statusOf(state) === 'done';
const children = (state: unknown) => Object.keys((state as State).children);
const spawned = ({ state, event }: Triple) => effectsOf(state, event).spawned;
const spawns = (chart: Chart, name: string) =>
  chart.triples.filter((triple) => spawned(triple).some(({ src }) => src === name));
const phaseOf = (triple: Triple) => (spawned(triple)[0]?.input as OwnershipRecord | undefined)?.phase;
const CHANGES = ['put', 'installHook', 'uninstallHook', 'drop'];
const isDone = ({ event }: Triple, actor: string, outcome: unknown) =>
  event.type === `xstate.done.actor.${actor}` &&
  (event['output'] === outcome || (event['output'] as { ok?: boolean }).ok === outcome);

interface Branch {
  guard?: unknown;
  target?: string;
  actions?: unknown;
}
const branches = (invoke: { onDone?: unknown }) => invoke.onDone as Branch[];
const first = (invoke: { onDone?: unknown }) => branches(invoke)[0] as Branch;

const requirements: Requirement<WakeHook>[] = [
  {
    says: 'an interruption is heard everywhere: a look is given up, a change is told and awaited',
    findings: (chart) =>
      unique(
        chart.active().flatMap((state) => {
          const { state: next, actions } = effectsOf(state, { type: 'INTERRUPT' });
          const [child = ''] = children(state);
          const isRight = CHANGES.includes(child)
            ? children(next).includes(child) && actions.includes('abortStep')
            : over(next);
          return isRight && (next as unknown as State).context.verdict !== null ? [] : [describeState(state)];
        }),
      ),
    brokenBy: {
      'an install is left alone': edit((at) => drop(at('installing.adding'), 'on')),
      'a removal is not told': edit((at) => {
        at('removing.uninstalling').on = { INTERRUPT: {} };
      }),
      'nobody listens while looking': edit((at) => drop(at(), 'on')),
    },
  },
  {
    says: 'once there is a verdict nothing more is begun, and it stands',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ state }) => state.context.verdict !== null),
        (triple) =>
          spawned(triple).length > 0 || triple.nextState.context.verdict?.code !== triple.state.context.verdict?.code,
      ),
    brokenBy: {
      'an interrupted install is inspected': edit((at) => {
        delete first(invocation(at('installing.adding'), 'installHook')).guard;
      }),
      'an interrupted record is acted upon': edit((at) => {
        delete first(invocation(at('installing.recordingPending'), 'put')).guard;
      }),
    },
  },
  {
    says: 'the client is asked to install only right after a pending record became durable',
    findings: (chart) =>
      breaches(
        spawns(chart, 'installHook'),
        (triple) => !isDone(triple, 'put', true) || !triple.state.matches({ installing: 'recordingPending' }),
      ),
    brokenBy: {
      'it is asked first': edit((at) => {
        first(invocation(at('inspecting'), 'inspectHook')).target = 'installing.adding';
      }),
      'the write may fail': edit((at) => {
        branches(invocation(at('installing.recordingPending'), 'put'))[1] = { target: 'adding' };
      }),
    },
  },
  {
    says: 'nothing is owned that was not seen to be there, and nothing forgotten that was not seen to be gone',
    findings: (chart) => [
      ...breaches(
        spawns(chart, 'put').filter((triple) => phaseOf(triple) === 'owned'),
        (triple) => !isDone(triple, 'inspectHook', 'equivalent'),
      ),
      ...breaches(spawns(chart, 'drop'), (triple) => !isDone(triple, 'inspectHook', 'absent')),
    ],
    brokenBy: {
      'the word of the client is enough': edit((at) => {
        first(invocation(at('installing.adding'), 'installHook')).target = 'recordingOwned';
      }),
      'whatever is there is owned': edit((at) => {
        delete first(invocation(at('installing.inspectingAgain'), 'inspectHook')).guard;
      }),
      'it is forgotten all the same': edit((at) => {
        delete first(invocation(at('removing.inspectingGone'), 'inspectHook')).guard;
      }),
    },
  },
  {
    says: 'only what is recorded, wanted by no registration and not divergent is removed',
    findings: (chart) =>
      breaches(spawns(chart, 'uninstallHook'), (triple) => {
        const seen = ['absent', 'equivalent', 'outdated', 'disabled'];
        return triple.state.context.record === null || !seen.some((each) => isDone(triple, 'inspectHook', each));
      }),
    brokenBy: {
      'everything is removed': edit((at) => {
        delete first(invocation(at('reading'), 'readRecords')).guard;
      }),
      'whatever is there is removed': edit((at) => {
        delete branches(invocation(at('inspecting'), 'inspectHook'))[2]?.guard;
      }),
    },
  },
  {
    says: 'what is divergent, switched off or unreadable is left as it is by everything but a removal',
    findings: (chart) =>
      breaches(
        chart.triples.filter(
          (triple) =>
            ['divergent', 'unsupported', 'failed', 'disabled'].some((each) => isDone(triple, 'inspectHook', each)) &&
            ['dry-run', 'apply', 'verify'].includes(triple.state.context.operation),
        ),
        (triple) => !over(triple.nextState),
      ),
    brokenBy: {
      'it is replaced': edit((at) => {
        branches(invocation(at('inspecting'), 'inspectHook'))[3] = { target: 'installing' };
      }),
    },
  },
  {
    says: 'a dry-run and a verification change nothing',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ state }) => ['dry-run', 'verify'].includes(state.context.operation)),
        (triple) => spawned(triple).some(({ src }) => CHANGES.includes(src)),
      ),
    brokenBy: {
      'a dry-run installs': edit((at) => {
        delete first(invocation(at('inspecting'), 'inspectHook')).guard;
      }),
    },
  },
  {
    says: 'what may still run ends the run at once, and is said so',
    findings: (chart) =>
      breaches(
        chart.triples.filter((triple) =>
          ['installHook', 'uninstallHook'].some(
            (each) => isDone(triple, each, 'retained') || triple.event.type === `xstate.error.actor.${each}`,
          ),
        ),
        ({ nextState }) => !over(nextState) || nextState.output?.isHalted !== true,
      ),
    brokenBy: {
      'it is inspected all the same': edit((at) => {
        delete first(invocation(at('removing.uninstalling'), 'uninstallHook')).guard;
      }),
      'nobody is told': edit((at) => {
        delete branches(invocation(at('installing.adding'), 'installHook'))[1]?.actions;
      }),
    },
  },
  {
    says: 'every run ends when what it asked for ends, and whatever a port comes to is heard',
    findings: (chart) => [...chart.avoiding(over, isSettlement).map(describeState), ...unheard(chart, ANSWERS)],
    brokenBy: {
      'it removes again and again': edit((at) => {
        first(invocation(at('removing.inspectingGone'), 'inspectHook')).target = 'uninstalling';
      }),
      'a rejection breaks the chart': edit((at) => drop(invocation(at('installing.adding'), 'installHook'), 'onError')),
    },
  },
];

requirementSuite(wakeHookMachine, explore, requirements);
