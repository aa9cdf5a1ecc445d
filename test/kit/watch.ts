/**
 * Watches a world from outside and throws as soon as a promise of the contract
 * is broken. Knows nothing of the charts.
 */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { SessionState, TurnRecord } from '../../src/ports/session-service.ts';
import type { TrackedRequest, World } from './world.ts';

interface SeenTurn {
  readonly sessionId: string;
  record: TurnRecord;
  /** Did an activity happen since the last look? */
  isActive: boolean;
}

const ORDER: Readonly<Record<string, number>> = { closing: 1, closed: 2 };

export class Watch {
  readonly sessions: string[] = [];
  readonly turns = new Map<string, SeenTurn>();
  readonly #world: World;
  readonly #prompts: TrackedRequest[] = [];
  readonly #states = new Map<string, SessionState | undefined>();
  readonly #updatedAt = new Map<string, number>();
  /** Turn ids that were put to the agent; public only if their prompt was answered so. */
  readonly #considered = new Map<string, string>();

  constructor(world: World) {
    this.#world = world;
  }

  started(sessionId: string): void {
    this.sessions.push(sessionId);
  }

  prompted(request: TrackedRequest): void {
    this.#prompts.push(request);
  }

  active(turnId: string): void {
    const turn = this.turns.get(turnId);
    if (turn) turn.isActive = true;
  }

  check(): void {
    const { agent, reports } = this.#world;
    deepStrictEqual(agent.violations, []);
    for (const [id, times] of agent.disposals) ok(times <= 1, `${id} was disposed ${times} times`);
    const defect = reports.find(({ event }) => event !== 'pi_session_creation_failed');
    strictEqual(defect, undefined, `reported ${defect?.event}`);
    for (const call of agent.calls) {
      if (call.operation === 'admitPrompt' && call.turnId) this.#considered.set(call.turnId, call.sessionId);
    }
    this.#noticeTurns();
    for (const id of this.sessions) this.#checkSession(id);
    for (const [id, turn] of this.turns) this.#checkTurn(id, turn);
    this.#checkUnpublished();
  }

  /** Every adapter has settled and no deadline is due: nobody may still be waiting for an answer. */
  checkAnswered(): void {
    deepStrictEqual(this.#world.unanswered(), [], 'a request was never answered');
  }

  /** Only who starts or prompts during shutdown is told so, unless the end was forced. */
  checkNobodyPutOff(): void {
    const putOff = this.#world.requests.filter(({ kind, isLate, reply }) => {
      const isStopping = reply?.ok === false && reply.code === 'server_stopping';
      return isStopping && !isLate && (kind === 'ABORT' || kind === 'CLOSE');
    });
    deepStrictEqual(putOff, [], 'a request was only answered by the end of the process');
  }

  /** Nothing is left: to be called when the process chart has ended. */
  checkEnd(): void {
    const { agent, clock, exitStatus } = this.#world;
    ok(exitStatus !== undefined, 'the process did not end');
    deepStrictEqual(this.#world.unanswered(), []);
    clock.assertEmpty();
    strictEqual(agent.openHandles, 0, 'a handle was left open');
    strictEqual(agent.watchers, 0, 'a turn is still watched');
  }

  /** A turn becomes public with the answer to its prompt, and no other way. */
  #noticeTurns(): void {
    for (const { reply } of this.#prompts) {
      if (!reply?.ok || !('turn' in reply) || this.turns.has(reply.turn.turnId)) continue;
      strictEqual(reply.turn.state, 'running');
      this.turns.set(reply.turn.turnId, { sessionId: reply.turn.sessionId, record: reply.turn, isActive: true });
    }
  }

  #checkSession(id: string): void {
    const view = this.#world.app.service.get(id);
    const state = view.ok ? view.session.state : undefined;
    const before = this.#states.get(id);
    const rank = (each: SessionState | undefined) => ORDER[each ?? ''] ?? 0;
    if (!this.#world.agent.isOver) {
      ok(rank(state) >= rank(before), `${id} came back: ${before} → ${state}`);
      ok(before === undefined || state !== undefined, `${id} was forgotten in state ${before}`);
    }
    if (state) this.#states.set(id, state);
    if (!view.ok) return;
    const { updatedAt, createdAt } = view.session;
    ok(updatedAt >= (this.#updatedAt.get(id) ?? createdAt), `${id}: updatedAt went back`);
    this.#updatedAt.set(id, updatedAt);
    const listed = this.#world.app.service.list().some((session) => session.id === id);
    strictEqual(listed, state !== 'closed', `${id} is ${state} but ${listed ? '' : 'not '}listed`);
    if (state === 'closed') ok(!this.#world.agent.hasHandle(id), `${id} is closed but holds a handle`);
    this.#checkRest(id, state);
  }

  /** At rest a session says how its last turn ended; admission and quarantine change nothing about that. */
  #checkRest(id: string, state: SessionState | undefined): void {
    const last = [...this.turns].filter(([, { sessionId }]) => sessionId === id).at(-1);
    if (state === 'running') {
      ok(last, `${id} runs without a turn`);
      return;
    }
    if (state !== 'idle' && state !== 'failed') return;
    const view = last && this.#world.app.service.turn(id, last[0]);
    const failed = view?.ok === true && view.turn.state === 'failed';
    const isStillRunning = view?.ok === true && view.turn.state === 'running';
    ok(!isStillRunning, `${id} rests while its turn runs`);
    strictEqual(state, failed ? 'failed' : 'idle', `${id} is ${state} after a turn that ended otherwise`);
  }

  #checkTurn(id: string, turn: SeenTurn): void {
    const view = this.#world.app.service.turn(turn.sessionId, id);
    if (!view.ok) {
      const state = this.#states.get(turn.sessionId);
      if (this.#world.exitStatus === undefined)
        ok(state === 'closing' || state === 'closed', `turn ${id} vanished from a ${state} session`);
      return;
    }
    const { record } = turn;
    if (record.state !== 'running') deepStrictEqual(view.turn, record, `terminal turn ${id} changed`);
    const { state } = view.turn;
    if (state !== 'running') ok(this.#world.agent.ledger.hasEndedAs(id, state), `turn ${id} is ${state} for no reason`);
    ok(view.turn.updatedAt >= record.updatedAt, `turn ${id}: updatedAt went back`);
    strictEqual(view.turn.startedAt, record.startedAt);
    if (view.turn.state === 'running' && !turn.isActive) strictEqual(view.turn.updatedAt, record.updatedAt);
    strictEqual(view.turn.completedAt !== undefined, view.turn.state !== 'running');
    turn.record = view.turn;
    turn.isActive = false;
  }

  #checkUnpublished(): void {
    for (const [turnId, sessionId] of this.#considered) {
      if (this.turns.has(turnId)) continue;
      const view = this.#world.app.service.turn(sessionId, turnId);
      // Within one tick the chart may have decided what the client's promise has yet to say.
      const isAnswerOnItsWay = this.#prompts.some(
        ({ sessionId: id, reply }) => id === sessionId && reply === undefined,
      );
      ok(!view.ok || isAnswerOnItsWay, `turn ${turnId} is public without an answer`);
    }
  }
}
