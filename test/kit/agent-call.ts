/** A call to a scripted agent that waits for the test. */
import type { AgentPort } from '../../src/ports/agent.ts';

export type Operation = Exclude<keyof AgentPort, 'watchTurn' | 'disposeAll'>;

export interface Call {
  readonly operation: Operation;
  readonly sessionId: string;
  readonly turnId: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: Error) => void;
}
