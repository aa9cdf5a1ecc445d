/**
 * Deadlines of the guarded command, in milliseconds (docs/setup.md). The charts
 * refer to them by name, so that a test can put other numbers in their place. How
 * long a command itself may run comes with the command.
 */
export const COMMAND_DEADLINES_MS = {
  /** From SIGTERM to SIGKILL. */
  commandTerminateTimeout: 3_000,
  /** Stopping, killing and looking again until nothing is left; the adapter takes two seconds at most. */
  commandKillTimeout: 4_000,
  /** One look at the process table, and at the command's pipes once the table shows nothing. */
  commandScanTimeout: 5_000,
  /** Between two looks while the command has been asked to end. */
  commandLookDelay: 50,
  /** Between two attempts at what could not be ended; this may go on for ever and must cost nothing. */
  commandRetryDelay: 2_000,
} as const;

export type CommandDeadlines = Readonly<Record<keyof typeof COMMAND_DEADLINES_MS, number>>;
