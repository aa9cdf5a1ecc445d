/** What a whole run of setup may ask of the world, and what it says while it works and in the end (docs/setup.md). */
import type { Fingerprint, OwnershipStore, RecordKey } from './ownership.ts';
import type { RegistrationClient, ServerVerifier } from './registration.ts';
import type { SkillSlot } from './skill-slot.ts';
import type { Finding, Operation, Status, Target } from './target.ts';
import type { WakePlugin } from './wake-plugin.ts';

/** The offline doctor. Never rejects. */
export interface Doctor {
  /** Counts what is wrong with configuration and installation; warnings are none. */
  check(signal: AbortSignal): Promise<{ readonly errors: number }>;
}

export type ReleaseOutcome =
  | { readonly ok: true; readonly fingerprint: Fingerprint }
  /** A file of it is missing, unreadable or a link. */
  | { readonly ok: false };

/** The bytes that a registration starts: Node, entry point, configuration path, manifest, lockfile, modules. */
export interface ReleaseBinding {
  /** Over all of them. Never rejects. */
  fingerprint(signal: AbortSignal): Promise<ReleaseOutcome>;
}

/** `busy`: somebody else holds it. `unavailable`: no trustworthy lock can be had here. */
export type FenceOutcome = 'locked' | 'busy' | 'unavailable';

/** Kernel lock and guardian of one run, as one thing. No method rejects. */
export interface Fence {
  /** Gives up after 30 seconds, or soon after an abort; whatever it comes to is answered. */
  acquire(signal: AbortSignal): Promise<FenceOutcome>;
  /**
   * Ends and awaits what client commands have left, then lets the lock go; also
   * asked for when none was taken. `retained`: something lives, and the guardian keeps the lock.
   */
  release(): Promise<'released' | 'retained'>;
}

export interface SetupPorts {
  readonly fence: Fence;
  readonly doctor: Doctor;
  readonly release: ReleaseBinding;
  readonly store: OwnershipStore;
  readonly verifier: ServerVerifier;
  /** Starts nothing yet; asked again for each call. */
  readonly client: (target: Target) => RegistrationClient;
  readonly slot: (target: Target) => SkillSlot;
  /** The one of Claude Code; it is the user's, whatever the scope of a target. */
  readonly wake: () => WakePlugin;
}

/** What a run has to know about the hook that wakes the client of one target (docs/turn-events.md). */
export interface WakeChoice {
  /** The operator has named it. A removal takes what setup owns also without that. */
  readonly isAsked: boolean;
  /** Alias `wake:pi-session-mcp`; null where the client has no command that installs a hook. */
  readonly key: RecordKey | null;
  /** Over the files of the plugin. */
  readonly fingerprint: Fingerprint;
  /** Does the configuration switch turn events on? Without them nothing is ever woken. */
  readonly hasEvents: boolean;
}

/** One target of a run: what its records are called and what its entry shall be. */
export interface SetupTarget extends Target {
  /** Alias `pi-session-mcp`, for what lives in a project followed by `@` and its identity. */
  readonly registration: RecordKey;
  /** Alias `skill:pi-session-orchestration`, likewise. */
  readonly skill: RecordKey;
  readonly wake: WakeChoice;
  /** Over the intended entry. */
  readonly fingerprint: Fingerprint;
}

export interface TargetsRequest {
  readonly operation: Operation;
  /** In the order in which they are worked on; each once. */
  readonly targets: readonly SetupTarget[];
}

export interface CustomizeRequest {
  readonly operation: 'dry-run' | 'apply';
  /** What the finding calls it: the skill's name if it is a valid one, else `invalid`. */
  readonly alias: string;
}

export type InterruptSignal = 'SIGINT' | 'SIGTERM';
export type ExitStatus = 0 | 1 | 130 | 143;

export interface RunResult {
  readonly operation: Operation;
  readonly status: Status;
  readonly findings: readonly Finding[];
  readonly exit: ExitStatus;
}

export type ProgressStep =
  | 'waiting_for_lock'
  | 'checking_configuration'
  | 'reading_release'
  | 'inspecting'
  | 'adding'
  | 'removing'
  | 'verifying'
  | 'checking_skill'
  | 'installing_skill'
  | 'removing_skill'
  | 'customizing_skill'
  | 'checking_hook'
  | 'installing_hook'
  | 'removing_hook'
  | 'finishing';

/** What a run is about to do, for a person who waits. */
export interface Progress {
  readonly step: ProgressStep;
  readonly target?: Target;
}
