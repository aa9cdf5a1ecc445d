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
  return usesHomeSlot(key) && records.some((record) => isOwnedUser(record) && !isSame(record, key));
}

export function targetOf({ client, scope }: RecordKey): Target {
  return { client, scope };
}

function isSame(record: RecordKey, key: RecordKey): boolean {
  return record.client === key.client && record.scope === key.scope && record.alias === key.alias;
}

function isOwnedUser(record: OwnershipRecord): boolean {
  return usesHomeSlot(record) && record.phase === 'owned' && !record.alias.startsWith('skill:');
}

function usesHomeSlot({ client, scope }: RecordKey): boolean {
  return client === 'claude-code' && scope !== 'project';
}
