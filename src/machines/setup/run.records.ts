/** What the ownership records say about one target. */
import type { OwnershipRecord, RecordKey } from '../../ports/setup/ownership.ts';
import type { Target } from '../../ports/setup/target.ts';

type Records = readonly OwnershipRecord[];

export function recordOf(records: Records, key: RecordKey): OwnershipRecord | null {
  return records.find((record) => isSame(record, key)) ?? null;
}

/**
 * Does another registration still use the same skill slot? All of Claude Code's
 * registrations outside of projects share the one in the home directory.
 */
export function isShared(records: Records, key: RecordKey): boolean {
  return (
    usesHomeSlot(key) &&
    records.some((record) => usesHomeSlot(record) && isOwnedRegistration(record) && !isSame(record, key))
  );
}

/** Does another registration of Claude Code still want to be woken? The hook is the user's, whatever the scope. */
export function isHookShared(records: Records, registration: RecordKey): boolean {
  return records.some(
    (record) => record.client === 'claude-code' && isOwnedRegistration(record) && !isSame(record, registration),
  );
}

export function targetOf({ client, scope }: RecordKey): Target {
  return { client, scope };
}

function isSame(record: RecordKey, key: RecordKey): boolean {
  return record.client === key.client && record.scope === key.scope && record.alias === key.alias;
}

function isOwnedRegistration({ phase, alias }: OwnershipRecord): boolean {
  return phase === 'owned' && !alias.startsWith('skill:') && !alias.startsWith('wake:');
}

function usesHomeSlot({ client, scope }: RecordKey): boolean {
  return client === 'claude-code' && scope !== 'project';
}
