/** What a session remembers, and the pure views of it. */
import type { TurnRef, VerifiedSelection } from '../../ports/agent.ts';
import type { PermissionProfile, SessionRecord, SessionState, TurnRecord } from '../../ports/session-service.ts';
import type { SessionRequest } from '../shared/replies.ts';
import type { TurnInput } from './turn.machine.ts';

/** Ended turns that a session keeps, oldest out first (docs/tools.md). */
const KEPT_TURNS = 20;

export interface SessionInput {
  readonly id: string;
  readonly workspace: string;
  readonly executionProfile: string;
  readonly profile: PermissionProfile;
  /** The start request that waits for this session. */
  readonly startRequestId: string;
}

export interface SessionContext extends SessionInput {
  /** What the verified handle has; null until the session is opened. */
  readonly selection: VerifiedSelection | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastTurnFailed: boolean;
  /** The prompt under admission; its text is dropped as soon as that is decided. */
  readonly admission: { readonly requestId: string; readonly turnId: string; readonly prompt: string } | null;
  /** What the live turn's actor was started with. */
  readonly active: TurnInput | null;
  /** Requests that arrived during admission, in order. */
  readonly waiting: readonly SessionRequest[];
  /** Close requests that wait for the end. */
  readonly closers: readonly string[];
  readonly turns: readonly TurnRecord[];
}

export type SessionOutput =
  | { readonly kind: 'closed'; readonly session: SessionRecord }
  | { readonly kind: 'discarded' };

export function newSession(input: SessionInput): SessionContext {
  return {
    ...input,
    selection: null,
    createdAt: 0,
    updatedAt: 0,
    lastTurnFailed: false,
    admission: null,
    active: null,
    waiting: [],
    closers: [],
    turns: [],
  };
}

export function sessionRecord(context: SessionContext, state: SessionState): SessionRecord {
  const { id, workspace, executionProfile, profile, createdAt, updatedAt, lastTurnFailed } = context;
  const { provider, model, thinkingLevel } = context.selection ?? { provider: '', model: '', thinkingLevel: '' };
  return {
    id,
    workspace,
    executionProfile,
    profile,
    provider,
    model,
    thinkingLevel,
    state,
    createdAt,
    updatedAt,
    lastTurnFailed,
  };
}

/** The state in which the last turn, if any, left the session. */
export function restingState(context: SessionContext): SessionState {
  return context.lastTurnFailed ? 'failed' : 'idle';
}

/** Only asked for where the chart has just set it; the fallback satisfies the types. */
export function activeTurn(context: SessionContext): TurnInput {
  return context.active ?? { sessionId: context.id, turnId: '', startedAt: context.updatedAt };
}

export function keepTurn(turns: readonly TurnRecord[], turn: TurnRecord): readonly TurnRecord[] {
  return [...turns, turn].slice(-KEPT_TURNS);
}

/** The prompt under admission as the port wants it. */
export function admissionOf(context: SessionContext): TurnRef & { readonly prompt: string } {
  const { turnId, prompt } = context.admission ?? { turnId: '', prompt: '' };
  return { sessionId: context.id, turnId, prompt };
}

export function idsOf(requests: readonly SessionRequest[], type: SessionRequest['type']): readonly string[] {
  return requests.filter((request) => request.type === type).map((request) => request.requestId);
}

/** Splits off the aborts at the head of the queue: on a session at rest they change nothing. */
export function leadingAborts(requests: readonly SessionRequest[]): {
  readonly aborts: readonly string[];
  readonly rest: readonly SessionRequest[];
} {
  const first = requests.findIndex((request) => request.type !== 'ABORT');
  const end = first === -1 ? requests.length : first;
  return { aborts: idsOf(requests.slice(0, end), 'ABORT'), rest: requests.slice(end) };
}
