/**
 * One session, its start and its turn as the pure charts have them: stepped by
 * `transition()`, no actor running, no time passing. What the real assembly has to agree with.
 */
import { type AnyEventObject, assign, initialTransition, type SnapshotFrom } from 'xstate';
import { type SessionContext, sessionRecord } from '../../src/machines/session/session.context.ts';
import { sessionMachine } from '../../src/machines/session/session.machine.ts';
import { startMachine } from '../../src/machines/session/start.machine.ts';
import { turnMachine, turnRecord } from '../../src/machines/session/turn.machine.ts';
import type { DeadlineName } from '../../src/machines/shared/deadlines.ts';
import type { Reply, SessionReply, SessionState, TurnReply } from '../../src/ports/session-service.ts';
import { doneEvent, errorEvent } from './domain.ts';
import { type Effects, effectsOf } from './effects.ts';
import type { Call, Operation } from './scripted-agent.ts';
import { TEST_DEADLINES } from './world.ts';

export type SessionChart = typeof sessionMachine;
type Session = SnapshotFrom<SessionChart>;
type Start = SnapshotFrom<typeof startMachine>;
type Turn = SnapshotFrom<typeof turnMachine>;

export interface PureTimer {
  readonly chart: 'session' | 'start' | 'turn';
  readonly event: AnyEventObject;
  readonly delayMs: number;
}

export class PureSession {
  readonly id: string;
  /** Every answer that the charts gave, by request id. */
  readonly answers = new Map<string, Reply[]>();
  readonly turnIds: string[] = [];
  session: Session;
  #start: Start | undefined;
  #turn: Turn | undefined;
  readonly #turnChart: typeof turnMachine;

