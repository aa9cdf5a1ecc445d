/**
 * Wiring: the charts with the real world provided. The only file that knows
 * both sides; tests call it with scripted ports and a clock of their own.
 */
import { assign, fromCallback, fromPromise } from 'xstate';
import { processMachine } from '../machines/process/process.machine.ts';
import { registryMachine } from '../machines/session/registry.machine.ts';
import { sessionMachine } from '../machines/session/session.machine.ts';
import { startMachine } from '../machines/session/start.machine.ts';
import { turnMachine } from '../machines/session/turn.machine.ts';
import { DEADLINES_MS, type Deadlines } from '../machines/shared/deadlines.ts';
import type { Answer } from '../machines/shared/replies.ts';
import type { AbortOutcome, AdmitOutcome, AgentPort, StartFailure, StartRequest, TurnRef } from '../ports/agent.ts';
import type { TransportPort } from '../ports/transport.ts';

export interface Wiring {
  readonly agent: AgentPort;
  readonly transport: TransportPort;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly reply: (answers: readonly Answer[]) => void;
  readonly reportRefusal: (failure: StartFailure, request: StartRequest) => void;
  readonly reportDefect: () => void;
  /** Other numbers than the contract's, for virtual time only. */
  readonly deadlines?: Deadlines;
}

/** Provides every actor, action and delay; the result is the root chart, ready to run. */
export function wireCharts(wiring: Wiring) {
  const { transport, reportDefect } = wiring;
  const delays = wiring.deadlines ?? DEADLINES_MS;
  const reply = (_: unknown, answers: readonly Answer[]) => wiring.reply(answers);
  const session = wireSession(wiring, delays);
  const registry = registryMachine.provide({
    actors: { session },
    actions: { reply, reportDefect },
    delays: { registryTimeout: delays.registryTimeout },
  });
  return processMachine.provide({
    actors: { registry, closeTransport: fromPromise<void, void>(() => transport.close()) },
    delays: { processTimeout: delays.processTimeout },
  });
}

function wireSession(wiring: Wiring, delays: Deadlines) {
  const { agent, reportDefect } = wiring;
  const reply = (_: unknown, answers: readonly Answer[]) => wiring.reply(answers);
  return sessionMachine.provide({
    actors: {
      start: wireStart(agent, delays),
      turn: wireTurn(wiring, delays),
      admitPrompt: fromPromise<AdmitOutcome, TurnRef & { readonly prompt: string }>(({ input, signal }) =>
        agent.admitPrompt(input, signal),
      ),
      settlePrompt: fromPromise<void, TurnRef>(({ input }) => agent.settlePrompt(input)),
      abortTurn: fromPromise<AbortOutcome, TurnRef>(({ input }) => agent.abortTurn(input)),
      disposeSession: fromPromise<void, { readonly sessionId: string }>(({ input }) =>
        agent.disposeSession(input.sessionId),
      ),
    },
    actions: {
      reply,
      reportDefect,
      reportRefusal: ({ context }, output) => {
        const { id, workspace, executionProfile } = context;
        if (!output.ok) wiring.reportRefusal(output, { sessionId: id, workspace, executionProfile });
      },
      // Wall clocks step back; a view's time must not.
      stamp: assign({ updatedAt: ({ context }) => Math.max(context.updatedAt, wiring.now()) }),
    },
    delays: {
      preflightTimeout: delays.preflightTimeout,
      closeAbortTimeout: delays.closeAbortTimeout,
      disposeTimeout: delays.disposeTimeout,
    },
  });
}

function wireStart(agent: AgentPort, delays: Deadlines) {
  return startMachine.provide({
    actors: {
      selectModel: fromPromise(({ input, signal }) => agent.selectModel(input, signal)),
      checkAuthentication: fromPromise(({ input, signal }) => agent.checkAuthentication(input, signal)),
      readAuthentication: fromPromise(({ input, signal }) => agent.readAuthentication(input, signal)),
      checkAvailability: fromPromise(({ input, signal }) => agent.checkAvailability(input, signal)),
      connectTools: fromPromise(({ input, signal }) => agent.connectTools(input, signal)),
      createSession: fromPromise(({ input, signal }) => agent.createSession(input, signal)),
    },
    delays: {
      authenticationTimeout: delays.authenticationTimeout,
      connectionTimeout: delays.connectionTimeout,
      loadingTimeout: delays.loadingTimeout,
      creationTimeout: delays.creationTimeout,
    },
  });
}

function wireTurn(wiring: Wiring, delays: Deadlines) {
  const { agent } = wiring;
  return turnMachine.provide({
    actors: {
      runTurn: fromPromise(({ input }) => agent.runTurn(input)),
      watchTurn: fromCallback<{ type: 'ACTIVITY' }, TurnRef>(({ input, sendBack }) =>
        agent.watchTurn(input, () => sendBack({ type: 'ACTIVITY' })),
      ),
      abortTurn: fromPromise(({ input }) => agent.abortTurn(input)),
    },
    actions: {
      reply: (_, answers) => wiring.reply(answers),
      stamp: assign({ updatedAt: ({ context }) => Math.max(context.updatedAt, wiring.now()) }),
    },
    delays: { abortTimeout: delays.abortTimeout, closeAbortTimeout: delays.closeAbortTimeout },
  });
}
