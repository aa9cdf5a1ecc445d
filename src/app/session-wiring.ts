/** Wiring of the session side: loaded with the first start, together with the agent. */
import { assign, fromCallback, fromPromise } from 'xstate';
import { sessionMachine } from '../machines/session/session.machine.ts';
import { startMachine } from '../machines/session/start.machine.ts';
import { turnMachine } from '../machines/session/turn.machine.ts';
import { DEADLINES_MS, type Deadlines } from '../machines/shared/deadlines.ts';
import type { Answer } from '../machines/shared/replies.ts';
import type { AbortOutcome, AdmitOutcome, AgentPort, TurnRef } from '../ports/agent.ts';
import type { Wiring } from './wiring.ts';

/** Provides every actor, action and delay of a session, its start and its turns. */
export function wireSession(wiring: Wiring) {
  const { agent, reportDefect } = wiring;
  const delays = wiring.deadlines ?? DEADLINES_MS;
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
      disposeSession: fromPromise<void, { readonly sessionId: string }>(({ input }) => {
        wiring.turnEvents?.closed(input.sessionId);
        return agent.disposeSession(input.sessionId);
      }),
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
      announce: ({ context: { sessionId, turnId, updatedAt, result } }) => {
        if (result) wiring.turnEvents?.ended({ sessionId, turnId, state: result.state, at: updatedAt });
      },
      stamp: assign({ updatedAt: ({ context }) => Math.max(context.updatedAt, wiring.now()) }),
    },
    delays: { abortTimeout: delays.abortTimeout, closeAbortTimeout: delays.closeAbortTimeout },
  });
}
