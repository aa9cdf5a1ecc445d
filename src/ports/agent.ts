import type { StartErrorCode } from './error-code.ts';

/** Where in the start a failure happened; goes to stderr only (docs/lifecycle.md). */
export type StartStage =
  | 'runtime'
  | 'provider'
  | 'model'
  | 'check_auth'
  | 'get_auth'
  | 'availability'
  | 'resource_loader'
  | 'skill_load'
  | 'mcp_tools'
  | 'extension_resolve'
  | 'extension_load'
  | 'extension_bind'
  | 'create_session'
  | 'postcheck';

/** Aliases only: the adapter resolves them against the frozen configuration. */
export interface StartRequest {
  readonly sessionId: string;
  readonly workspace: string;
  readonly executionProfile: string;
}

export interface StartFailure {
  readonly ok: false;
  readonly code: StartErrorCode;
  readonly stage: StartStage;
  /** The alias to blame, where one is (`skill`, `server` or `tool`), and a count. */
  readonly subject?: Readonly<Record<string, string | number>>;
}

export type StepOutcome = { readonly ok: true } | StartFailure;

/** What the created SDK session really has, read back after construction. */
export interface VerifiedSelection {
  readonly provider: string;
  readonly model: string;
  readonly thinkingLevel: string;
}

export type CreateOutcome = { readonly ok: true; readonly selection: VerifiedSelection } | StartFailure;

export interface TurnRef {
  readonly sessionId: string;
  readonly turnId: string;
}

/**
 * `started` is the only disposition that admits a turn. `refused` covers a
 * rejected, handled or queued prompt.
 */
export type AdmitOutcome = { readonly disposition: 'started' | 'refused' };

export type TurnResult =
  | { readonly state: 'completed'; readonly assistantText: string; readonly truncated: boolean }
  | { readonly state: 'failed' }
  | { readonly state: 'aborted' };

export type AbortOutcome = { readonly ok: boolean };

/**
 * What the charts may ask of an embedded agent. Handles stay behind this port,
 * keyed by session id. Every call resolves to an outcome; a rejection is a
 * defect of the adapter and is treated as the call's failure.
 *
 * Rules that each implementation keeps (`test/contracts/agent-port.ts`):
 * - a step of a start that fails or is aborted lets go of what the steps before it prepared;
 * - an aborted `createSession` disposes the handle that arrives late, once;
 * - `disposeSession` disposes a handle at most once, forgets it first, and aborts what runs;
 * - an `abortTurn` while one is live for the same turn joins it;
 * - after a handle is disposed no prompt reaches it.
 */
export interface AgentPort {
  /** Loads the SDK and the model runtime, and finds exactly the provider and model. */
  selectModel(request: StartRequest, signal: AbortSignal): Promise<StepOutcome>;
  /** Is there local authentication for the provider at all? */
  checkAuthentication(request: StartRequest, signal: AbortSignal): Promise<StepOutcome>;
  /** Can it be read right now? */
  readAuthentication(request: StartRequest, signal: AbortSignal): Promise<StepOutcome>;
  /** Is the model in the local catalogue of available models? */
  checkAvailability(request: StartRequest, signal: AbortSignal): Promise<StepOutcome>;
  /** Connects what the profile grants from outside, all of it at once; with nothing to connect it passes. */
  connectTools(request: StartRequest, signal: AbortSignal): Promise<StepOutcome>;
  /** Builds the session and verifies it; only then is the handle kept. */
  createSession(request: StartRequest, signal: AbortSignal): Promise<CreateOutcome>;
  /** Submits the prompt; settles with the preflight's disposition, long before the turn ends. */
  admitPrompt(prompt: TurnRef & { readonly prompt: string }, signal: AbortSignal): Promise<AdmitOutcome>;
  /** Resolves once the submitted prompt has settled in whatever way. */
  settlePrompt(turn: TurnRef): Promise<void>;
  /** Resolves with the turn's end. */
  runTurn(turn: TurnRef): Promise<TurnResult>;
  /** Calls back on each finished tool execution and assistant message; returns the unsubscribe. */
  watchTurn(turn: TurnRef, onActivity: () => void): () => void;
  abortTurn(turn: TurnRef): Promise<AbortOutcome>;
  disposeSession(sessionId: string): Promise<void>;
  /** Synchronously lets go of everything; for the end of the process only. */
  disposeAll(): void;
}
