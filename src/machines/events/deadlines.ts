/** Deadlines of turn events and of waking, in milliseconds (docs/turn-events.md). */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const EVENT_DEADLINES_MS = {
  /**
   * One job of the disk; a slower one goes on alone, and nothing is handed to the disk meanwhile. Longer than the
   * first session keeps the whole process busy on a starved machine.
   */
  deliveryTimeout: 10 * SECOND,
  /** Between two looks for events that are too old. */
  sweepInterval: 10 * MINUTE,
  /** At the server's end: the last job, and then removing the directory. */
  spoolCloseTimeout: 1 * SECOND,
} as const;

export type EventDeadlines = Readonly<Record<keyof typeof EVENT_DEADLINES_MS, number>>;

export const WAKE_DEADLINES_MS = {
  /** How long one turn is waited for. */
  wakeBudget: 4 * HOUR,
  /** Between two looks when nothing changes; changes are not told everywhere. */
  pollInterval: 1 * SECOND,
  /** Between a change and the look at it: a flood of changes costs twenty looks a second at most. */
  settleDelay: 50,
  /** A server that is about to start delivering gets this long to show. */
  desertedDelay: 10 * SECOND,
  claimTimeout: 5 * SECOND,
  notifyTimeout: 30 * SECOND,
} as const;

export type WakeDeadlines = Readonly<Record<keyof typeof WAKE_DEADLINES_MS, number>>;
