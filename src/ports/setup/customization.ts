import type { StepOutcome } from './skill-slot.ts';

export type ShippedSkill = { readonly ok: true; readonly fingerprint: string } | { readonly ok: false };
export type RecordedBase =
  | { readonly kind: 'none' }
  | { readonly kind: 'base'; readonly fingerprint: string }
  | { readonly kind: 'corrupt' };
/** `invalid`: not a directory, a link, no SKILL.md, or out of bounds. */
export type OverrideContent = 'absent' | 'present' | 'invalid';

/** One skill of the library and the operator's version of it. No method rejects. */
export interface Customization {
  shipped(): Promise<ShippedSkill>;
  override(): Promise<OverrideContent>;
  base(): Promise<RecordedBase>;
  /** Removes what an interrupted run staged beside the override. */
  recover(): Promise<StepOutcome>;
  stage(): Promise<StepOutcome>;
  /** Moves the staged copy to the override's place; fails when something is there. */
  place(): Promise<StepOutcome>;
  /** Records the shipped fingerprint as the base of the override; keeps every other base. */
  recordBase(fingerprint: string): Promise<StepOutcome>;
}
