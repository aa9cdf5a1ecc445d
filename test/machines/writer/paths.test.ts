import { afterAll, describe, expect, test } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { finishMachine } from '../../../src/machines/writers/finish.machine.ts';
import { provisionMachine } from '../../../src/machines/writers/provision.machine.ts';
import { removalMachine } from '../../../src/machines/writers/removal.machine.ts';
import { writerMachine } from '../../../src/machines/writers/writer.machine.ts';
import type { ChartPath } from '../../kit/chart-model.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { WriterWorld } from '../../kit/scripted-writer.ts';
import { applyWriterEvent, finishModel, INPUTS, provisionModel, removalModel, writerModel } from './domain.ts';
import { enter, plansOf } from './entrances.ts';

const coverage = new Coverage();
const { inspect } = coverage;
const CHILDREN = ['provision', 'finish', 'removal'];

describe('writer', () => {
  test.each(
    INPUTS.map((input) => [`${input.operation}, ${input.lifecycle}, discard ${input.discard}`, input] as const),
  )('%s', async (_, input) => {
    const paths = writerModel(input).paths();
    expect(paths.length).toBeGreaterThan(15);
    for (const path of paths) {
      const world = new WriterWorld(input, { inspect });
      for (const { event, state } of path.steps) {
        await applyWriterEvent(world, event);
        // The run starts by itself.
        if (state.matches('idle')) continue;
        const [child] = Object.keys(state.children);
        const live = world.live.map(({ name }) => name);
        expect(live.length, path.title).toBe(state.status === 'done' ? 0 : 1);
        if (child && !CHILDREN.includes(child)) expect(live, path.title).toEqual([child]);
        expect(world.code, path.title).toBe(state.status === 'done' ? state.context.code : undefined);
      }
      expect(world.history.filter((name) => name === 'release').length, path.title).toBe(
        (path.state as AnyMachineSnapshot).status === 'done' || path.state.matches('releasing') ? 1 : 0,
      );
      world.clock.assertEmpty();
    }
  });
});

interface Child {
  readonly steps: readonly string[];
  readonly end: object;
}

/** The child chart's path, driven through the writer that runs it. */
async function follow(world: WriterWorld, path: ChartPath<never>): Promise<Child> {
  const from = world.history.length;
  for (const { event, state } of path.steps as unknown as { event: { type: string }; state: AnyMachineSnapshot }[]) {
    await applyWriterEvent(world, event);
    const expected = state.status === 'done' ? ['release'] : Object.keys(state.children);
    expect(world.live.map(({ name }) => name as string)).toEqual(expected);
    if (expected[0] === 'record') expect(world.find('record').input).toBe(state.context.phase);
  }
  const { output } = path.state as AnyMachineSnapshot;
  const isOver = (path.state as AnyMachineSnapshot).status === 'done';
  if (isOver) await world.succeed('release');
  return { steps: world.history.slice(from), end: { output, code: world.code } };
}

function expectCode(world: WriterWorld, path: ChartPath<never>): void {
  const { output, status } = path.state as AnyMachineSnapshot;
  if (status !== 'done') return;
  const { result, step } = output as { result: string; step?: string };
  if (result === 'failed') expect(world.code).toBe(`${step}_failed`);
  else if (result === 'incomplete') expect(world.code).toBe('collection_incomplete');
  else expect(world.code).toMatch(/^writer_/);
}

const CHARTS = [
  ...plansOf('provision').map((entrance) => ['provision', entrance, provisionModel(entrance.plan)] as const),
  ...plansOf('collect', 'restart').map((entrance) => ['finish', entrance, finishModel(entrance.plan)] as const),
  ...plansOf('remove').map((entrance) => ['removal', entrance, removalModel(entrance.plan)] as const),
].map(([chart, entrance, model]) => {
  const { kind, ...plan } = entrance.plan;
  return [
    `${chart}, ${kind} ${JSON.stringify(plan)}`,
    entrance,
    model.paths() as unknown as ChartPath<never>[],
  ] as const;
});

describe('the charts below it', () => {
  test.each(CHARTS)('%s', async (_, entrance, paths) => {
    expect(paths.length).toBeGreaterThan(1);
    for (const path of paths) {
      const world = await enter(entrance, { inspect });
      await follow(world, path);
      expectCode(world, path);
      world.clock.assertEmpty();
    }
  });
});

test.each(
  [writerMachine, provisionMachine, finishMachine, removalMachine].map((machine) => [machine.id, machine] as const),
)('every transition and state of the %s chart was taken', (_, machine) => {
  expect(coverage.missing(machine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'writer'));
