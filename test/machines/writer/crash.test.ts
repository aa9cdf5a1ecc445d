/** SIGKILL at every call of every operation, before, during and after its effect; then the same, or another operation. */
import { describe, expect, test } from 'vitest';
import { runWriter } from '../../../src/app/writer-run.ts';
import type { WriterCode, WriterInput, WriterOperation } from '../../../src/ports/writers/lifecycle.ts';
import { ManualClock } from '../../kit/manual-clock.ts';
import {
  type Death,
  type Disk,
  emptyDisk,
  isStartable,
  SimulatedWriter,
  workedDisk,
} from '../../kit/simulated-writer.ts';
import { INPUTS, OPERATIONS } from './domain.ts';

type Assemble = typeof runWriter;
const WORK = ['branch', 'dirty'];

async function go(disk: Disk, input: WriterInput, death?: Death, assemble: Assemble = runWriter) {
  const writer = new SimulatedWriter(disk, death);
  const run = assemble(writer.port(), input, { clock: new ManualClock() });
  let code: WriterCode | undefined;
  void run.ended.then((ended) => {
    code = ended;
  });
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  return { writer, code, calls: writer.calls };
}

/** What may never be, whatever has happened: found by looking at the disk alone. */
function wrongs(disk: Disk, work: readonly string[], mayLose: boolean): string[] {
  const parts = [
    disk.hasState,
    disk.hasConfiguration,
    disk.hasWrapper,
    disk.isRegistered,
    disk.isControlled,
    disk.isAccepted,
  ];
  const isLost = (each: string) => !disk.checkout.includes(each) && !disk.clone?.includes(each);
  return [
    ...(isStartable(disk) && !(disk.clone && disk.isWhole && parts.every(Boolean))
      ? ['a client could start an unfinished writer']
      : []),
    ...(mayLose ? [] : work.filter(isLost).map((each) => `${each} is lost`)),
    ...(disk.phase === null && (disk.clone || parts.some(Boolean)) ? ['something is left that nobody knows of'] : []),
  ];
}

interface Scene {
  readonly name: string;
  readonly disk: () => Disk;
  readonly work: readonly string[];
}

const SCENES: readonly Scene[] = [
  { name: 'nothing', disk: () => emptyDisk(), work: [] },
  {
    name: 'a provisioned writer',
    disk: () => ({ ...workedDisk([]), phase: 'controlling', isControlled: false, isAccepted: false }),
    work: [],
  },
  { name: 'a clean writer', disk: () => workedDisk([]), work: [] },
  { name: 'a writer with work', disk: () => workedDisk(WORK), work: WORK },
  { name: 'a writer with work that cannot come out', disk: () => workedDisk(WORK, ['dirty']), work: WORK },
];

/** Every call of a run, killed before, during and after its effect. */
function deaths(calls: number): Death[] {
  return Array.from({ length: calls }, (_, index) => index + 1).flatMap((at) =>
    (['before', 'during', 'after'] as const).map((when) => ({ at, when })),
  );
}

async function killEverywhere(scene: Scene, input: WriterInput, assemble?: Assemble) {
  const whole = await go(scene.disk(), input, undefined, assemble);
  const findings = [...whole.writer.mistakes, ...wrongs(whole.writer.disk, scene.work, input.discard)];
  let kills = 0;
  for (const death of deaths(whole.calls)) {
    const { writer } = await go(scene.disk(), input, death, assemble);
    kills += 1;
    const where = `killed ${death.when} call ${death.at}`;
    const { disk } = writer;
    findings.push(...wrongs(disk, scene.work, input.discard).map((wrong) => `${where}: ${wrong}`));
    const again = await go(disk, input, undefined, assemble);
    findings.push(
      ...again.writer.mistakes,
      ...wrongs(disk, scene.work, input.discard).map((wrong) => `${where}, again: ${wrong}`),
    );
    if (JSON.stringify(disk) !== JSON.stringify(whole.writer.disk)) findings.push(`${where}: it ends otherwise`);
    const isDone = again.code === whole.code || again.code === 'writer_unchanged' || again.code === 'writer_absent';
    if (!isDone) findings.push(`${where}: ${again.code} and not ${whole.code}`);
  }
  return { findings, kills, code: whole.code, disk: whole.writer.disk };
}

