/** What became of each prompt that was put to an agent, as a real agent would have seen it. */
import type { AbortOutcome, AdmitOutcome, TurnResult } from '../../src/ports/agent.ts';
import type { Call } from './agent-call.ts';

type Ending = TurnResult['state'];

interface Entry {
  readonly sessionId: string;
  /** Whoever asked has stopped waiting for the preflight. */
  readonly signal: AbortSignal;
  isOver: boolean;
  /** How the turn may truthfully be said to have ended. */
  readonly endings: Set<Ending>;
}

export class PromptLedger {
  readonly #entries = new Map<string, Entry>();

  submitted(sessionId: string, turnId: string, signal: AbortSignal): void {
    this.#entries.set(turnId, { sessionId, signal, isOver: false, endings: new Set() });
  }

  /** `undefined`: the call was rejected. */
  settled(call: Call, outcome: unknown): void {
    const entry = call.turnId === undefined ? undefined : this.#entries.get(call.turnId);
    if (!entry) return;
    if (call.operation === 'admitPrompt') {
      const started = (outcome as AdmitOutcome | undefined)?.disposition === 'started';
      // After its deadline a preflight only tells that the prompt is still about.
      if (!started && !entry.signal.aborted) entry.isOver = true;
    } else if (call.operation === 'settlePrompt') entry.isOver = true;
    else if (call.operation === 'runTurn') {
      entry.isOver = true;
      entry.endings.add((outcome as TurnResult | undefined)?.state ?? 'failed');
    } else if (call.operation === 'abortTurn' && (outcome as AbortOutcome | undefined)?.ok) {
      entry.endings.add('aborted');
      // The abort of a prompt in quarantine says nothing about the prompt's own call.
      if (!entry.signal.aborted) entry.isOver = true;
    }
  }

  /** Why a new prompt would meet an earlier one in this session; undefined when it would not. */
  obstacle(sessionId: string, live: readonly Call[]): string | undefined {
    for (const [turnId, entry] of this.#entries) {
      if (entry.sessionId !== sessionId) continue;
      if (!entry.isOver) return `prompt for ${sessionId} while ${turnId} is not over`;
      const isAborting = live.some((call) => call.operation === 'abortTurn' && call.turnId === turnId);
      if (entry.signal.aborted && isAborting) return `prompt for ${sessionId} while ${turnId} is being aborted`;
    }
    return undefined;
  }

  hasEndedAs(turnId: string, state: string): boolean {
    return this.#entries.get(turnId)?.endings.has(state as Ending) ?? false;
  }
}
