/** Running one command of a client so that nothing of it outlives the run (docs/setup.md). */

export interface ClientCommand {
  /** Absolute path, or a name that is looked up in `env.PATH`. */
  readonly file: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Of stdout and of stderr each; more ends the command. */
  readonly maxOutputBytes: number;
}

export type CommandResult =
  /** Everything of it has ended. `code` is null after a signal. */
  | { readonly kind: 'exited'; readonly code: number | null; readonly stdout: string; readonly stderr: string }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'output_too_large' }
  | { readonly kind: 'interrupted' }
  /** Something of it lives, or nobody can tell: the guardian keeps the lock. */
  | { readonly kind: 'retained' };

/** The guardian, seen from setup. One command at a time; no method rejects. */
export interface CommandRunner {
  run(command: ClientCommand, signal: AbortSignal): Promise<CommandResult>;
  /** Lets the guardian go. `retained`: it stays, and with it the lock, until what it watches has ended. */
  close(): Promise<'released' | 'retained'>;
}

/**
 * `busy`: somebody else has held it for all of the 30 seconds. `unavailable`: no trustworthy lock can be had here
 * (file system, tool, link, owner).
 */
export type LockOutcome =
  | { readonly kind: 'locked'; readonly lock: HeldLock }
  | { readonly kind: 'busy' }
  | { readonly kind: 'unavailable' };

export interface HeldLock {
  /** The locked open file description, to be inherited by the guardian. */
  readonly fd: number;
  /** The lock file is still the one that was locked. */
  intact(): boolean;
  release(): void;
}

export interface KernelLock {
  /** Waits up to 30 seconds; an abort gives up. Never rejects. */
  acquire(signal: AbortSignal): Promise<LockOutcome>;
  /** The lock, if nobody has it and it can be had without waiting. Blocks for a few milliseconds; never throws. */
  acquireNow(): HeldLock | undefined;
}