  constructor(id: string, startRequestId: string, now: () => number, chart: SessionChart = sessionMachine) {
    this.id = id;
    const stamp = assign(({ context }: { context: { updatedAt: number } }) => ({
      updatedAt: Math.max(context.updatedAt, now()),
    }));
    const observed = chart.provide({ actions: { stamp } as never }) as SessionChart;
    this.#turnChart = turnMachine.provide({ actions: { stamp } as never }) as typeof turnMachine;
    const input = { id, workspace: 'here', executionProfile: 'reader', profile: 'read-only', startRequestId } as const;
    [this.session] = initialTransition(observed, input);
    [this.#start] = initialTransition(startMachine, { sessionId: id, workspace: 'here', executionProfile: 'reader' });
  }

  get isOver(): boolean {
    return this.session.status === 'done';
  }

  /** @param event PROMPT, ABORT, CLOSE or STOP. */
  request(event: AnyEventObject): void {
    if (event.type === 'PROMPT') this.turnIds.push(String(event['turnId']));
    if (this.isOver) this.#askTombstone(event);
    else this.#stepSession(event);
  }

  /** A call of the agent has settled; nobody listens to the late ones. */
  settle(call: Call, outcome: unknown, isRejected: boolean): void {
    const actorId = this.#listener(call);
    if (actorId === undefined) return;
    const event = isRejected ? errorEvent(actorId.id) : doneEvent(actorId.id, outcome);
    if (actorId.chart === 'start') this.#stepStart(event);
    else if (actorId.chart === 'turn') this.#stepTurn(event);
    else this.#stepSession(event);
  }

  fire({ chart, event }: PureTimer): void {
    if (chart === 'start') this.#stepStart(event);
    else if (chart === 'turn') this.#stepTurn(event);
    else this.#stepSession(event);
  }

  activity(turnId: string): void {
    if (this.#turn?.context.turnId === turnId) this.#stepTurn({ type: 'ACTIVITY' });
  }

  /** Whether somebody listens to the call. */
  awaits(call: Call): boolean {
    return this.#listener(call) !== undefined;
  }

  /** Calls that somebody has to be listening to just now. */
  pendingCalls(): string[] {
    const admission = (this.session.context as SessionContext).admission?.turnId;
    const of = (operation: Operation, turnId: string | undefined) => `${operation} ${turnId}`;
    const { children } = this.session;
    return [
      ...Object.keys(this.#start?.children ?? {}).map((id) => of(id as Operation, undefined)),
      ...(['admitPrompt', 'settlePrompt'] as const).filter((id) => id in children).map((id) => of(id, admission)),
      ...('abortQuarantined' in children || 'abortAdmission' in children ? [of('abortTurn', admission)] : []),
      ...(['runTurn', 'abortTurn'] as const)
        .filter((id) => this.#turn && id in this.#turn.children)
        .map((id) => of(id, this.#turn?.context.turnId)),
      ...('disposeSession' in children ? [of('disposeSession', undefined)] : []),
    ].sort();
  }

  timers(): PureTimer[] {
    const own = (['session', 'start', 'turn'] as const).flatMap((chart) => {
      const snapshot = { session: this.session, start: this.#start, turn: this.#turn }[chart];
      const types = snapshot?._nodes.flatMap((node) => [...node.transitions.keys()]) ?? [];
      return types
        .filter((type) => type.startsWith('xstate.after.'))
        .map((type) => ({ chart, event: { type }, delayMs: TEST_DEADLINES[type.split('.')[2] as DeadlineName] }));
    });
    const callers = (this.#turn?.context.callers ?? []).map((requestId) => ({
      chart: 'turn' as const,
      event: { type: 'ABORT_DEADLINE', requestId },
      delayMs: TEST_DEADLINES.abortTimeout,
    }));
    return [...own, ...callers];
  }

  view(): SessionReply {
    const state = this.#state();
    if (state === undefined) return { ok: false, code: 'unknown_session' };
    return { ok: true, session: sessionRecord(this.session.context, state) };
  }

  turnView(turnId: string): TurnReply {
    const state = this.#state();
    const { turns } = this.session.context as SessionContext;
    if (state === undefined) return { ok: false, code: 'unknown_session' };
    const ended = turns.find((turn) => turn.turnId === turnId);
    if (state === 'closing' || state === 'closed') return { ok: false, code: 'unknown_turn' };
    if (this.#turn?.context.turnId === turnId) return { ok: true, turn: turnRecord(this.#turn.context) };
    return ended ? { ok: true, turn: ended } : { ok: false, code: 'unknown_turn' };
  }

  #state(): SessionState | undefined {
    const { session } = this;
    if (session.matches('opening') || session.matches('discarded')) return undefined;
    if (session.matches('closed')) return 'closed';
    if (session.matches('closing') || session.matches({ engaged: 'ending' })) return 'closing';
    if (session.matches('engaged')) return 'running';
    return session.context.lastTurnFailed ? 'failed' : 'idle';
  }

  #listener({ operation, turnId, signal }: Call): { chart: 'session' | 'start' | 'turn'; id: string } | undefined {
    if (signal?.aborted) return undefined;
    const { admission } = this.session.context as SessionContext;
    const { children } = this.session;
    if (this.#start && operation in this.#start.children) return { chart: 'start', id: operation };
    if (this.#turn?.context.turnId === turnId && this.#turn && operation in this.#turn.children) {
      return { chart: 'turn', id: operation };
    }
    if (turnId !== undefined && turnId !== admission?.turnId) return undefined;
    const ids = operation === 'abortTurn' ? ['abortQuarantined', 'abortAdmission'] : [operation];
    const id = ids.find((each) => each in children);
    return id === undefined ? undefined : { chart: 'session', id };
  }

  #stepSession(event: AnyEventObject): void {
    const effects = effectsOf(this.session, event);
    this.session = effects.state as unknown as Session;
    this.#note(effects);
    if (!('start' in this.session.children)) this.#start = undefined;
    const begun = effects.spawned.find(({ src }) => src === 'turn');
    if (begun) [this.#turn] = initialTransition(this.#turnChart, begun.input as never);
    if (!('turn' in this.session.children)) this.#turn = undefined;
    for (const { to, event: sent } of effects.sent) if (to === 'turn') this.#stepTurn(sent);
  }

  #stepStart(event: AnyEventObject): void {
    if (!this.#start) return;
    this.#start = effectsOf(this.#start, event).state as unknown as Start;
    if (this.#start.status === 'done') this.#stepSession(doneEvent('start', this.#start.output));
  }

  #stepTurn(event: AnyEventObject): void {
    if (!this.#turn) return;
    const effects = effectsOf(this.#turn, event);
    this.#turn = effects.state as unknown as Turn;
    this.#note(effects);
    if (this.#turn.status === 'done') this.#stepSession(doneEvent('turn', this.#turn.output));
  }

  #note({ answers }: Effects): void {
    for (const { requestId, reply } of answers) {
      this.answers.set(requestId, [...(this.answers.get(requestId) ?? []), reply]);
    }
  }

  /** The registry answers for a session that is gone. */
  #askTombstone({ type, requestId }: AnyEventObject): void {
    const view = this.view();
    const reply: Reply = view.ok && type === 'PROMPT' ? { ok: false, code: 'prompt_rejected' } : view;
    if (requestId !== undefined) this.#note({ answers: [{ requestId, reply }] } as unknown as Effects);
  }
}
