/** The wake hook chart's events: every outcome of every port, and every kind of record. */
import type { SnapshotFrom } from 'xstate';
import { wakeHookMachine } from '../../../src/machines/setup/wake-hook.machine.ts';
import type { OwnershipRecord } from '../../../src/ports/setup/ownership.ts';
import type { Operation } from '../../../src/ports/setup/target.ts';
import type { PluginInspection } from '../../../src/ports/setup/wake-plugin.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';
import { unionOf } from '../setup-run/paths.ts';
import { CODEX, HOOK, hookRecord, LOCAL, registrationRecord, skillRecord, target, WOKEN } from '../setup-run/world.ts';

export type WakeHook = typeof wakeHookMachine;
export type State = SnapshotFrom<WakeHook>;

export const OPERATIONS: readonly Operation[] = ['dry-run', 'apply', 'verify', 'rollback', 'remove'];
export const INSPECTIONS: readonly PluginInspection[] = [
  'absent',
  'equivalent',
  'outdated',
  'disabled',
  'divergent',
  'unsupported',
  'failed',
];

/** What the store can say about the hook, by what matters about it. */
export const STORES: Readonly<Record<string, readonly OwnershipRecord[]>> = {
  none: [],
  'only of others': [registrationRecord(CODEX), skillRecord(WOKEN)],
  owned: [hookRecord()],
  pending: [hookRecord({ phase: 'pending' })],
  'owned, of another release': [hookRecord({ fingerprint: 'other' })],
  'owned, wanted elsewhere': [hookRecord(), registrationRecord(LOCAL)],
  'owned, wanted in a project': [hookRecord(), registrationRecord(target('claude-code', 'project'))],
  'owned, the other one pending': [hookRecord(), registrationRecord(LOCAL, { phase: 'pending' })],
  'owned, and a registration of Codex': [hookRecord(), registrationRecord(CODEX)],
};

const MUTATIONS = ['ended', 'failed', 'retained'];

export const ANSWERS: Readonly<Record<string, readonly unknown[]>> = {
  readRecords: [{ ok: false }, ...Object.values(STORES).map((records) => ({ ok: true, records }))],
  inspectHook: INSPECTIONS,
  put: [{ ok: true }, { ok: false }],
  drop: [{ ok: true }, { ok: false }],
  installHook: MUTATIONS,
  uninstallHook: MUTATIONS,
};

const domain: Domain<WakeHook> = {
  INTERRUPT: [{ type: 'INTERRUPT' }],
  ...Object.fromEntries(
    Object.entries(ANSWERS).flatMap(([name, answers]) => [
      [`xstate.done.actor.${name}`, answers.map((answer) => doneEvent(name, answer))],
      [`xstate.error.actor.${name}`, [errorEvent(name)]],
    ]),
  ),
};

export const inputOf = (operation: Operation) => ({
  operation,
  key: hookRecord(),
  registration: WOKEN.registration,
  target: { client: WOKEN.client, scope: WOKEN.scope },
  fingerprint: HOOK,
});

export const model = (operation: Operation, machine: WakeHook = wakeHookMachine) =>
  chartModel(machine, { domain, input: inputOf(operation) });

export const allModels = (machine: WakeHook) => unionOf(OPERATIONS.map((operation) => model(operation, machine)));
