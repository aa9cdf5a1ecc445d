/**
 * Deadlines of a setup run, in milliseconds (docs/setup.md). Client commands and
 * the wait for the lock are bounded where they are run.
 */
export const RUN_DEADLINES_MS = {
  /** The offline doctor reads files only; a dead network disk must not hold the lock for ever. */
  doctorTimeout: 30_000,
  /** Reading the bytes of the release. */
  releaseTimeout: 30_000,
  /** The whole conversation with a directly started server. */
  handshakeTimeout: 20_000,
  /** The end of that server, once it has been asked for. */
  handshakeEndTimeout: 5_000,
} as const;

export type RunDeadlines = Readonly<Record<keyof typeof RUN_DEADLINES_MS, number>>;
