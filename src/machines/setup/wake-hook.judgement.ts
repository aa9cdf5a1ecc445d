/** What to do about the hook that wakes: pure tables over its record and what the client holds (docs/turn-events.md). */
import type { Fingerprint, OwnershipRead, OwnershipRecord, RecordKey } from '../../ports/setup/ownership.ts';
import type { Operation, Target, Verdict } from '../../ports/setup/target.ts';
import type { PluginInspection } from '../../ports/setup/wake-plugin.ts';
import { isHookShared, recordOf } from './run.records.ts';
import { type Decision, end, UNKNOWN_OWNER } from './run.verdicts.ts';

export interface WakeHookInput {
  readonly operation: Operation;
  readonly key: RecordKey;
  /** Of the target that it goes with. */
  readonly registration: RecordKey;
  readonly target: Target;
  /** Over the files of the plugin. */
  readonly fingerprint: Fingerprint;
}

export interface WakeHookContext extends WakeHookInput {
  readonly record: OwnershipRecord | null;
  readonly isUpdate: boolean;
  /** The first one stands; what still runs then is only waited for. */
  readonly verdict: Verdict | null;
  /** Something of a client's command may still run: nothing more may be done. */
  readonly isHalted: boolean;
}

export interface WakeHookOutput {
  readonly verdict: Verdict;
  readonly isHalted: boolean;
}

export type HookStep = 'install' | 'promote' | 'uninstall';

export const HOOK_FAILED: Verdict = { status: 'failed', code: 'wake_failed' };
export const HOOK_REMOVED: Verdict = { status: 'ok', code: 'wake_removed' };
const INSTALLED: Verdict = { status: 'ok', code: 'wake_installed' };
const UPDATED: Verdict = { status: 'ok', code: 'wake_updated' };
const DIVERGENT = end('divergent', 'wake_divergent');

export function newWakeHook(input: WakeHookInput): WakeHookContext {
  return { ...input, record: null, isUpdate: false, verdict: null, isHalted: false };
}

export function newHookRecord({ key, fingerprint }: WakeHookContext, phase: OwnershipRecord['phase']): OwnershipRecord {
  return { client: key.client, scope: key.scope, alias: key.alias, phase, fingerprint };
}

/** Why the client need not be asked at all: a removal of what is not ours, or what others still need. */
export function judgeRecords(context: WakeHookContext, read: OwnershipRead): Decision<'look'> {
  if (!read.ok) return { step: 'end', verdict: UNKNOWN_OWNER };
  if (!isRemoval(context)) return { step: 'look' };
  if (!recordOf(read.records, context.key)) return end('unchanged', 'wake_not_owned');
  return isHookShared(read.records, context.registration) ? end('unchanged', 'wake_kept_shared') : { step: 'look' };
}

export function judgeHook(context: WakeHookContext, inspection: PluginInspection): Decision<HookStep> {
  if (inspection === 'unsupported') return end('unsupported', 'wake_unsupported');
  if (inspection === 'failed') return { step: 'end', verdict: HOOK_FAILED };
  switch (context.operation) {
    case 'dry-run':
      return judgePlan(context, inspection);
    case 'apply':
      return judgeApply(context, inspection);
    case 'verify':
      return judgeVerify(inspection);
    case 'rollback':
    case 'remove':
      // Also when the client knows nothing of it: its files may still be there.
      return inspection === 'divergent' ? DIVERGENT : { step: 'uninstall' };
  }
}

export function madeHook({ isUpdate }: WakeHookContext): Verdict {
  return isUpdate ? UPDATED : INSTALLED;
}

type Seen = Exclude<PluginInspection, 'unsupported' | 'failed'>;

function judgePlan({ record }: WakeHookContext, inspection: Seen): Decision<never> {
  switch (inspection) {
    case 'absent':
      return end('absent', 'wake_absent');
    case 'equivalent':
      return end(record?.phase === 'pending' ? 'planned' : 'unchanged', 'wake_equivalent');
    case 'outdated':
      return record ? end('planned', 'wake_update_planned') : DIVERGENT;
    case 'disabled':
      return end('unchanged', 'wake_disabled');
    case 'divergent':
      return DIVERGENT;
  }
}

function judgeApply({ record }: WakeHookContext, inspection: Seen): Decision<'install' | 'promote'> {
  switch (inspection) {
    case 'absent':
      return { step: 'install' };
    case 'equivalent':
      return record?.phase === 'pending' ? { step: 'promote' } : end('unchanged', 'wake_already_equivalent');
    case 'outdated':
      return record ? { step: 'install' } : DIVERGENT;
    case 'disabled':
      return end('unchanged', 'wake_disabled');
    case 'divergent':
      return DIVERGENT;
  }
}

function judgeVerify(inspection: Seen): Decision<never> {
  switch (inspection) {
    case 'absent':
      return end('failed', 'wake_missing');
    case 'equivalent':
      return end('ok', 'wake_verified');
    case 'disabled':
      return end('failed', 'wake_disabled');
    case 'outdated':
    case 'divergent':
      return end('failed', 'wake_not_equivalent');
  }
}

function isRemoval({ operation }: WakeHookContext): boolean {
  return operation === 'remove' || operation === 'rollback';
}
