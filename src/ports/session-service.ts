import type { ErrorCode } from './error-code.ts';

export type SessionState = 'idle' | 'running' | 'failed' | 'closing' | 'closed';
export type TurnState = 'running' | 'completed' | 'failed' | 'aborted';
export type PermissionProfile = 'read-only' | 'coding';

/** Plain data about one session; times are milliseconds since the epoch. */
export interface SessionRecord {
  readonly id: string;
  readonly workspace: string;
  readonly executionProfile: string;
  readonly profile: PermissionProfile;
  readonly provider: string;
  readonly model: string;
  readonly thinkingLevel: string;
  readonly state: SessionState;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Set while the last turn of the session failed. */
  readonly lastTurnFailed: boolean;
}

/** Plain data about one turn; times are milliseconds since the epoch. */
export interface TurnRecord {
  readonly turnId: string;
  readonly sessionId: string;
  readonly state: TurnState;
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly completedAt?: number;
  readonly assistantText?: string;
  readonly truncated?: boolean;
}

export interface Failure {
  readonly ok: false;
  readonly code: ErrorCode;
}

export type SessionReply = { readonly ok: true; readonly session: SessionRecord } | Failure;
export type PromptReply = { readonly ok: true; readonly session: SessionRecord; readonly turn: TurnRecord } | Failure;
export type TurnReply = { readonly ok: true; readonly turn: TurnRecord } | Failure;
export type Reply = SessionReply | PromptReply;

/** What the MCP adapter may ask of the running server. No method rejects. */
export interface SessionService {
  start(input: { workspace: string; executionProfile?: string | undefined }): Promise<SessionReply>;
  prompt(input: { sessionId: string; prompt: string }): Promise<PromptReply>;
  abort(input: { sessionId: string }): Promise<SessionReply>;
  close(input: { sessionId: string }): Promise<SessionReply>;
  /** Open sessions, oldest first; a closed one is only found by its id. */
  list(): readonly SessionRecord[];
  get(sessionId: string): SessionReply;
  turn(sessionId: string, turnId: string): TurnReply;
}
