/**
 * Crash points: the process is gone before, and after, every single call that
 * it makes. The same command is then run again and has to come to the intended
 * end, with everything of others as it was.
 */
import { afterAll, describe, expect, test } from 'vitest';
import type { OwnershipRecord } from '../../../src/ports/setup/ownership.ts';
import type { SetupTarget } from '../../../src/ports/setup/run.ts';
import type { Operation } from '../../../src/ports/setup/target.ts';
import { customizeIn, Lab, type LabOptions, runIn, settle } from './lab.ts';
import type { Ask } from './port-calls.ts';
import { CLAUDE, CODEX, hookRecord, LOCAL, OLD_SKILL, registrationRecord, SKILL, skillRecord, WOKEN } from './world.ts';

const PROJECT = registrationRecord(CLAUDE, { alias: 'pi-session-mcp@aaaaaaaaaaaaaaaa', scope: 'project' });
/** Records and entries of others, which no run may touch. */
const OTHERS = [PROJECT];
const FOREIGN_ENTRY = { 'claude-code project': 'foreign' } as const;

interface Scenario extends LabOptions {
  readonly operation: Operation;
  readonly targets: readonly SetupTarget[];
  /** What is there when the command has been run to its end. */
  readonly entries: Readonly<Record<string, 'ours' | null>>;
  readonly before?: LabOptions['entries'];
  /** A registration in a project keeps the hook, so where that goes there is none. */
  readonly others?: readonly OwnershipRecord[];
  readonly after: { readonly records: readonly OwnershipRecord[]; readonly slot: string | null; readonly hook?: true };
}

const current = { kind: 'tree', fingerprint: SKILL, hidden: false } as const;
const older = { kind: 'tree', fingerprint: OLD_SKILL, hidden: false } as const;
const APPLIED = [registrationRecord(CLAUDE), skillRecord(CLAUDE)];

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'apply, one target': {
    operation: 'apply',
    targets: [CLAUDE],
    entries: { 'claude-code user': 'ours' },
    after: { records: APPLIED, slot: SKILL },
  },
  'apply, three targets with a shared skill': {
    operation: 'apply',
    targets: [CLAUDE, LOCAL, CODEX],
    entries: { 'claude-code user': 'ours', 'claude-code local': 'ours', 'codex user': 'ours' },
    after: {
      records: [...APPLIED, registrationRecord(LOCAL), registrationRecord(CODEX)],
      slot: SKILL,
    },
  },
  'apply over an older skill': {
    operation: 'apply',
    targets: [CLAUDE],
    records: [registrationRecord(CLAUDE), skillRecord(CLAUDE, { fingerprint: OLD_SKILL })],
    before: { 'claude-code user': 'ours' },
    slot: older,
    entries: { 'claude-code user': 'ours' },
    after: { records: APPLIED, slot: SKILL },
  },
  'apply after the entry and the copy were deleted by hand': {
    operation: 'apply',
    targets: [CLAUDE],
    records: APPLIED,
    entries: { 'claude-code user': 'ours' },
    after: { records: APPLIED, slot: SKILL },
  },
  remove: {
    operation: 'remove',
    targets: [CLAUDE],
    records: APPLIED,
    before: { 'claude-code user': 'ours' },
    slot: current,
    entries: { 'claude-code user': null },
    after: { records: [], slot: null },
  },
  'remove of two that share the skill': {
    operation: 'remove',
    targets: [LOCAL, CLAUDE],
    records: [...APPLIED, registrationRecord(LOCAL)],
    before: { 'claude-code user': 'ours', 'claude-code local': 'ours' },
    slot: current,
    entries: { 'claude-code user': null, 'claude-code local': null },
    after: { records: [], slot: null },
  },
  'apply with the hook': {
    operation: 'apply',
    targets: [WOKEN],
    entries: { 'claude-code user': 'ours' },
    after: { records: [...APPLIED, hookRecord()], slot: SKILL, hook: true },
  },
  'apply over the hook of another release': {
    operation: 'apply',
    targets: [WOKEN],
    records: [...APPLIED, hookRecord({ fingerprint: 'other' })],
    before: { 'claude-code user': 'ours' },
    hook: { files: 'other', plugin: 'ours' },
    slot: current,
    entries: { 'claude-code user': 'ours' },
    after: { records: [...APPLIED, hookRecord()], slot: SKILL, hook: true },
  },
  'remove of the last two that want the hook, which nobody names': {
    operation: 'remove',
    targets: [LOCAL, CLAUDE],
    records: [...APPLIED, registrationRecord(LOCAL), hookRecord()],
    before: { 'claude-code user': 'ours', 'claude-code local': 'ours' },
    hook: { files: 'ours', plugin: 'ours' },
    slot: current,
    others: [],
    entries: { 'claude-code user': null, 'claude-code local': null },
    after: { records: [], slot: null },
  },
  'remove of a hook whose files alone were written': {
    operation: 'remove',
    targets: [CLAUDE],
    records: [...APPLIED, hookRecord({ phase: 'pending' })],
    before: { 'claude-code user': 'ours' },
    hook: { files: 'ours', plugin: null },
    slot: current,
    others: [],
    entries: { 'claude-code user': null },
    after: { records: [], slot: null },
  },
  'rollback of an older skill': {
    operation: 'rollback',
    targets: [CLAUDE],
    records: [registrationRecord(CLAUDE), skillRecord(CLAUDE, { fingerprint: OLD_SKILL })],
    before: { 'claude-code user': 'ours' },
    slot: older,
    entries: { 'claude-code user': null },
    after: { records: [], slot: null },
  },
};

