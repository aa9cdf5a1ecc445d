/** What to do about the slot of a skill: pure tables over source, slot and record (docs/setup.md). */
import type { Fingerprint, OwnershipRead, OwnershipRecord, RecordKey } from '../../ports/setup/ownership.ts';
import type { SkillSource, SlotContent } from '../../ports/setup/skill-slot.ts';
import type { Operation, Verdict } from '../../ports/setup/target.ts';
import { isShared, recordOf } from './run.records.ts';
import { type Decision, end, UNKNOWN_OWNER } from './run.verdicts.ts';

export interface SkillSlotInput {
  readonly operation: Operation;
  /** Of the skill. */
  readonly key: RecordKey;
  /** Of the registration that the skill belongs to. */
  readonly registration: RecordKey;
}

export interface SkillSlotContext extends SkillSlotInput {
  readonly record: OwnershipRecord | null;
  /** Null until it is known, and in a removal, which does not need it. */
  readonly source: Fingerprint | null;
  /** What an interrupted run left beside the slot has been dealt with. */
  readonly isRecovered: boolean;
  /** Our own copy that is being exchanged or removed. */
  readonly old: Fingerprint | null;
  /** A removal found the operator's own link in the slot. */
  readonly isLinked: boolean;
  readonly verdict: Verdict | null;
}

export type ApplyStep = 'recover' | 'install' | 'update' | 'promote' | 'forget';
export type RemovalStep = 'recover' | 'displace' | 'drop';

const SOURCE_INVALID = end('failed', 'skill_source_invalid');
const DIVERGENT = end('divergent', 'skill_divergent');
export const INSTALL_FAILED: Verdict = { status: 'failed', code: 'skill_install_failed' };
export const NOT_CLEAN: Verdict = { status: 'failed', code: 'cleanup_failed' };

export function newSkillSlot(input: SkillSlotInput): SkillSlotContext {
  return { ...input, record: null, source: null, isRecovered: false, old: null, isLinked: false, verdict: null };
}

/** Copies that setup made itself: the recorded one, and the one that a pending update replaces. */
export function oursOf({ record }: SkillSlotContext): readonly Fingerprint[] {
  if (!record) return [];
  return record.replaces === undefined ? [record.fingerprint] : [record.fingerprint, record.replaces];
}

/** `old`: the copy that this update replaces. */
export function pendingRecord({ key, source, old }: SkillSlotContext): OwnershipRecord {
  const record = { ...keyOf(key), phase: 'pending', fingerprint: source ?? '' } as const;
  return old === null ? record : { ...record, replaces: old };
}

export function ownedRecord({ key, source }: SkillSlotContext): OwnershipRecord {
  return { ...keyOf(key), phase: 'owned', fingerprint: source ?? '' };
}

/** Fit for every operation but a removal. */
export function judgeSource(source: SkillSource): Decision<'look'> {
  return source.ok ? { step: 'look' } : SOURCE_INVALID;
}

export function judgeRecords(context: SkillSlotContext, read: OwnershipRead): Decision<'source' | 'remove'> {
  const { operation, key, registration } = context;
  if (operation === 'dry-run') return read.ok ? { step: 'source' } : { step: 'end', verdict: UNKNOWN_OWNER };
  if (operation === 'apply') return read.ok ? { step: 'source' } : { step: 'end', verdict: INSTALL_FAILED };
  if (!read.ok) return { step: 'end', verdict: NOT_CLEAN };
  // The last one to be removed takes the skill with it.
  if (isShared(read.records, registration)) return end('unchanged', 'skill_kept_shared');
  return recordOf(read.records, key) ? { step: 'remove' } : end('unchanged', 'skill_not_owned');
}

export function judgePlan(context: SkillSlotContext, slot: SlotContent): Decision<never> {
  if (slot.kind === 'unresolved') return SOURCE_INVALID;
  if (slot.kind === 'absent') return end('absent', 'skill_absent');
  if (slot.kind === 'linked') return end('unchanged', 'skill_linked');
  const fit = fitOf(context, slot);
  if (fit === 'foreign') return DIVERGENT;
  return fit === 'stale' ? end('planned', 'skill_update_planned') : end('unchanged', 'skill_equivalent');
}

