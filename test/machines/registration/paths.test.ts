import { afterAll, describe, expect, test } from 'vitest';
import { registrationMachine } from '../../../src/machines/setup/registration.machine.ts';
import type { Operation } from '../../../src/ports/setup/target.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { walk } from '../setup-run/paths.ts';
import type { PortName } from '../setup-run/port-calls.ts';
import { SetupWorld } from '../setup-run/world.ts';
import { model, OPERATIONS } from './domain.ts';

/** What a run asks for before it comes to the registration. */
const BEFORE: Readonly<Record<Operation, readonly PortName[]>> = {
  'dry-run': ['bindRelease'],
  verify: ['checkDoctor', 'bindRelease'],
  apply: ['acquire', 'checkDoctor', 'bindRelease'],
  rollback: ['acquire', 'bindRelease'],
  remove: ['acquire', 'bindRelease'],
};

const coverage = new Coverage();

describe.each(OPERATIONS)('registration, %s', (operation) => {
  const paths = model(operation).paths();
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const world = new SetupWorld({ operation, inspect: coverage.inspect });
    for (const name of BEFORE[operation]) await world.settle(name);
    await walk({ world, path, finding: 0 });
  });
});

test('every transition and state was taken', () => {
  expect(coverage.missing(registrationMachine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'registration'));
