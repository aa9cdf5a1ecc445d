import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { setupRunMachine } from '../../../src/machines/setup/run.machine.ts';
import type { Operation } from '../../../src/ports/setup/target.ts';
import type { ChartPath } from '../../kit/chart-model.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import {
  applyRunEvent,
  CHILDREN,
  customizeModel,
  model,
  OPERATIONS,
  type Run,
  type State,
  TARGETS,
  WOKEN_TARGETS,
  wokenModel,
} from './domain.ts';
import { SetupWorld } from './world.ts';

/** The first call of each chart below; where a chart begins, it is asked for this. */
function firstCall(state: State): string | undefined {
  const [child] = Object.keys(state.children);
  if (child === 'registration' || child === 'wakeHook') return 'readRecords';
  if (child === 'skillSlot') return state.context.operation === 'verify' ? 'readSource' : 'readRecords';
  return child === 'customization' ? 'readShipped' : child;
}

/** A chart below that looks at something ends at once when it is interrupted. */
function isBetween({ context, children }: State): boolean {
  return context.signal !== null && CHILDREN.some((each) => each in children);
}

async function walk(world: SetupWorld, path: ChartPath<Run>): Promise<void> {
  let before = path.steps[0]?.state as State;
  for (const { event, state } of path.steps) {
    if (event.type !== 'xstate.init') await applyRunEvent(world, event, before);
    before = state;
    if (isBetween(state)) continue;
    if (state.status === 'active') expect(world.asked().at(-1)).toBe(firstCall(state));
    else expect(world.result).toEqual(state.output);
    if (state.matches('locking')) expect(world.find('acquire').signal?.aborted).toBe(state.context.signal !== null);
  }
  await world.finish();
  expect(world.referee.violations).toEqual([]);
  world.clock.assertEmpty();
  expect(world.listeners).toBe(0);
}

const coverage = new Coverage();

// Charts below are broken on purpose; the development build of xstate says so.
beforeAll(() => {
  for (const method of ['error', 'warn'] as const) vi.spyOn(console, method).mockImplementation(() => {});
});
afterAll(() => vi.restoreAllMocks());

describe.each(OPERATIONS)('setup run, %s', (operation: Operation) => {
  const paths = model(operation).paths();
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    await walk(new SetupWorld({ operation, targets: TARGETS, inspect: coverage.inspect }), path);
  });
});

describe.each(OPERATIONS)('setup run, %s, with the hook', (operation: Operation) => {
  const paths = wokenModel(operation).paths();
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    await walk(new SetupWorld({ operation, targets: WOKEN_TARGETS, inspect: coverage.inspect }), path);
  });
});

describe('setup run, customization', () => {
  const paths = customizeModel('apply').paths();
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    await walk(new SetupWorld({ operation: 'apply', targets: [], customize: true, inspect: coverage.inspect }), path);
  });
});

test('every transition and state was taken', () => {
  expect(coverage.missing(setupRunMachine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'setup-run'));
