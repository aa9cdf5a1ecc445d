/** What to do about an override: pure tables over the shipped skill, the recorded base and what is there (docs/skills.md). */
import type { OverrideContent, RecordedBase, ShippedSkill } from '../../ports/setup/customization.ts';
import type { Verdict } from '../../ports/setup/target.ts';
import { type Decision, end } from './run.verdicts.ts';

export interface CustomizationInput {
  readonly operation: 'dry-run' | 'apply';
}

export interface CustomizationContext extends CustomizationInput {
  /** Fingerprint; null until it is read. */
  readonly shipped: string | null;
  /** Null when none is recorded. */
  readonly base: string | null;
  readonly verdict: Verdict | null;
}

export const CUSTOMIZE_FAILED: Verdict = { status: 'failed', code: 'skill_customize_failed' };
export const OVERRIDE_INVALID: Verdict = { status: 'failed', code: 'skill_override_invalid' };

export function newCustomization(input: CustomizationInput): CustomizationContext {
  return { ...input, shipped: null, base: null, verdict: null };
}

export function judgeShipped(shipped: ShippedSkill): Decision<'go'> {
  return shipped.ok ? { step: 'go' } : end('failed', 'skill_not_shipped');
}

export function judgeBase(base: RecordedBase): Decision<'go'> {
  return base.kind === 'corrupt' ? end('failed', 'skill_bases_corrupt') : { step: 'go' };
}

export function judgeOverride(
  { operation, shipped, base }: CustomizationContext,
  override: OverrideContent,
): Decision<'copy' | 'record'> {
  if (override === 'invalid') return { step: 'end', verdict: OVERRIDE_INVALID };
  if (override === 'absent')
    return operation === 'apply' ? { step: 'copy' } : end('planned', 'skill_customize_planned');
  if (base === shipped) return end('unchanged', 'skill_override_current');
  return operation === 'apply' ? { step: 'record' } : end('planned', 'skill_override_outdated');
}
