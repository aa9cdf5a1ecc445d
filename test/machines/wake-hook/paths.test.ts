import { afterAll, describe, expect, test } from 'vitest';
import { wakeHookMachine } from '../../../src/machines/setup/wake-hook.machine.ts';
import type { Operation } from '../../../src/ports/setup/target.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { walk } from '../setup-run/paths.ts';
import type { PortName } from '../setup-run/port-calls.ts';
import { registrationRecord, SetupWorld, WOKEN } from '../setup-run/world.ts';
import { model, OPERATIONS } from './domain.ts';

type Calls = readonly (readonly [PortName, unknown?])[];
const OWNED = { ok: true, records: [registrationRecord(WOKEN)] };
const REMOVED: Calls = [['acquire'], ['bindRelease'], ['readRecords', OWNED], ['inspect', 'absent'], ['drop']];
const LOOKED: Calls = [['readRecords'], ['inspect'], ['readRecords'], ['readSource'], ['look']];

/** What a run asks for before it comes to the hook: registration and skill are as they should be. */
const BEFORE: Readonly<Record<Operation, Calls>> = {
  'dry-run': [['bindRelease'], ...LOOKED],
  verify: [['checkDoctor'], ['bindRelease'], ['readRecords'], ['inspect'], ['handshake'], ['readSource'], ['look']],
  apply: [['acquire'], ['checkDoctor'], ['bindRelease'], ...LOOKED],
  rollback: [...REMOVED, ['readRecords']],
  remove: [...REMOVED, ['readRecords']],
};

const coverage = new Coverage();

describe.each(OPERATIONS)('wake hook, %s', (operation) => {
  const paths = model(operation).paths();
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const world = new SetupWorld({ operation, targets: [WOKEN], inspect: coverage.inspect });
    for (const [name, outcome] of BEFORE[operation]) await world.settle(name, outcome);
    await walk({ world, path, finding: 2 });
    expect(world.result?.findings[2]?.target).toEqual({
      client: 'claude-code',
      scope: 'user',
      alias: 'pi-session-mcp-wake',
    });
  });
});

test('every transition and state was taken', () => {
  expect(coverage.missing(wakeHookMachine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'wake-hook'));
