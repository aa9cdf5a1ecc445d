/** What is promised of the steps: recorded before they are tried, tried again after a crash, in their order. */
import { describe } from 'vitest';
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { finishMachine } from '../../../src/machines/writers/finish.machine.ts';
import { PROVISION_PHASES, provisionMachine } from '../../../src/machines/writers/provision.machine.ts';
import { removalMachine } from '../../../src/machines/writers/removal.machine.ts';
import type { Triple } from '../../kit/chart-model.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { edit, type Requirement, requirementSuite, unheard, unique } from '../../kit/requirement-suite.ts';
import { describeState, describeTriple, Reachable, statusOf } from '../../kit/requirements.ts';
import { type Finish, finishModel, type Provision, provisionModel, type Removal, removalModel } from './domain.ts';
import { plansOf } from './entrances.ts';

const childOf = (state: unknown) => Object.keys((state as AnyMachineSnapshot).children).join();
const phaseOf = (state: unknown) => (state as AnyMachineSnapshot).context.phase as string;
const outputOf = (state: unknown) => JSON.stringify((state as AnyMachineSnapshot).output);

/** One chart begun in each of the ways that the plan table knows. */
function joined<M extends AnyStateMachine>(models: readonly { reachable(): Triple<M>[] }[]): Reachable<M> {
  return new Reachable<M>({
    key: (state: unknown) => {
      const { value, context, status, children } = state as AnyMachineSnapshot;
      return JSON.stringify([value, context, status, Object.keys(children)]);
    },
    reachable: () => models.flatMap((model) => model.reachable()),
  } as never);
}

const provisioned = (machine: Provision) =>
  joined<Provision>(plansOf('provision').map(({ plan }) => provisionModel(plan, machine)));
const finished = (machine: Finish) =>
  joined<Finish>(plansOf('collect', 'restart').map(({ plan }) => finishModel(plan, machine)));
const removed = (machine: Removal) => joined<Removal>(plansOf('remove').map(({ plan }) => removalModel(plan, machine)));

const isSuccess = ({ event }: { readonly event: { readonly type: string } }, child: string) =>
  event.type === `xstate.done.actor.${child}` &&
  JSON.stringify((event as { output?: unknown }).output) === '{"ok":true}';

/** Steps that begin although their phase has not just been recorded, or was not when the chart began. */
function unrecorded<M extends AnyStateMachine>(chart: Reachable<M>, steps: Readonly<Record<string, string>>): string[] {
  const begins = chart.triples.filter(
    ({ state, nextState }) => childOf(nextState) in steps && childOf(state) !== childOf(nextState),
  );
  return unique([
    ...begins.filter((triple) => !isSuccess(triple, 'record')).map(describeTriple),
    ...chart
      .active()
      .filter((state) => childOf(state) in steps && phaseOf(state) !== steps[childOf(state)])
      .map(describeState),
    ...(begins.length === 0 ? ['nothing begins'] : []),
    ...chart
      .active()
      .filter((state) => childOf(state) in steps && !(state as unknown as AnyMachineSnapshot).context.recorded)
      .filter((state) => !chart.triples.some(({ nextState }) => JSON.stringify(nextState) === JSON.stringify(state)))
      .map((state) => `begins with ${describeState(state)}`),
  ]);
}

/** A step that did not succeed and yet is not the end, or not told as that step's failure. */
function unfailed<M extends AnyStateMachine>(chart: Reachable<M>): string[] {
  return chart.triples
    .filter(({ state, event }) => {
      const child = childOf(state);
      const isGood = isSuccess({ event }, child) || child === 'collect';
      return event.type.startsWith('xstate.') && !isGood;
    })
    .filter(
      ({ state, nextState }) => outputOf(nextState) !== JSON.stringify({ result: 'failed', step: childOf(state) }),
    )
    .map(describeTriple);
}

const STEPS = {
  clone: 'cloning',
  prepare: 'preparing',
  configure: 'configuring',
  wrap: 'wrapping',
  register: 'registering',
  control: 'controlling',
  accept: 'accepting',
};
const OUTCOMES = [{ ok: true }, { ok: false }];
const outcomesOf = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, OUTCOMES]));
const onSuccess = (state: { invoke?: unknown }, id: string) =>
  (invocation(state as never, id).onDone as { target: string; actions?: unknown }[])[0] as {
    target: string;
    actions?: unknown;
  };

