/** Verdicts that several charts of setup come to, and how a chart says that it has come to one. */
import type { Verdict } from '../../ports/setup/target.ts';

export const INTERRUPTED: Verdict = { status: 'failed', code: 'operation_interrupted' };
export const UNKNOWN_OWNER: Verdict = { status: 'failed', code: 'ownership_unavailable' };

/** What comes of a look: the next step, or the end. */
export type Decision<TStep extends string> =
  | { readonly step: TStep }
  | { readonly step: 'end'; readonly verdict: Verdict };

export function end(
  status: Verdict['status'],
  code: Verdict['code'],
): { readonly step: 'end'; readonly verdict: Verdict } {
  return { step: 'end', verdict: { status, code } };
}

/** Only asked for when the decision is the end; the fallback satisfies the types. */
export function verdictOf(decision: Decision<string>): Verdict {
  return 'verdict' in decision ? decision.verdict : { status: 'failed', code: 'operation_failed' };
}

/** Every chart of setup ends with a verdict; without one it has been cut short. */
export function concluded({ verdict }: { readonly verdict: Verdict | null }): Verdict {
  return verdict ?? INTERRUPTED;
}