export function judgeApply(context: SkillSlotContext, slot: SlotContent): Decision<ApplyStep> {
  const { record, isRecovered } = context;
  if (slot.kind === 'unresolved') return { step: 'end', verdict: INSTALL_FAILED };
  if (record && !isRecovered) return { step: 'recover' };
  if (slot.kind === 'absent') return { step: 'install' };
  if (slot.kind === 'linked') return record ? { step: 'forget' } : end('unchanged', 'skill_linked');
  const fit = fitOf(context, slot);
  if (fit === 'foreign') return DIVERGENT;
  if (fit === 'stale') return { step: 'update' };
  return record?.phase === 'pending' ? { step: 'promote' } : end('unchanged', 'skill_already_equivalent');
}

export function judgeVerify({ source }: SkillSlotContext, slot: SlotContent): Verdict {
  if (slot.kind === 'linked') return { status: 'ok', code: 'skill_verified' };
  if (slot.kind === 'absent' || slot.kind === 'unresolved') return { status: 'failed', code: 'skill_missing' };
  const isEqual = visibleTree(slot) === source;
  return isEqual ? { status: 'ok', code: 'skill_verified' } : { status: 'failed', code: 'skill_not_equivalent' };
}

/** Only asked for when there is a record. */
export function judgeRemoval(context: SkillSlotContext, slot: SlotContent): Decision<RemovalStep> {
  if (slot.kind === 'unresolved') return DIVERGENT;
  if (!context.isRecovered) return { step: 'recover' };
  if (slot.kind === 'absent' || slot.kind === 'linked') return { step: 'drop' };
  return isOurs(context, slot) ? { step: 'displace' } : DIVERGENT;
}

export function installed({ old }: SkillSlotContext): Verdict {
  return { status: 'ok', code: old === null ? 'skill_installed' : 'skill_updated' };
}

/** What an earlier run had already put in place. */
export function promoted({ record }: SkillSlotContext): Verdict {
  return { status: 'ok', code: record?.replaces === undefined ? 'skill_installed' : 'skill_updated' };
}

/** Once the record is dropped: our copy was removed, or there was none of ours to remove. */
export function removed({ old, isLinked }: SkillSlotContext): Verdict {
  if (old !== null) return { status: 'ok', code: 'skill_removed' };
  return isLinked ? { status: 'unchanged', code: 'skill_not_owned' } : { status: 'ok', code: 'skill_absent' };
}

export function isSource({ source }: SkillSlotContext, slot: SlotContent): boolean {
  return source !== null && visibleTree(slot) === source;
}

export function treeOf(slot: SlotContent): Fingerprint | null {
  return slot.kind === 'tree' ? slot.fingerprint : null;
}

/** `foreign`: somebody else's, or changed since. `stale`: our own copy of an older source. */
function fitOf(context: SkillSlotContext, slot: SlotContent): 'equal' | 'stale' | 'foreign' {
  const tree = visibleTree(slot);
  const { record, source } = context;
  if (tree === null) return 'foreign';
  // A copy that changed under an owned record is not ours, even if it happens to equal the new source.
  if (tree === source) return record?.phase === 'owned' && !isOurs(context, slot) ? 'foreign' : 'equal';
  return isOurs(context, slot) ? 'stale' : 'foreign';
}

function isOurs(context: SkillSlotContext, slot: SlotContent): boolean {
  const tree = visibleTree(slot);
  return tree !== null && oursOf(context).includes(tree);
}

/** Hidden entries are not covered by the fingerprint, and setup never writes any: they are somebody's. */
function visibleTree(slot: SlotContent): Fingerprint | null {
  return slot.kind === 'tree' && !slot.hidden ? slot.fingerprint : null;
}

function keyOf({ client, scope, alias }: RecordKey): RecordKey {
  return { client, scope, alias };
}
