/**
 * Plays the world behind a scripted agent: settles its calls by the rules of the
 * port, as soon as the script of the test allows. Only for the contract suite;
 * the charts' tests settle every call themselves.
 */
import type { AgentPort, StartRequest, TurnResult } from '../../src/ports/agent.ts';
import type { AgentPortHarness, HeldTurn } from '../contracts/agent-port.ts';
import type { Call, Operation, ScriptedAgent } from './scripted-agent.ts';
import { SELECTION } from './world.ts';

interface PlayedTurn {
  readonly sessionId: string;
  result: TurnResult | undefined;
}
/** How the next turn goes: its end, once it is known, and who wants to know that it works. */
interface Plan {
  end: TurnResult | undefined;
  turn: PlayedTurn | undefined;
  readonly works: () => void;
}

const completed = (assistantText: string): TurnResult => ({ state: 'completed', assistantText, truncated: false });
const isStep = (operation: Operation) => /^(select|check|read|connect)/.test(operation);

export class AutoSettler implements AgentPortHarness {
  readonly agent: AgentPort;
  readonly #agent: ScriptedAgent;
  readonly #open = new Set<string>();
  readonly #turns = new Map<string, PlayedTurn>();
  readonly #plans: Plan[] = [];
  #prompts = 0;
  #aborts = 0;

  constructor(agent: ScriptedAgent) {
    this.#agent = agent;
    this.agent = new Proxy(agent, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          setImmediate(() => this.#play());
          return member.apply(target, args) as unknown;
        };
      },
    });
  }

  request(sessionId: string): StartRequest {
    return { sessionId, workspace: 'here', executionProfile: 'reader' };
  }

  abortCreation(request: StartRequest) {
    const controller = new AbortController();
    const created = this.agent.createSession(request, controller.signal);
    controller.abort();
    return created;
  }

  holdNextTurn(): HeldTurn {
    let works = () => {};
    const working = new Promise<void>((resolve) => {
      works = resolve;
    });
    const plan: Plan = { end: undefined, turn: undefined, works };
    this.#plans.push(plan);
    return {
      working,
      complete: (text) => {
        plan.end = completed(text);
        if (plan.turn) this.#end(plan.turn, plan.end);
        this.#play();
      },
    };
  }

  completeNextTurn(text: string): void {
    this.#plans.push({ end: completed(text), turn: undefined, works: () => {} });
  }
  failNextTurn(): void {
    this.#plans.push({ end: { state: 'failed' }, turn: undefined, works: () => {} });
  }

  disposals = (): number => [...this.#agent.disposals.values()].reduce((sum, times) => sum + times, 0);
  prompts = (): number => this.#prompts;
  aborts = (): number => this.#aborts;
  close = (): Promise<void> => Promise.resolve();

  /** One call at a time, so that what one settlement brings about comes before the next. */
  #play(): void {
    for (const call of this.#agent.calls) {
      const settled = this.#outcome(call);
      if (!settled) continue;
      this.#agent.settleCall(call, settled.outcome);
      setImmediate(() => this.#play());
      return;
    }
  }

  #outcome(call: Call): { readonly outcome: unknown } | undefined {
    const { operation, sessionId, signal } = call;
    const turn = this.#turns.get(call.turnId ?? '');
    if (isStep(operation)) return { outcome: { ok: true } };
    switch (operation) {
      case 'createSession':
        if (!signal?.aborted) this.#open.add(sessionId);
        return { outcome: { ok: true, selection: SELECTION } };
      case 'admitPrompt':
        return { outcome: { disposition: this.#admits(call) ? 'started' : 'refused' } };
      case 'settlePrompt':
        return this.#isInPreflight(call) || (turn && !turn.result) ? undefined : { outcome: undefined };
      case 'runTurn':
        return turn && !turn.result ? undefined : { outcome: turn?.result ?? { state: 'failed' } };
      case 'abortTurn':
        if (turn && !turn.result) {
          this.#aborts += 1;
          this.#end(turn, { state: 'aborted' });
        }
        return { outcome: { ok: true } };
      default:
        for (const each of this.#turns.values())
          if (each.sessionId === sessionId) this.#end(each, { state: 'aborted' });
        return { outcome: undefined };
    }
  }

  #isInPreflight({ turnId }: Call): boolean {
    return this.#agent.calls.some((call) => call.operation === 'admitPrompt' && call.turnId === turnId);
  }

  #admits({ sessionId, turnId, signal }: Call): boolean {
    const isBusy = [...this.#turns.values()].some((each) => each.sessionId === sessionId && !each.result);
    const isOpen = this.#open.has(sessionId) && !this.#agent.disposals.has(sessionId);
    if (signal?.aborted || !isOpen || isBusy) return false;
    const turn: PlayedTurn = { sessionId, result: undefined };
    this.#turns.set(turnId ?? '', turn);
    this.#prompts += 1;
    const plan = this.#plans.shift();
    if (plan) plan.turn = turn;
    plan?.works();
    const end = plan?.end;
    // Long after the admission, as seen from whoever waits for it.
    if (end) setImmediate(() => setImmediate(() => this.#end(turn, end)));
    return true;
  }

  /** The first end counts. */
  #end(turn: PlayedTurn, result: TurnResult): void {
    if (turn.result) return;
    const [turnId = ''] = [...this.#turns].find(([, each]) => each === turn) ?? [];
    if (result.state === 'completed') this.#agent.activity(turnId);
    turn.result = result;
    // Whoever waits for the turn hears of it before whoever aborted it.
    for (const call of [...this.#agent.calls]) {
      if (call.turnId === turnId && call.operation === 'runTurn') this.#agent.settleCall(call, result);
    }
    setImmediate(() => this.#play());
  }
}
