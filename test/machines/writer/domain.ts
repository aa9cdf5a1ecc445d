/** The writer charts' events, the ways into each child chart, and what makes each event happen in the real assembly. */
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import { finishMachine } from '../../../src/machines/writers/finish.machine.ts';
import type { Plan } from '../../../src/machines/writers/plan.ts';
import { PROVISION_PHASES, provisionMachine } from '../../../src/machines/writers/provision.machine.ts';
import { removalMachine } from '../../../src/machines/writers/removal.machine.ts';
import type { Ended } from '../../../src/machines/writers/steps.ts';
import { writerMachine } from '../../../src/machines/writers/writer.machine.ts';
import type { JournalRead, WriterInput, WriterOperation, WriterPhase } from '../../../src/ports/writers/lifecycle.ts';
import { type ChartModel, chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';
import { successOf, type WriterCall, type WriterWorld } from '../../kit/scripted-writer.ts';

export type Writer = typeof writerMachine;
export type Provision = typeof provisionMachine;
export type Finish = typeof finishMachine;
export type Removal = typeof removalMachine;

export const OPERATIONS: readonly WriterOperation[] = [
  'provision',
  'control',
  'accept',
  'collect',
  'finish',
  'reset',
  'recreate',
  'remove',
];
export const PHASES: readonly (WriterPhase | null)[] = [
  null,
  ...PROVISION_PHASES,
  'resetting',
  'recreating',
  'unregistering',
  'removing',
];

/** Every way to ask for something. */
export const INPUTS: readonly WriterInput[] = OPERATIONS.flatMap((operation) =>
  (['persistent', 'ephemeral'] as const).flatMap((lifecycle) =>
    [false, true].map((discard) => ({ operation, lifecycle, discard })),
  ),
);

/** Done well, done badly, rejected. */
function stepCases(...names: readonly WriterCall[]): Readonly<Record<`xstate.${string}`, readonly AnyEventObject[]>> {
  return Object.fromEntries(
    names.flatMap((name) => [
      [`xstate.done.actor.${name}`, [doneEvent(name, { ok: true }), doneEvent(name, { ok: false })]],
      [`xstate.error.actor.${name}`, [errorEvent(name)]],
    ]),
  );
}

const JOURNALS: readonly JournalRead[] = [...PHASES.map((phase) => ({ ok: true, phase }) as const), { ok: false }];

const CHILDREN = ['provision', 'finish', 'removal'] as const;

/** How a child chart may end, given why it runs; a step that breaks the port's word breaks the chart. */
function endingsOf(child: (typeof CHILDREN)[number], snapshot: AnyMachineSnapshot): readonly AnyEventObject[] {
  const { plan } = snapshot.context as { readonly plan: Plan };
  const [isCollection, isBreakable] = [plan.kind === 'collect', plan.kind !== 'collect' || plan.next !== null];
  const step = isCollection ? 'collect' : plan.kind === 'remove' ? 'dispose' : 'record';
  return [
    doneEvent(child, { result: 'done' }),
    ...(isCollection ? [doneEvent(child, { result: 'incomplete' })] : []),
    doneEvent(child, { result: 'failed', step }),
    ...(isBreakable ? [errorEvent(child)] : []),
  ];
}

const childCases = Object.fromEntries(
  CHILDREN.flatMap((child) =>
    ['done', 'error'].map((end) => [
      `xstate.${end}.actor.${child}`,
      (snapshot: AnyMachineSnapshot) =>
        endingsOf(child, snapshot).filter(({ type }) => type.startsWith(`xstate.${end}`)),
    ]),
  ),
);

const WRITER = {
  START: [{ type: 'START' }],
  INTERRUPT: [{ type: 'INTERRUPT' }],
  'xstate.done.actor.fence': ['held', 'busy', 'unavailable'].map((fence) => doneEvent('fence', fence)),
  'xstate.error.actor.fence': [errorEvent('fence')],
  'xstate.done.actor.read': JOURNALS.map((read) => doneEvent('read', read)),
  'xstate.error.actor.read': [errorEvent('read')],
  'xstate.done.actor.inspect': ['clean', 'work', 'unknown'].map((found) => doneEvent('inspect', found)),
  'xstate.error.actor.inspect': [errorEvent('inspect')],
  'xstate.done.actor.consult': ['present', 'absent', 'unknown'].map((found) => doneEvent('consult', found)),
  'xstate.error.actor.consult': [errorEvent('consult')],
  ...stepCases('register'),
  ...childCases,
  'xstate.done.actor.quiesce': [doneEvent('quiesce')],
  'xstate.error.actor.quiesce': [errorEvent('quiesce')],
  'xstate.done.actor.release': [doneEvent('release')],
  'xstate.error.actor.release': [errorEvent('release')],
};

export const writerModel = (input: WriterInput, machine: Writer = writerMachine): ChartModel<Writer> =>
  chartModel(machine, { domain: WRITER as unknown as Domain<Writer>, input });

const COLLECTED = {
  'xstate.done.actor.collect': ['complete', 'incomplete', 'failed'].map((outcome) => doneEvent('collect', outcome)),
  'xstate.error.actor.collect': [errorEvent('collect')],
};

export const provisionModel = (
  input: Parameters<typeof chartModel<Provision>>[1]['input'],
  machine = provisionMachine,
) =>
  chartModel<Provision>(machine, {
    domain: stepCases(
      'record',
      'clone',
      'prepare',
      'configure',
      'wrap',
      'register',
      'control',
      'accept',
    ) as Domain<Provision>,
    ...(input && { input }),
  });

export const finishModel = (input: Parameters<typeof chartModel<Finish>>[1]['input'], machine = finishMachine) =>
  chartModel<Finish>(machine, {
    domain: { ...stepCases('record', 'reset', 'recreate'), ...COLLECTED } as Domain<Finish>,
    ...(input && { input }),
  });

export const removalModel = (input: Parameters<typeof chartModel<Removal>>[1]['input'], machine = removalMachine) =>
  chartModel<Removal>(machine, {
    domain: stepCases('record', 'unregister', 'dispose', 'forget') as Domain<Removal>,
    ...(input && { input }),
  });

/** @param event Of the writer chart, or of the child chart that runs below it. */
export async function applyWriterEvent(world: WriterWorld, event: AnyEventObject): Promise<void> {
  const [, kind = '', , name = ''] = event.type.split('.');
  if (event.type === 'START' || event.type === 'xstate.init') return world.flush();
  if (event.type === 'INTERRUPT') return world.interrupt();
  if (CHILDREN.some((child) => child === name)) return bringChildTo(world, event['output'] as Ended | undefined);
  const call = world.find(name as WriterCall);
  await (kind === 'done' ? world.settle(call, event['output']) : world.fail(call));
}

/** Takes the child chart below the writer to its end, the shortest way that ends so. */
async function bringChildTo(world: WriterWorld, ended: Ended | undefined): Promise<void> {
  for (let [call] = world.live; call && call.name !== 'release'; [call] = world.live) {
    const isBroken = ended === undefined && call.name !== 'collect';
    const fails = ended?.result === 'failed' && ended.step === call.name;
    if (isBroken) await world.settle(call, undefined);
    else if (ended?.result === 'incomplete' && call.name === 'collect') await world.settle(call, 'incomplete');
    else if (fails) await world.settle(call, call.name === 'collect' ? 'failed' : { ok: false });
    else await world.settle(call, successOf(call.name));
  }
}
