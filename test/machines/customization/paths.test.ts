import { afterAll, describe, expect, test } from 'vitest';
import { customizationMachine } from '../../../src/machines/setup/customization.machine.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { walk } from '../setup-run/paths.ts';
import { SetupWorld } from '../setup-run/world.ts';
import { model, OPERATIONS } from './domain.ts';

const coverage = new Coverage();

describe.each(OPERATIONS)('customization, %s', (operation) => {
  const paths = model(operation).paths();
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const world = new SetupWorld({ operation, customize: true, inspect: coverage.inspect });
    await walk({ world, path, finding: 0 });
    expect(world.result?.findings[0]?.target).toEqual({ client: 'skills', scope: 'override', alias: 'some-skill' });
  });
});

test('every transition and state was taken', () => {
  expect(coverage.missing(customizationMachine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'customization'));
