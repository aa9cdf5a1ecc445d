/** One command of a client and all that it has started, seen from the guardian's chart. */

/** `not_found`: nothing was started, because there is no such command or it cannot be executed. */
export type SpawnOutcome = 'spawned' | 'not_found';

/**
 * `clear`: the process table was read completely, shows no live member, and
 * nobody holds the command's pipes. `live`: it shows one. `unknown`: nobody can tell.
 */
export type ScanOutcome = 'clear' | 'live' | 'unknown';

export type ProcessNews =
  /** The command's own process has ended; `code` is null after a signal. */
  | { readonly type: 'EXITED'; readonly code: number | null }
  /** It has printed more than it may. Comes once. */
  | { readonly type: 'OVERFLOW' };

/** No method rejects. Members are the command's group, what carries its mark, and the descendants of both. */
export interface GuardedProcess {
  /** To be called once, after `watch`. */
  spawn(): Promise<SpawnOutcome>;
  /** @returns stops the listening. */
  watch(onNews: (news: ProcessNews) => void): () => void;
  /** Sends SIGTERM to every member, and waits for none. */
  terminate(): Promise<void>;
  /** Kills every member; resolves when none is left, or after about two seconds. */
  kill(): Promise<void>;
  /** Waits, without a bound, for the pipes once the table shows no member. */
  scan(): Promise<ScanOutcome>;
  /** What was printed so far. */
  output(): { readonly stdout: string; readonly stderr: string };
}
