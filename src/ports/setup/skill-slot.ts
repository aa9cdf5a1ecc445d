import type { Fingerprint } from './ownership.ts';

/** The effective controller skill: the operator's override, else the shipped one. */
export type SkillSource = { readonly ok: true; readonly fingerprint: Fingerprint } | { readonly ok: false };

export type SlotContent =
  | { readonly kind: 'absent' }
  /** A directory of regular files within the bounds. `hidden`: an entry whose name starts with a dot is in it. */
  | { readonly kind: 'tree'; readonly fingerprint: Fingerprint; readonly hidden: boolean }
  /** A link to exactly the effective skill. */
  | { readonly kind: 'linked' }
  /** Any other link, not a directory, unreadable, out of bounds, or below a link inside a project. */
  | { readonly kind: 'foreign' }
  /** The slot's place cannot be resolved at all. */
  | { readonly kind: 'unresolved' };

export type StepOutcome = { readonly ok: boolean };

/**
 * The place where one client reads the controller skill, and the steps of
 * exchanging what is there. Each step is durable when it resolves, does nothing
 * that the previous look did not allow (device and inode are compared), and can
 * be repeated after a crash at any point. No method rejects.
 */
export interface SkillSlot {
  source(): Promise<SkillSource>;
  look(): Promise<SlotContent>;
  /**
   * Removes what an interrupted run left beside the slot, and puts a displaced
   * copy back when the slot is empty. Only trees that are provably ours: their
   * fingerprint is one of these, or every file is one of the source's.
   */
  recover(ours: readonly Fingerprint[]): Promise<StepOutcome>;
  /** Writes the source beside the slot; the slot itself is untouched. */
  stage(): Promise<StepOutcome>;
  /** Moves the tree with this fingerprint out of the slot, if it is still exactly that. */
  displace(expected: Fingerprint): Promise<StepOutcome>;
  /** Moves the staged tree into the empty slot. */
  place(): Promise<StepOutcome>;
  /** Deletes the displaced tree, if it is still exactly this. */
  discard(expected: Fingerprint): Promise<StepOutcome>;
}
