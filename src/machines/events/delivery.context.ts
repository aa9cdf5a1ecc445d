/** What the delivery of turn events remembers, and the pure views of it. */
import type { EndedTurn } from '../../ports/events.ts';

/** Jobs that may wait; a turn that ends when there are more goes untold. */
export const MAX_WAITING_JOBS = 64;

export type Job =
  | { readonly kind: 'open' }
  | { readonly kind: 'write'; readonly turn: EndedTurn }
  | { readonly kind: 'forget'; readonly sessionId: string }
  | { readonly kind: 'sweep' };

export interface DeliveryContext {
  /** What the disk works on; null while it has nothing to do. */
  readonly current: Job | null;
  readonly waiting: readonly Job[];
  /** Turns whose event was lost, over the life of the server. */
  readonly dropped: number;
}

/** Why events were lost, or may be. */
export type DropCode = 'queue_full' | 'spool_unavailable' | 'spool_stalled' | 'write_failed';

export const NEW_DELIVERY: DeliveryContext = { current: null, waiting: [], dropped: 0 };

/** Only satisfies the types: while the disk works, there is a job. */
const NOTHING: Job = { kind: 'sweep' };

export function currentJob({ current }: DeliveryContext): Job {
  return current ?? NOTHING;
}

export function isWrite(job: Job): boolean {
  return job.kind === 'write';
}

/** A session that is closed has no events any more: neither on the disk nor on the way there. */
export function withoutSession(waiting: readonly Job[], sessionId: string): readonly Job[] {
  const kept = waiting.filter((job) => job.kind !== 'write' || job.turn.sessionId !== sessionId);
  return kept.length < MAX_WAITING_JOBS ? [...kept, { kind: 'forget', sessionId }] : kept;
}

/** Failures of the other jobs lose nothing: age and the end of the server remove what they leave. */
export function lossOf(job: Job): { readonly code: DropCode; readonly count: number } | undefined {
  if (job.kind === 'write') return { code: 'write_failed', count: 1 };
  return job.kind === 'open' ? { code: 'spool_unavailable', count: 0 } : undefined;
}