const provision: Requirement<Provision>[] = [
  {
    says: 'each step is tried after its phase was recorded, and only then',
    findings: (chart) => unrecorded(chart, STEPS),
    brokenBy: {
      'the journal comes later': edit((at) => {
        onSuccess(at('wrapping'), 'wrap').target = 'dispatching';
      }),
      'a record that fails is as good': edit((at) => {
        invocation(at('recording'), 'record').onError = 'dispatching';
      }),
      'a phase leads to another step': edit((at) => {
        (at('dispatching').always as { target: string }[])[2] = { target: 'configuring' } as never;
      }),
    },
  },
  {
    says: 'one phase follows another, in their order',
    findings: (chart) =>
      unique(
        chart.triples
          .filter((triple) => childOf(triple.state) in STEPS && isSuccess(triple, childOf(triple.state)))
          .filter(({ state, nextState }) => {
            const at = PROVISION_PHASES.map(String).indexOf(phaseOf(state));
            return phaseOf(nextState) !== PROVISION_PHASES[at + 1] || childOf(nextState) !== 'record';
          })
          .map(describeTriple),
      ),
    brokenBy: {
      'a step is done twice': edit((at) => drop(onSuccess(at('cloning'), 'clone'), 'actions')),
      'a step is skipped': edit((at) => {
        onSuccess(at('preparing'), 'prepare').actions = ['advance', 'advance'];
      }),
    },
  },
  {
    says: 'a step that fails is the end, and its phase stays',
    findings: (chart) => unfailed(chart),
    brokenBy: {
      'a control that fails is overlooked': edit((at) => {
        (invocation(at('controlling'), 'control').onDone as object[])[1] = { target: 'recording', actions: 'advance' };
      }),
      'an acceptance that fails is overlooked': edit((at) => {
        invocation(at('accepting'), 'accept').onError = 'made';
      }),
    },
  },
  {
    says: 'a writer is ready when control and acceptance have passed in this run or were recorded before, and not sooner',
    findings: (chart) =>
      unique(
        chart.triples
          .filter(({ state, nextState }) => phaseOf(nextState) === 'ready' && phaseOf(state) !== 'ready')
          .filter((triple) => !isSuccess(triple, 'accept'))
          .map(describeTriple),
      ),
    brokenBy: {
      'control alone is enough': edit((at) => {
        onSuccess(at('controlling'), 'control').actions = ['advance', 'advance'];
      }),
    },
  },
  {
    says: 'provisioning never accepts by itself',
    findings: (chart) =>
      unique(
        chart
          .active()
          .filter((state) => state.context.until === 'controlling' && ['control', 'accept'].includes(childOf(state)))
          .map(describeState),
      ),
    brokenBy: {
      'it goes on': edit((at) => {
        (at('dispatching').always as object[]).shift();
      }),
    },
  },
  {
    says: 'whatever a step comes to is heard',
    findings: (chart) => unheard(chart, outcomesOf('record', ...Object.keys(STEPS))),
    brokenBy: { 'a rejection is not': edit((at) => drop(invocation(at('registering'), 'register'), 'onError')) },
  },
];

const RESTARTS = { reset: 'resetting', recreate: 'recreating' };

