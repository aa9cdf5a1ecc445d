/** Reads: what the snapshots of the running actors say, as plain records. */
import type { ActorRefFrom, SnapshotFrom } from 'xstate';
import { actorOf, type registryMachine, tombstoneOf } from '../machines/session/registry.machine.ts';
import { activeTurn, sessionRecord } from '../machines/session/session.context.ts';
import type { sessionMachine } from '../machines/session/session.machine.ts';
import { newTurn, type turnMachine, turnRecord } from '../machines/session/turn.machine.ts';
import type { Failure, SessionRecord, SessionReply, SessionState, TurnReply } from '../ports/session-service.ts';

type RegistryRef = ActorRefFrom<typeof registryMachine>;
type SessionSnapshot = SnapshotFrom<typeof sessionMachine>;

const UNKNOWN_SESSION: Failure = { ok: false, code: 'unknown_session' };
const UNKNOWN_TURN: Failure = { ok: false, code: 'unknown_turn' };

/** The session's public state; undefined while it is not public. */
function publicState(snapshot: SessionSnapshot): SessionState | undefined {
  if (snapshot.matches('opening') || snapshot.matches('discarded')) return undefined;
  if (snapshot.matches({ engaged: 'running' })) return 'running';
  if (snapshot.matches('engaged') || snapshot.matches('closing')) return 'closing';
  if (snapshot.matches('closed')) return 'closed';
  // Admission and quarantine are not public: the earlier view stands.
  return snapshot.context.lastTurnFailed ? 'failed' : 'idle';
}

function snapshotOf(registry: RegistryRef, actorId: string): SessionSnapshot | undefined {
  return registry.getSnapshot().children[actorId]?.getSnapshot() as SessionSnapshot | undefined;
}

function sessionSnapshot(registry: RegistryRef, sessionId: string): SessionSnapshot | undefined {
  const actor = actorOf(registry.getSnapshot().context, sessionId);
  return actor === undefined ? undefined : snapshotOf(registry, actor);
}

function openRecord(snapshot: SessionSnapshot | undefined): SessionRecord | undefined {
  const state = snapshot && publicState(snapshot);
  return snapshot && state && sessionRecord(snapshot.context, state);
}

/** Open sessions in the order of their start. */
export function listSessions(registry: RegistryRef): readonly SessionRecord[] {
  const { open } = registry.getSnapshot().context;
  return open.map(({ actorId }) => openRecord(snapshotOf(registry, actorId))).filter((record) => record !== undefined);
}

/** Does any session that may write exist, from its start to its end, public or not yet? */
export function isCodingOpen(registry: RegistryRef): boolean {
  const { open } = registry.getSnapshot().context;
  return open.some(({ actorId }) => snapshotOf(registry, actorId)?.context.profile === 'coding');
}

export function getSession(registry: RegistryRef, sessionId: string): SessionReply {
  const { context } = registry.getSnapshot();
  const session = openRecord(sessionSnapshot(registry, sessionId)) ?? tombstoneOf(context, sessionId);
  return session === undefined ? UNKNOWN_SESSION : { ok: true, session };
}

/** Close drops the turns, so a closed session knows none. */
export function getTurn(registry: RegistryRef, sessionId: string, turnId: string): TurnReply {
  const session = getSession(registry, sessionId);
  if (!session.ok) return session;
  const snapshot = sessionSnapshot(registry, sessionId);
  if (snapshot === undefined || session.session.state === 'closing') return UNKNOWN_TURN;
  const { active, turns } = snapshot.context;
  if (active?.turnId === turnId) return { ok: true, turn: liveTurn(snapshot) };
  const turn = turns.find((ended) => ended.turnId === turnId);
  return turn === undefined ? UNKNOWN_TURN : { ok: true, turn };
}

function liveTurn(snapshot: SessionSnapshot) {
  const turn = snapshot.children.turn?.getSnapshot() as SnapshotFrom<typeof turnMachine> | undefined;
  return turnRecord(turn?.context ?? newTurn(activeTurn(snapshot.context)));
}
