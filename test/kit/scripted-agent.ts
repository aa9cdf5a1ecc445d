/** An agent port whose every call waits until the test settles it; it counts what must not happen twice. */
import type {
  AbortOutcome,
  AdmitOutcome,
  AgentPort,
  CreateOutcome,
  StartRequest,
  StepOutcome,
  TurnRef,
  TurnResult,
} from '../../src/ports/agent.ts';
import type { Call, Operation } from './agent-call.ts';
import { PromptLedger } from './prompt-ledger.ts';

export type { Call, Operation } from './agent-call.ts';

export class ScriptedAgent implements AgentPort {
  /** Calls that have not settled, oldest first. */
  readonly calls: Call[] = [];
  /** Everything that ever went wrong with a handle. */
  readonly violations: string[] = [];
  /** How often each handle was disposed. */
  readonly disposals = new Map<string, number>();
  readonly ledger = new PromptLedger();
  watchFails = false;
  /** The process has let go of everything: views mean nothing any more. */
  isOver = false;
  readonly #handles = new Set<string>();
  readonly #watchers = new Set<{ readonly turnId: string; readonly onActivity: () => void }>();
  readonly #aborts = new Map<string, Promise<AbortOutcome>>();

  hasHandle(sessionId: string): boolean {
    return this.#handles.has(sessionId);
  }

  get openHandles(): number {
    return this.#handles.size;
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  find(operation: Operation, sessionId?: string): Call | undefined {
    return this.calls.find((call) => call.operation === operation && (sessionId ?? call.sessionId) === call.sessionId);
  }

  /** Settles the oldest such call. */
  settle(operation: Operation, outcome?: unknown, sessionId?: string): void {
    this.settleCall(this.#find(operation, sessionId), outcome);
  }

  reject(operation: Operation, sessionId?: string): void {
    this.rejectCall(this.#find(operation, sessionId));
  }

  settleCall(call: Call, outcome: unknown): void {
    this.calls.splice(this.calls.indexOf(call), 1);
    this.ledger.settled(call, outcome);
    call.resolve(outcome);
  }

  rejectCall(call: Call): void {
    this.calls.splice(this.calls.indexOf(call), 1);
    this.ledger.settled(call, undefined);
    call.reject(new Error('scripted rejection'));
  }

  activity(turnId: string): void {
    for (const watcher of [...this.#watchers]) if (watcher.turnId === turnId) watcher.onActivity();
  }

  selectModel(request: StartRequest, signal: AbortSignal): Promise<StepOutcome> {
    return this.#call('selectModel', request.sessionId, undefined, signal);
  }
  checkAuthentication(request: StartRequest, signal: AbortSignal): Promise<StepOutcome> {
    return this.#call('checkAuthentication', request.sessionId, undefined, signal);
  }
  readAuthentication(request: StartRequest, signal: AbortSignal): Promise<StepOutcome> {
    return this.#call('readAuthentication', request.sessionId, undefined, signal);
  }
  checkAvailability(request: StartRequest, signal: AbortSignal): Promise<StepOutcome> {
    return this.#call('checkAvailability', request.sessionId, undefined, signal);
  }
  connectTools(request: StartRequest, signal: AbortSignal): Promise<StepOutcome> {
    return this.#call('connectTools', request.sessionId, undefined, signal);
  }

  async createSession({ sessionId }: StartRequest, signal: AbortSignal): Promise<CreateOutcome> {
    const outcome = await this.#call<CreateOutcome>('createSession', sessionId, undefined, signal);
    if (!outcome?.ok) return outcome;
    if (signal.aborted) {
      this.#countDisposal(sessionId);
      return { ok: false, code: 'pi_session_creation_failed', stage: 'create_session' };
    }
    this.#handles.add(sessionId);
    return outcome;
  }

  admitPrompt({ sessionId, turnId }: TurnRef, signal: AbortSignal): Promise<AdmitOutcome> {
    if (!this.#handles.has(sessionId)) this.violations.push(`prompt for ${sessionId}, which has no handle`);
    const obstacle = this.ledger.obstacle(sessionId, this.calls);
    if (obstacle) this.violations.push(obstacle);
    this.ledger.submitted(sessionId, turnId, signal);
    return this.#call('admitPrompt', sessionId, turnId, signal);
  }

  settlePrompt({ sessionId, turnId }: TurnRef): Promise<void> {
    return this.#call('settlePrompt', sessionId, turnId);
  }

  runTurn({ sessionId, turnId }: TurnRef): Promise<TurnResult> {
    return this.#call('runTurn', sessionId, turnId);
  }

  watchTurn({ turnId }: TurnRef, onActivity: () => void): () => void {
    if (this.watchFails) throw new Error('scripted failure');
    const watcher = { turnId, onActivity };
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  abortTurn({ sessionId, turnId }: TurnRef): Promise<AbortOutcome> {
    const live = this.#aborts.get(turnId);
    if (live) return live;
    const attempt = this.#call<AbortOutcome>('abortTurn', sessionId, turnId).finally(() => this.#aborts.delete(turnId));
    this.#aborts.set(turnId, attempt);
    return attempt;
  }

  disposeSession(sessionId: string): Promise<void> {
    if (!this.#handles.delete(sessionId)) return Promise.resolve();
    this.#countDisposal(sessionId);
    return this.#call('disposeSession', sessionId);
  }

  disposeAll(): void {
    this.isOver = true;
    for (const sessionId of this.#handles) this.#countDisposal(sessionId);
    this.#handles.clear();
  }

  #call<T>(operation: Operation, sessionId: string, turnId?: string, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      this.calls.push({ operation, sessionId, turnId, signal, resolve: resolve as (outcome: unknown) => void, reject });
    });
  }

  #find(operation: Operation, sessionId?: string): Call {
    const call = this.find(operation, sessionId);
    if (!call) {
      const live = this.calls.map((each) => `${each.operation}(${each.sessionId})`).join(', ') || 'nothing';
      throw new Error(`no live ${operation}; live: ${live}`);
    }
    return call;
  }

  #countDisposal(sessionId: string): void {
    this.disposals.set(sessionId, (this.disposals.get(sessionId) ?? 0) + 1);
  }
}
