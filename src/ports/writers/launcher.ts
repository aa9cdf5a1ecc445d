/** What the launcher chart may ask of the world, and what it comes to (docs/boundary.md, "The end of a box"). */
import type { LayoutCode, UnusableCode } from './boundary.ts';
import type { StepOutcome } from './lifecycle.ts';

/** The writer's lock, held until this process ends. `busy`: another box of the writer runs, or setup is at work. */
export type Claim = 'held' | 'busy' | 'unavailable';

/** A step that says itself what is wrong. */
export type Refusable<TCode extends LauncherCode> =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: TCode };

export type BoxEnd =
  /** The client's status, which is the command's, or 125 to 127 when the box did not start. `null` after a signal. */
  | { readonly kind: 'ended'; readonly code: number | null }
  /** The client could not be started at all. */
  | { readonly kind: 'not_started' }
  /** It may still be there. */
  | { readonly kind: 'retained' };

/** All that a start can be refused with; the first line is told before the chart is asked. */
export type LauncherCode =
  | 'nested_server_refused'
  | 'writer_directory_required'
  | 'writer_record_invalid'
  | 'writer_busy'
  | 'writer_lock_unavailable'
  | 'writer_not_ready'
  | 'acceptance_outdated'
  | 'credentials_unavailable'
  | 'abandoned_box_left'
  | 'product_incomplete'
  | 'box_not_started'
  | 'box_left'
  | LayoutCode
  | UnusableCode;

/** How the launcher's process ends. */
export interface LauncherResult {
  /** 0 to 255. */
  readonly status: number;
  /** What stderr says of it; null when there is nothing to say. */
  readonly code: LauncherCode | null;
}

/**
 * One writer's start and its box. No method rejects. Each is asked at most once,
 * but for `renew` and `ended`, and from `end` on only in the order in which they stand here.
 */
export interface LauncherPort {
  /** An aborted one ends its program before it resolves. */
  claim(signal: AbortSignal): Promise<Claim>;
  /** Is the writer ready, and accepted as it now is? */
  check(): Promise<Refusable<'writer_not_ready' | 'acceptance_outdated'>>;
  /** Removes what killed processes have left of holds and marks. */
  clear(): Promise<StepOutcome>;
  /** Podman's own state, for this boot. */
  open(): Promise<Refusable<UnusableCode>>;
  /** Removes the boxes of launchers that are provably dead. Not ok: one of them is still there. */
  reap(): Promise<StepOutcome>;
  /**
   * Copies the credentials for the writer before it returns, then renews what is about to run out, and copies again.
   * So as long as it is pending there is a copy, as new as the operator's file. Not ok: there may be none; without the
   * first copy nobody is asked. Asked while one is under way, it is that one. Nothing cuts it short, also when nobody
   * waits for it any more: a token that the provider has already exchanged would be lost, so its process outlives a
   * launcher that ends meanwhile.
   */
  renew(): Promise<StepOutcome>;
  /** The look at the writer's directories, and how its box is to be run. */
  plan(): Promise<Refusable<LayoutCode | 'product_incomplete'>>;
  /** Podman's client and the watchdog beside it. Not ok: nothing was started. */
  start(): Promise<StepOutcome>;
  /** Calls when the client's side of stdin has ended, also when it had before. Returns how to stop looking. */
  watchInput(onEnd: () => void): () => void;
  /** The box's stdin ends; the command may then end by itself. */
  end(): void;
  /** Removes the box, whatever it does. */
  remove(): void;
  /** Resolves when nothing of the box is left, or when nothing more can be done about it. */
  ended(): Promise<BoxEnd>;
}