const finish: Requirement<Finish>[] = [
  {
    says: 'the clone is touched after it was recorded that it may be, and only then',
    findings: (chart) => unrecorded(chart, RESTARTS),
    brokenBy: {
      'the journal comes later': edit((at) => {
        (at('starting').always as { target: string }[])[2] = { target: 'dispatching' };
      }),
      'it is reset where it was to be made anew': edit((at) => {
        (at('dispatching').always as { target: string }[])[1] = { target: 'resetting' } as never;
      }),
    },
  },
  {
    says: 'an incomplete or failed collection is the end, and the clone stays as it is',
    findings: (chart) =>
      unique(
        chart.triples
          .filter(({ state }) => childOf(state) === 'collect')
          .filter(({ event, nextState }) => {
            const { output } = event as { output?: unknown };
            if (output === 'complete')
              return statusOf(nextState) === 'done' && outputOf(nextState) !== '{"result":"done"}';
            const expected = output === 'incomplete' ? { result: 'incomplete' } : { result: 'failed', step: 'collect' };
            return outputOf(nextState) !== JSON.stringify(expected);
          })
          .map(describeTriple),
      ),
    brokenBy: {
      'what could not come out is forgotten': edit((at) => {
        (invocation(at('collecting'), 'collect').onDone as object[])[2] = { target: 'recording' };
      }),
      'an incomplete collection is told as good': edit((at) => {
        (invocation(at('collecting'), 'collect').onDone as object[])[2] = { target: 'done' };
      }),
      'a collection that breaks is overlooked': edit((at) => {
        invocation(at('collecting'), 'collect').onError = 'recording';
      }),
    },
  },
  {
    says: 'a collection that nothing is to follow leaves the clone and the journal alone',
    findings: (chart) =>
      unique(
        chart.states
          .filter(({ context, children }) => !context.restarts && Object.keys(children).some((id) => id !== 'collect'))
          .map(describeState),
      ),
    brokenBy: {
      'it restarts all the same': edit((at) => {
        (invocation(at('collecting'), 'collect').onDone as object[])[1] = { target: 'recording' };
      }),
    },
  },
  {
    says: 'a writer is ready again when it was started anew, and not sooner',
    findings: (chart) =>
      unique([
        ...unfailed(chart),
        ...chart.triples
          .filter(({ state, nextState }) => phaseOf(nextState) === 'ready' && phaseOf(state) !== 'ready')
          .filter((triple) => !isSuccess(triple, childOf(triple.state)) || !(childOf(triple.state) in RESTARTS))
          .map(describeTriple),
      ]),
    brokenBy: {
      'a reset that fails is overlooked': edit((at) => {
        (invocation(at('resetting'), 'reset').onDone as object[])[1] = { target: 'recording', actions: 'becomeReady' };
      }),
      'it is ready as soon as the work is out': edit((at) => {
        (invocation(at('collecting'), 'collect').onDone as { actions?: string }[])[0] = {
          ...(invocation(at('collecting'), 'collect').onDone as object[])[0],
          actions: 'becomeReady',
        };
      }),
    },
  },
  {
    says: 'whatever a step comes to is heard',
    findings: (chart) =>
      unheard(chart, { ...outcomesOf('record', 'reset', 'recreate'), collect: ['complete', 'incomplete', 'failed'] }),
    brokenBy: {
      'an incomplete collection is not': edit((at) => {
        (invocation(at('collecting'), 'collect').onDone as object[]).splice(2);
      }),
    },
  },
];

const removal: Requirement<Removal>[] = [
  {
    says: 'each step is tried after its phase was recorded, and only then',
    findings: (chart) => unrecorded(chart, { unregister: 'unregistering', dispose: 'removing' }),
    brokenBy: {
      'nothing is recorded in between': edit((at) => {
        onSuccess(at('unregistering'), 'unregister').target = 'removing';
      }),
    },
  },
  {
    says: 'first the client forgets it, then it goes, then the journal: each after the one before has succeeded',
    findings: (chart) =>
      unique([
        ...unfailed(chart),
        ...chart.triples
          .filter(({ state, nextState }) => childOf(nextState) === 'forget' && childOf(state) !== 'dispose')
          .map(describeTriple),
        ...chart.triples
          .filter((triple) => outputOf(triple.nextState) === '{"result":"done"}' && !isSuccess(triple, 'forget'))
          .map(describeTriple),
        ...chart.triples
          .filter(({ state, nextState }) => phaseOf(nextState) === 'removing' && phaseOf(state) !== 'removing')
          .filter((triple) => !isSuccess(triple, 'unregister'))
          .map(describeTriple),
      ]),
    brokenBy: {
      'the journal stays': edit((at) => {
        onSuccess(at('removing'), 'dispose').target = 'gone';
      }),
      'a client that cannot forget is overlooked': edit((at) => {
        (invocation(at('unregistering'), 'unregister').onDone as object[])[1] = {
          target: 'recording',
          actions: 'advance',
        };
      }),
      'what is left behind is forgotten': edit((at) => {
        (invocation(at('removing'), 'dispose').onDone as object[])[1] = { target: 'forgetting' };
      }),
    },
  },
  {
    says: 'whatever a step comes to is heard',
    findings: (chart) => unheard(chart, outcomesOf('record', 'unregister', 'dispose', 'forget')),
    brokenBy: { 'a rejection is not': edit((at) => drop(invocation(at('removing'), 'dispose'), 'onError')) },
  },
];

describe('provision', () => requirementSuite(provisionMachine, provisioned, provision));
describe('finish', () => requirementSuite(finishMachine, finished, finish));
describe('removal', () => requirementSuite(removalMachine, removed, removal));
