/**
 * Wiring: the charts with the real world provided. The only file that knows
 * both sides; tests call it with scripted ports and a clock of their own.
 */
import { fromPromise } from 'xstate';
import { processMachine } from '../machines/process/process.machine.ts';
import { registryMachine } from '../machines/session/registry.machine.ts';
import type { sessionMachine } from '../machines/session/session.machine.ts';
import { DEADLINES_MS, type Deadlines } from '../machines/shared/deadlines.ts';
import type { Answer } from '../machines/shared/replies.ts';
import type { AgentPort, StartFailure, StartRequest } from '../ports/agent.ts';
import type { TurnEvents } from '../ports/events.ts';
import type { TransportPort } from '../ports/transport.ts';

export interface Wiring {
  readonly agent: AgentPort;
  readonly transport: TransportPort;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly reply: (answers: readonly Answer[]) => void;
  readonly reportRefusal: (failure: StartFailure, request: StartRequest) => void;
  readonly reportDefect: () => void;
  /** Without it, nobody outside learns of a turn's end. */
  readonly turnEvents?: TurnEvents;
  /** Other numbers than the product's, for virtual time only. */
  readonly deadlines?: Deadlines;
}

/**
 * Provides every actor, action and delay; the result is the root chart, ready to run.
 *
 * @param session The session chart, wired (`session-wiring.ts`); not looked at before the first START.
 */
export function wireCharts(wiring: Wiring, session: typeof sessionMachine) {
  const { reportDefect } = wiring;
  const delays = wiring.deadlines ?? DEADLINES_MS;
  const reply = (_: unknown, answers: readonly Answer[]) => wiring.reply(answers);
  const registry = registryMachine.provide({
    actors: { session },
    actions: { reply, reportDefect },
    delays: { registryTimeout: delays.registryTimeout },
  });
  return processMachine.provide({
    actors: { registry, closeTransport: fromPromise<void, void>(() => closeEdges(wiring)) },
    delays: { processTimeout: delays.processTimeout },
  });
}

/** Both at once; what is left of the events does not decide over the transport. */
async function closeEdges({ transport, turnEvents }: Wiring): Promise<void> {
  const events = turnEvents?.close();
  try {
    await transport.close();
  } finally {
    await events;
  }
}