describe.each(SCENES.map((scene) => [scene.name, scene] as const))('%s', (_, scene) => {
  test.each(OPERATIONS)('%s: killed anywhere and asked again, it comes to the same', async (operation) => {
    for (const input of INPUTS.filter((each) => each.operation === operation)) {
      const { findings, kills } = await killEverywhere(scene, input);
      expect(findings).toEqual([]);
      expect(kills).toBeGreaterThanOrEqual(9);
    }
  });

  test('killed anywhere and followed by anything else, nothing is lost and all can still go', async () => {
    for (const input of INPUTS.filter(({ discard }) => !discard)) {
      const { calls } = await go(scene.disk(), input);
      for (const death of deaths(calls)) {
        for (const next of INPUTS.filter(({ lifecycle, discard }) => lifecycle === input.lifecycle && !discard)) {
          const { writer } = await go(scene.disk(), input, death);
          const { disk } = writer;
          await go(disk, next);
          expect(wrongs(disk, scene.work, false), `${input.operation}, ${next.operation}`).toEqual([]);
          await go(disk, { ...next, operation: 'remove', discard: true });
          expect({ ...disk, checkout: [] }).toEqual({ ...emptyDisk(disk.stuck), checkout: [] });
        }
      }
    }
  });
});

test.each<[string, WriterOperation, boolean, number, WriterCode]>([
  ['nothing', 'provision', false, 0, 'writer_provisioned'],
  ['a provisioned writer', 'control', false, 0, 'writer_ready'],
  ['a writer with work', 'collect', false, 2, 'writer_collected'],
  ['a writer with work', 'finish', false, 2, 'writer_finished'],
  ['a writer with work', 'reset', false, 0, 'work_left'],
  ['a writer with work', 'recreate', true, 0, 'writer_recreated'],
  ['a writer with work', 'remove', false, 0, 'work_left'],
  ['a writer with work', 'remove', true, 0, 'writer_removed'],
  ['a writer with work that cannot come out', 'finish', false, 1, 'collection_incomplete'],
  ['a clean writer', 'remove', false, 0, 'writer_removed'],
])('%s, %s, discard %s: %i come out, %s', async (name, operation, discard, out, code) => {
  const scene = SCENES.find((each) => each.name === name);
  if (!scene) throw new Error(name);
  const ended = await go(scene.disk(), { operation, lifecycle: 'persistent', discard });
  expect([ended.code, ended.writer.disk.checkout.length]).toEqual([code, out]);
});

/** A crash leaves it lost, or registered; in either case as accepted as it was. */
test.each(['controlling', 'accepting', 'ready'] as const)('%s, and its client has lost it', async (phase) => {
  const made = workedDisk(WORK);
  const lost = (): Disk => ({ ...workedDisk(WORK), phase, isRegistered: false, isAccepted: phase === 'ready' });
  const input: WriterInput = { operation: 'provision', lifecycle: 'persistent', discard: false };
  const whole = await go(lost(), input);
  expect(whole.code).toBe('writer_registered');
  const expected = { ...made, phase, isAccepted: phase === 'ready' };
  expect(whole.writer.disk).toEqual(expected);
  for (const death of deaths(whole.calls)) {
    const { writer } = await go(lost(), input, death);
    expect({ ...writer.disk, isRegistered: true }).toEqual(expected);
    const again = await go(writer.disk, input);
    expect(again.writer.mistakes).toEqual([]);
    expect(['writer_registered', 'writer_unchanged']).toContain(again.code);
    expect(writer.disk).toEqual(expected);
  }
});

/** Assemblies that somebody has made a mistake in. */
const NAIVE: Readonly<Record<string, readonly [WriterOperation, Assemble]>> = {
  'what could not come out is taken for complete': [
    'finish',
    (port, input, options) =>
      runWriter(
        { ...port, collect: async (signal) => ((await port.collect(signal)) === 'failed' ? 'failed' : 'complete') },
        input,
        options,
      ),
  ],
  'the journal is not written': [
    'finish',
    (port, input, options) => runWriter({ ...port, record: async () => ({ ok: true }) }, input, options),
  ],
  'the journal goes before the writer': [
    'remove',
    (port, input, options) =>
      runWriter(
        { ...port, unregister: (signal) => port.forget(signal).then(() => port.unregister(signal)) },
        input,
        options,
      ),
  ],
  'the fence is let go of too soon': [
    'finish',
    (port, input, options) =>
      runWriter({ ...port, collect: (signal) => port.release().then(() => port.collect(signal)) }, input, options),
  ],
};

test.each(Object.entries(NAIVE))('it would be seen that %s', async (_, [operation, assemble]) => {
  const findings: string[] = [];
  for (const scene of SCENES) {
    for (const input of INPUTS.filter((each) => each.operation === operation)) {
      findings.push(...(await killEverywhere(scene, input, assemble)).findings);
    }
  }
  expect(findings).not.toEqual([]);
});
