/** What the writer charts' steps have in common. */
import type { StepOutcome, WriterPhase, WriterStep } from '../../ports/writers/lifecycle.ts';

/** How a child chart ends; `step` is the one that failed. */
export type Ended =
  | { readonly result: 'done' | 'incomplete' }
  | { readonly result: 'failed'; readonly step: WriterStep };

/** No deadline: cutting a durable step short makes nothing safer. */
export const BOUNDED = { rests: 'the adapter bounds every command; an interruption ends the step' };

export interface PhaseContext {
  /** Recorded, or to be recorded next. */
  readonly phase: WriterPhase;
  readonly failed: WriterStep | null;
}

export const succeeded = (_: unknown, outcome: StepOutcome): boolean => outcome.ok;
export const isPhase = ({ context }: { readonly context: PhaseContext }, { phase }: { readonly phase: WriterPhase }) =>
  context.phase === phase;

/** Only asked for when a chart has ended; without a failed step it has ended well. */
export function endedWith(failed: WriterStep | null): Ended {
  return failed === null ? { result: 'done' } : { result: 'failed', step: failed };
}
