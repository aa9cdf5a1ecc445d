/** The skill slot chart's events: every outcome of every step, every kind of slot and record. */
import type { SnapshotFrom } from 'xstate';
import { skillSlotMachine } from '../../../src/machines/setup/skill-slot.machine.ts';
import type { OwnershipRecord } from '../../../src/ports/setup/ownership.ts';
import type { SlotContent } from '../../../src/ports/setup/skill-slot.ts';
import type { Operation } from '../../../src/ports/setup/target.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';
import { unionOf } from '../setup-run/paths.ts';
import { CLAUDE, CODEX, LOCAL, OLD_SKILL, registrationRecord, SKILL, skillRecord } from '../setup-run/world.ts';

export type SkillSlotChart = typeof skillSlotMachine;
export type State = SnapshotFrom<SkillSlotChart>;

export const OPERATIONS: readonly Operation[] = ['dry-run', 'apply', 'verify', 'rollback', 'remove'];

const record = (change: Partial<OwnershipRecord> = {}) => [skillRecord(CLAUDE, change), registrationRecord(CODEX)];
const pending = (change: Partial<OwnershipRecord> = {}) => record({ phase: 'pending', ...change });

/** What the store can say about a skill, by what matters about it. */
export const STORES: Readonly<Record<string, readonly OwnershipRecord[]>> = {
  none: [skillRecord(CODEX)],
  owned: record(),
  'owned, older': record({ fingerprint: OLD_SKILL }),
  pending: pending(),
  'pending, older': pending({ fingerprint: OLD_SKILL }),
  'pending update': pending({ replaces: OLD_SKILL }),
  shared: [...record(), registrationRecord(LOCAL)],
  'shared with a pending one': [...record(), registrationRecord(LOCAL, { phase: 'pending' })],
};

const tree = (fingerprint: string, hidden = false): SlotContent => ({ kind: 'tree', fingerprint, hidden });

export const SLOTS: Readonly<Record<string, SlotContent>> = {
  absent: { kind: 'absent' },
  current: tree(SKILL),
  older: tree(OLD_SKILL),
  foreign: tree('foreign'),
  hidden: tree(SKILL, true),
  linked: { kind: 'linked' },
  'not a tree': { kind: 'foreign' },
  unresolved: { kind: 'unresolved' },
};

export const STEPS = ['put', 'drop', 'recover', 'stage', 'displace', 'place', 'discard'] as const;

const domain: Domain<SkillSlotChart> = {
  INTERRUPT: [{ type: 'INTERRUPT' }],
  'xstate.done.actor.readRecords': [
    doneEvent('readRecords', { ok: false }),
    ...Object.values(STORES).map((records) => doneEvent('readRecords', { ok: true, records })),
  ],
  'xstate.done.actor.readSource': [
    doneEvent('readSource', { ok: true, fingerprint: SKILL }),
    doneEvent('readSource', { ok: false }),
  ],
  'xstate.done.actor.look': Object.values(SLOTS).map((slot) => doneEvent('look', slot)),
  ...Object.fromEntries(
    STEPS.map((name) => [`xstate.done.actor.${name}`, [doneEvent(name, { ok: true }), doneEvent(name, { ok: false })]]),
  ),
  ...Object.fromEntries(
    [...STEPS, 'readRecords', 'readSource', 'look'].map((name) => [`xstate.error.actor.${name}`, [errorEvent(name)]]),
  ),
};

export const inputOf = (operation: Operation) => ({
  operation,
  key: CLAUDE.skill,
  registration: CLAUDE.registration,
});

export const model = (operation: Operation, machine: SkillSlotChart = skillSlotMachine) =>
  chartModel(machine, { domain, input: inputOf(operation) });

export const allModels = (machine: SkillSlotChart) => unionOf(OPERATIONS.map((operation) => model(operation, machine)));
