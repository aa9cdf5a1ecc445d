/** What is ignored, and what settles too late, changes nothing that anybody can observe. */
import { describe, expect, test } from 'vitest';
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { Operation } from '../../../src/ports/setup/target.ts';
import type { ChartModel, ChartPath } from '../../kit/chart-model.ts';
import { model as registrationModel } from '../registration/domain.ts';
import { model as slotModel } from '../skill-slot/domain.ts';
import { model as hookModel } from '../wake-hook/domain.ts';
import { applyEvent } from './paths.ts';
import type { PortName } from './port-calls.ts';
import { CLAUDE, GOOD, registrationRecord, SetupWorld, WOKEN } from './world.ts';

const OWNED = { ok: true, records: [registrationRecord(CLAUDE)] };
type Before = readonly (readonly [PortName, unknown?])[];

const LOCKED: Before = [['acquire'], ['checkDoctor'], ['bindRelease']];
const WITHOUT_DOCTOR: Before = [['acquire'], ['bindRelease']];
const CHECKED: Before = [['checkDoctor'], ['bindRelease']];

/** Registration and skill are as they should be. */
const PLACED: Before = [['readRecords', OWNED], ['inspect'], ['readRecords'], ['readSource'], ['look']];

interface Plan {
  readonly operation: Operation;
  readonly before: Before;
  readonly model: ChartModel<AnyStateMachine>;
}

const plan = (operation: Operation, before: Before, model: unknown): Plan => ({
  operation,
  before,
  model: model as ChartModel<AnyStateMachine>,
});

const PLANS: Readonly<Record<string, Plan>> = {
  'registration, apply': plan('apply', LOCKED, registrationModel('apply')),
  'registration, verify': plan('verify', CHECKED, registrationModel('verify')),
  'registration, remove': plan('remove', WITHOUT_DOCTOR, registrationModel('remove')),
  'skill slot, apply': plan('apply', [...LOCKED, ['readRecords', OWNED], ['inspect']], slotModel('apply')),
  'skill slot, remove': plan(
    'remove',
    [...WITHOUT_DOCTOR, ['readRecords', OWNED], ['inspect', 'absent'], ['drop']],
    slotModel('remove'),
  ),
  'wake hook, apply': plan('apply', [...LOCKED, ...PLACED], hookModel('apply')),
  'wake hook, remove': plan(
    'remove',
    [...WITHOUT_DOCTOR, ['readRecords', OWNED], ['inspect', 'absent'], ['drop'], ['readRecords']],
    hookModel('remove'),
  ),
};

/** Answers that would matter if anybody still listened. */
const ANSWERS: Readonly<Partial<Record<PortName, readonly unknown[]>>> = {
  inspect: ['absent', 'equivalent', 'divergent'],
  readRecords: [OWNED, { ok: false }],
  inspectHook: ['absent', 'equivalent', 'divergent'],
  look: [{ kind: 'absent' }, { kind: 'linked' }, GOOD['look']],
  checkDoctor: [{ errors: 0 }, { errors: 1 }],
  bindRelease: [GOOD['bindRelease'], { ok: false }],
};

const observe = (world: SetupWorld, without?: unknown) =>
  JSON.stringify({
    asked: world.live.filter((call) => call !== without).map(({ name, signal }) => [name, signal?.aborted]),
    timers: [...world.clock.pendingByDelay().keys()],
    result: world.result,
    progress: world.progress.length,
  });

async function worldAt({ operation, before, model }: Plan, path: ChartPath<AnyStateMachine>): Promise<SetupWorld> {
  const targets = [model.machine.id === 'wakeHook' ? WOKEN : CLAUDE];
  const world = new SetupWorld({ operation, targets });
  for (const [name, outcome] of before) await world.settle(name, outcome);
  for (const { event } of path.steps.slice(1)) await applyEvent(world, event);
  return world;
}

/** Of several paths that differ only in what had been read, one is enough. */
function places({ model }: Plan): ChartPath<AnyStateMachine>[] {
  const isCut = ({ steps }: ChartPath<AnyStateMachine>) =>
    /^(INTERRUPT|xstate\.after)/.test(steps.at(-1)?.event.type ?? '');
  const where = ({ steps }: ChartPath<AnyStateMachine>) =>
    JSON.stringify(steps.slice(-2).map(({ event, state }) => [event.type, (state as AnyMachineSnapshot).value]));
  return [
    ...new Map(
      model
        .paths()
        .filter(isCut)
        .map((path) => [where(path), path]),
    ).values(),
  ];
}

describe.each(Object.entries(PLANS))('%s', (_, each) => {
  test('a second interruption, and an answer that comes too late, change nothing', async () => {
    let probes = 0;
    for (const path of places(each)) {
      const world = await worldAt(each, path);
      const before = observe(world);
      if (path.steps.at(-1)?.event.type === 'INTERRUPT') {
        await world.interrupt('SIGTERM');
        expect(observe(world)).toBe(before);
        probes += 1;
      }
      const late = world.live.slice(0, -1);
      for (const [index, { name }] of late.entries()) {
        for (const answer of ANSWERS[name] ?? [GOOD[name]]) {
          const fresh = await worldAt(each, path);
          const call = fresh.live[index];
          const seen = observe(fresh, call);
          fresh.live.splice(index, 1);
          call?.resolve(answer);
          await fresh.flush();
          expect(observe(fresh)).toBe(seen);
          probes += 1;
        }
      }
      expect((await world.finish()).findings.length).toBeGreaterThan(0);
    }
    expect(probes).toBeGreaterThanOrEqual(8);
  });
});

test.each(['checkDoctor', 'bindRelease'] as const)(
  'a %s that is not waited for any more is not heard',
  async (name) => {
    for (const answer of ANSWERS[name] ?? []) {
      const world = new SetupWorld({ operation: 'verify' });
      if (name === 'bindRelease') await world.settle('checkDoctor');
      const call = world.find(name);
      await world.interrupt();
      expect(call.signal?.aborted).toBe(true);
      await world.settle('release');
      const before = observe(world, call);
      await world.settle(name, answer);
      expect(observe(world)).toBe(before);
      expect(world.result).toMatchObject({ exit: 130, findings: [{ code: 'operation_interrupted' }] });
    }
  },
);

test('a run that is over hears no signal', async () => {
  const world = new SetupWorld({ operation: 'verify' });
  const result = await world.finish();
  await world.interrupt();
  expect(world.result).toBe(result);
  expect(world.live).toEqual([]);
});
