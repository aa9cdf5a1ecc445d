/**
 * Every deadline of the session side, in milliseconds (docs/lifecycle.md).
 * Charts refer to them by name, so that a test can put other numbers in their
 * place and fire them by hand.
 */
export const DEADLINES_MS = {
  /** Each authentication or catalogue operation. */
  authenticationTimeout: 5_000,
  /** Loading the SDK, once a process: half a second of work that a starved machine stretches. */
  loadingTimeout: 30_000,
  /** Building a session. */
  creationTimeout: 10_000,
  /**
   * All external MCP servers of a session, connected side by side. Each has its
   * own `externalStartTimeout`, which can name the server; this is the backstop.
   */
  connectionTimeout: 10_500,
  /** One external MCP server, from the start of its child to the end of its tool list. */
  externalStartTimeout: 10_000,
  externalCallTimeout: 30_000,
  /** The end of a server's child: together the 4,500 that it may take. */
  externalEndTimeout: 1_500,
  externalTerminateTimeout: 1_500,
  externalKillTimeout: 1_500,
  preflightTimeout: 5_000,
  /** One caller's wait for an abort; the attempt itself may go on. */
  abortTimeout: 5_000,
  /** What close grants a running turn before the handle is disposed anyway. */
  closeAbortTimeout: 5_000,
  disposeTimeout: 5_000,
  registryTimeout: 12_000,
  processTimeout: 15_000,
} as const;

export type DeadlineName = keyof typeof DEADLINES_MS;
export type Deadlines = Readonly<Record<DeadlineName, number>>;
