/** What to do about a registration: pure tables over its record and what the client holds (docs/setup.md). */
import type { Fingerprint, OwnershipRead, OwnershipRecord, RecordKey } from '../../ports/setup/ownership.ts';
import type { Handshake, Inspection } from '../../ports/setup/registration.ts';
import type { Operation, Verdict } from '../../ports/setup/target.ts';
import { isHookShared, isShared, recordOf } from './run.records.ts';
import { type Decision, end, UNKNOWN_OWNER } from './run.verdicts.ts';

export interface RegistrationInput {
  readonly operation: Operation;
  readonly key: RecordKey;
  /** Of the skill that belongs to the target. */
  readonly skill: RecordKey;
  /** Of the hook that wakes the client; null where no client's command installs one. */
  readonly wake: RecordKey | null;
  /** Over the intended entry. */
  readonly fingerprint: Fingerprint;
  /** Over the bytes that the entry starts. */
  readonly release: Fingerprint;
}

export interface RegistrationContext extends RegistrationInput {
  readonly record: OwnershipRecord | null;
  /** Is the hook on record? A removal then goes on to it. */
  readonly ownsHook: boolean;
  /** The first one stands; what still runs then is only waited for. */
  readonly verdict: Verdict | null;
  /** Something of a client's command may still run: nothing more may be done. */
  readonly isHalted: boolean;
}

export interface RegistrationOutput {
  readonly verdict: Verdict;
  readonly isHalted: boolean;
  readonly ownsHook: boolean;
}

export function newRegistration(input: RegistrationInput): RegistrationContext {
  return { ...input, record: null, ownsHook: false, verdict: null, isHalted: false };
}

export function newRecord(context: RegistrationContext, phase: OwnershipRecord['phase']): OwnershipRecord {
  const { key, fingerprint, release } = context;
  return { client: key.client, scope: key.scope, alias: key.alias, phase, fingerprint, release };
}

function isRemoval({ operation }: { readonly operation: Operation }): boolean {
  return operation === 'remove' || operation === 'rollback';
}

/**
 * May this run touch the target at all? A removal needs a record; without one it
 * may only finish an earlier removal, whose skill or hook is still owned and used by nobody else.
 */
export function isForeign(context: RegistrationContext, read: OwnershipRead): boolean {
  if (!read.ok) return true;
  const { key, skill } = context;
  const { records } = read;
  if (!isRemoval(context) || recordOf(records, key)) return false;
  const leftSkill = recordOf(records, skill) !== null && !isShared(records, key);
  return !leftSkill && !(ownsHook(context, read) && !isHookShared(records, key));
}

export function ownsHook({ wake }: RegistrationContext, read: OwnershipRead): boolean {
  return read.ok && wake !== null && recordOf(read.records, wake) !== null;
}

export function judgePlan(context: RegistrationContext, inspection: Inspection): Decision<never> {
  if (inspection === 'unsupported' || inspection === 'failed') return unseen(inspection);
  if (inspection === 'absent') return end('absent', 'absent');
  const mismatch = mismatchOf(context);
  if (mismatch) return end('failed', mismatch);
  if (inspection === 'divergent') return end('divergent', 'divergent');
  return end(context.record?.phase === 'pending' ? 'planned' : 'unchanged', 'equivalent');
}

export function judgeApply(context: RegistrationContext, inspection: Inspection): Decision<'add' | 'promote'> {
  if (inspection === 'unsupported' || inspection === 'failed') return unseen(inspection);
  if (inspection === 'absent') return { step: 'add' };
  const mismatch = mismatchOf(context);
  if (mismatch) return end('failed', mismatch);
  if (inspection === 'divergent') return end('divergent', 'divergence_requires_replacement');
  return context.record?.phase === 'pending' ? { step: 'promote' } : end('unchanged', 'already_equivalent');
}

export function judgeVerify(context: RegistrationContext, inspection: Inspection): Decision<'shake'> {
  if (inspection === 'unsupported' || inspection === 'failed') return unseen(inspection);
  if (inspection !== 'equivalent') return end('failed', 'registration_not_equivalent');
  const mismatch = mismatchOf(context);
  return mismatch ? end('failed', mismatch) : { step: 'shake' };
}

export function judgeRemoval(context: RegistrationContext, inspection: Inspection): Decision<'remove' | 'drop'> {
  if (inspection === 'unsupported' || inspection === 'failed') return unseen(inspection);
  if (inspection === 'absent') return context.record ? { step: 'drop' } : { step: 'end', verdict: removed(context) };
  if (!context.record) return { step: 'end', verdict: UNKNOWN_OWNER };
  if (mismatchOf(context)) return end('failed', 'ownership_diverged');
  return inspection === 'equivalent' ? { step: 'remove' } : end('divergent', 'ownership_diverged');
}

export function removed({ operation }: RegistrationContext): Verdict {
  return { status: 'ok', code: operation === 'rollback' ? 'rolled_back' : 'removed' };
}

export function verified(handshake: Handshake): Verdict {
  return { status: handshake === 'verified' ? 'ok' : 'failed', code: `mcp_${handshake}` };
}

function unseen(inspection: 'unsupported' | 'failed'): Decision<never> {
  return inspection === 'unsupported' ? end('unsupported', 'client_unsupported') : end('failed', 'inspect_failed');
}

/** The bytes first: an entry that starts other bytes is another one, whatever it says. */
function mismatchOf({ record, release, fingerprint }: RegistrationContext): Verdict['code'] | undefined {
  if (!record) return undefined;
  if (record.release !== release) return 'release_binding_mismatch';
  return record.fingerprint === fingerprint ? undefined : 'registration_fingerprint_mismatch';
}
