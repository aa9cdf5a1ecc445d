/** What is known of the one turn that a session runs. */
import type { AbortOutcome, TurnResult } from '../../ports/agent.ts';
import type { AssistantMessage } from './sdk.ts';
import { turnResultOf } from './turn-result.ts';

export class Turn {
  readonly turnId: string;
  readonly activity = new Set<() => void>();
  /** Resolves once the SDK's prompt has settled in whatever way. */
  settled: Promise<void> = Promise.resolve();
  /** False once it has. */
  live = true;
  result: TurnResult = { state: 'failed' };
  abort: Promise<AbortOutcome> | undefined;
  /** Only the last one counts: Pi may retry or compact an earlier one away. */
  private lastMessage: AssistantMessage | undefined;

  constructor(turnId: string) {
    this.turnId = turnId;
  }

  sawMessage(message: AssistantMessage): void {
    if (this.live) this.lastMessage = message;
  }

  settle(): void {
    this.live = false;
    this.result = turnResultOf(this.lastMessage);
    this.lastMessage = undefined;
  }
}
