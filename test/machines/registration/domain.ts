/** The registration chart's events: every outcome of every port, and every kind of record. */
import type { SnapshotFrom } from 'xstate';
import { registrationMachine } from '../../../src/machines/setup/registration.machine.ts';
import type { OwnershipRecord } from '../../../src/ports/setup/ownership.ts';
import type { Operation } from '../../../src/ports/setup/target.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';
import { unionOf } from '../setup-run/paths.ts';
import {
  CLAUDE,
  CODEX,
  ENTRY,
  hookRecord,
  LOCAL,
  RELEASE,
  registrationRecord,
  skillRecord,
  target,
} from '../setup-run/world.ts';

export type Registration = typeof registrationMachine;
export type State = SnapshotFrom<Registration>;

export const OPERATIONS: readonly Operation[] = ['dry-run', 'apply', 'verify', 'rollback', 'remove'];
export const INSPECTIONS = ['absent', 'equivalent', 'divergent', 'unsupported', 'failed'] as const;

const record = (change: Partial<OwnershipRecord> = {}) => registrationRecord(CLAUDE, change);
const PROJECT = target('claude-code', 'project');
const OTHERS = [
  registrationRecord(CODEX),
  skillRecord(CODEX),
  registrationRecord(CLAUDE, { alias: 'pi-session-mcp@ff' }),
];

/** What the store can say about a target, by what matters about it. */
export const STORES: Readonly<Record<string, readonly OwnershipRecord[]>> = {
  none: [],
  'only of others': OTHERS,
  owned: [record(), skillRecord(CLAUDE)],
  pending: [record({ phase: 'pending' }), ...OTHERS],
  'owned, other release': [record({ release: 'other' })],
  'owned, other entry': [record({ fingerprint: 'other' })],
  'pending, other release': [record({ phase: 'pending', release: 'other' })],
  'pending, other entry': [record({ phase: 'pending', fingerprint: 'other' })],
  'owned, with the hook': [record(), hookRecord()],
  'only the hook': [hookRecord(), registrationRecord(CODEX)],
  'only the hook, shared': [hookRecord(), registrationRecord(PROJECT)],
  'only the skill': [skillRecord(CLAUDE)],
  'only the skill, shared': [skillRecord(CLAUDE), registrationRecord(LOCAL)],
  'only the skill, the other one pending': [skillRecord(CLAUDE), registrationRecord(LOCAL, { phase: 'pending' })],
};

const domain: Domain<Registration> = {
  INTERRUPT: [{ type: 'INTERRUPT' }],
  'xstate.done.actor.readRecords': [
    doneEvent('readRecords', { ok: false }),
    ...Object.values(STORES).map((records) => doneEvent('readRecords', { ok: true, records })),
  ],
  'xstate.done.actor.inspect': INSPECTIONS.map((inspection) => doneEvent('inspect', inspection)),
  'xstate.done.actor.put': [doneEvent('put', { ok: true }), doneEvent('put', { ok: false })],
  'xstate.done.actor.drop': [doneEvent('drop', { ok: true }), doneEvent('drop', { ok: false })],
  'xstate.done.actor.add': ['ended', 'failed', 'retained'].map((mutation) => doneEvent('add', mutation)),
  'xstate.done.actor.remove': ['ended', 'failed', 'retained'].map((mutation) => doneEvent('remove', mutation)),
  'xstate.done.actor.handshake': ['verified', 'unsupported', 'timeout', 'failed'].map((each) =>
    doneEvent('handshake', each),
  ),
  ...Object.fromEntries(
    ['readRecords', 'inspect', 'put', 'drop', 'add', 'remove', 'handshake'].map((name) => [
      `xstate.error.actor.${name}`,
      [errorEvent(name)],
    ]),
  ),
};

export const inputOf = (operation: Operation) => ({
  operation,
  key: CLAUDE.registration,
  skill: CLAUDE.skill,
  wake: CLAUDE.wake.key,
  fingerprint: ENTRY,
  release: RELEASE,
});

export const model = (operation: Operation, machine: Registration = registrationMachine) =>
  chartModel(machine, { domain, input: inputOf(operation) });

export const allModels = (machine: Registration) => unionOf(OPERATIONS.map((operation) => model(operation, machine)));
