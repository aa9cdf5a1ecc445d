import { afterAll, describe, expect, test } from 'vitest';
import { skillSlotMachine } from '../../../src/machines/setup/skill-slot.machine.ts';
import type { Operation } from '../../../src/ports/setup/target.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { walk } from '../setup-run/paths.ts';
import type { PortName } from '../setup-run/port-calls.ts';
import { CLAUDE, registrationRecord, SetupWorld } from '../setup-run/world.ts';
import { model, OPERATIONS } from './domain.ts';

type Before = readonly (readonly [PortName, unknown?])[];

const RECORDED = ['readRecords', { ok: true, records: [registrationRecord(CLAUDE)] }] as const;
const REMOVED: Before = [['acquire'], ['bindRelease'], RECORDED, ['inspect', 'absent'], ['drop']];

/** What a run goes through before it comes to the skill. */
const BEFORE: Readonly<Record<Operation, Before>> = {
  'dry-run': [['bindRelease'], RECORDED, ['inspect']],
  verify: [['checkDoctor'], ['bindRelease'], RECORDED, ['inspect'], ['handshake']],
  apply: [['acquire'], ['checkDoctor'], ['bindRelease'], RECORDED, ['inspect']],
  rollback: REMOVED,
  remove: REMOVED,
};

const coverage = new Coverage();

describe.each(OPERATIONS)('skill slot, %s', (operation) => {
  const paths = model(operation).paths();
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const world = new SetupWorld({ operation, inspect: coverage.inspect });
    for (const [name, outcome] of BEFORE[operation]) await world.settle(name, outcome);
    await walk({ world, path, finding: 1 });
  });
});

test('every transition and state was taken', () => {
  expect(coverage.missing(skillSlotMachine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'skill-slot'));