/** The process is gone: what it was told comes to nobody, and nothing more is asked. */
function crashAt(point: number, when: 'before' | 'after'): { readonly between: (ask: Ask) => Ask; isOver: boolean } {
  const crash = { isOver: false, between: (ask: Ask): Ask => watch(ask) };
  let calls = 0;
  const watch =
    (ask: Ask): Ask =>
    async (call) => {
      calls += 1;
      if (crash.isOver || calls > point) {
        crash.isOver = true;
        return new Promise(() => {});
      }
      if (calls < point) return ask(call);
      if (when === 'after') await ask(call);
      crash.isOver = true;
      return new Promise(() => {});
    };
  return crash;
}

const labOf = ({ records = [], before = {}, slot, hook, others = OTHERS }: Scenario) =>
  new Lab({
    records: [...records, ...others],
    entries: { ...FOREIGN_ENTRY, ...before },
    ...(slot && { slot }),
    // Each life has a disk of its own.
    ...(hook && { hook: { ...hook } }),
  });

const sorted = (records: readonly OwnershipRecord[]) => records.map((record) => JSON.stringify(record)).sort();

function expectEnd(lab: Lab, { entries, after, others = OTHERS }: Scenario): void {
  expect(Object.fromEntries(lab.entries)).toMatchObject({ ...FOREIGN_ENTRY, ...entries });
  expect(sorted(lab.records.map((record) => ordered(record)))).toEqual(
    sorted([...after.records, ...others].map((record) => ordered(record))),
  );
  expect(lab.disk.slot).toEqual(
    after.slot === null ? { kind: 'absent' } : { kind: 'tree', fingerprint: after.slot, hidden: false },
  );
  expect(lab.hook).toEqual(after.hook ? { files: 'ours', plugin: 'ours' } : { files: null, plugin: null });
  expect([lab.disk.staged, lab.disk.displaced, lab.holder]).toEqual([undefined, undefined, undefined]);
}

const ordered = (record: OwnershipRecord) => Object.fromEntries(Object.entries(record).sort()) as never;

let points = 0;

describe.each(Object.entries(SCENARIOS))('%s', (_, scenario) => {
  const command = { operation: scenario.operation, targets: scenario.targets };

  test('undisturbed, it comes to its end', async () => {
    const lab = labOf(scenario);
    const run = runIn(lab, command);
    expect(await run.result).toMatchObject({ exit: 0 });
    expect(run.referee.violations).toEqual([]);
    expectEnd(lab, scenario);
  });

  test.each(['before', 'after'] as const)('gone %s any of its calls, it is finished by the next run', async (when) => {
    const lengthOf = runIn(labOf(scenario), command);
    await lengthOf.result;
    const calls = lengthOf.referee.history.length;
    for (let point = 1; point <= calls; point += 1) {
      const lab = labOf(scenario);
      const crash = crashAt(point, when);
      const first = runIn(lab, { ...command, between: crash.between });
      while (!crash.isOver) await settle();
      expect(first.referee.violations).toEqual([]);
      lab.unlock();
      // A target that was done before the crash has nothing left to remove.
      const second = runIn(lab, command);
      await second.result;
      expect(second.referee.violations).toEqual([]);
      expectEnd(lab, scenario);
      points += 1;
    }
  });
});

const SHORT = ['apply over an older skill', 'remove'];

describe.each(Object.entries(SCENARIOS).filter(([name]) => SHORT.includes(name)))('%s', (_, scenario) => {
  const command = { operation: scenario.operation, targets: scenario.targets };

  test('gone twice, at any two of its calls, it is finished by the third run', async () => {
    const lengthOf = runIn(labOf(scenario), command);
    await lengthOf.result;
    const calls = lengthOf.referee.history.length;
    for (let point = 1; point <= calls; point += 1) {
      for (let again = 1; again <= calls; again += 1) {
        const lab = labOf(scenario);
        const crashes = [crashAt(point, 'after'), crashAt(again, 'after')];
        for (const crash of crashes) {
          const run = runIn(lab, { ...command, between: crash.between });
          let isDone = false;
          void run.result.then(() => {
            isDone = true;
          });
          while (!crash.isOver && !isDone) await settle();
          expect(run.referee.violations).toEqual([]);
          lab.unlock();
        }
        const last = runIn(lab, command);
        await last.result;
        expectEnd(lab, scenario);
        points += 1;
      }
    }
  });
});

describe('customization', () => {
  const done = { override: 'present', base: { kind: 'base', fingerprint: SKILL } } as const;

  test.each(['before', 'after'] as const)('gone %s any of its calls, it is finished by the next run', async (when) => {
    for (let point = 1; point <= 7; point += 1) {
      const lab = new Lab();
      const crash = crashAt(point, when);
      void customizeIn(lab, crash.between);
      while (!crash.isOver) await settle();
      expect(await customizeIn(lab)).toMatchObject({ exit: 0 });
      expect(lab.customization).toMatchObject(done);
      expect(lab.customization.staged).toBeUndefined();
      points += 1;
    }
  });
});

afterAll(() => console.log(`${points} crash points`));
