/**
 * An agent port whose adapter is loaded with the first start: a server that
 * never opens a session pays for none of it, and every server answers its
 * client sooner.
 */
import type { AgentPort } from '../ports/agent.ts';

/** @param load Called once, with the first start; if it rejects, that start fails and the next one tries again. */
export function createLazyAgent(load: () => Promise<AgentPort>): AgentPort {
  let loaded: AgentPort | undefined;
  let loading: Promise<AgentPort> | undefined;
  const agent = async (): Promise<AgentPort> => {
    loading ??= load();
    try {
      loaded = await loading;
      return loaded;
    } catch (error) {
      loading = undefined;
      throw error;
    }
  };
  return {
    selectModel: async (request, signal) => (await agent()).selectModel(request, signal),
    checkAuthentication: async (request, signal) => (await agent()).checkAuthentication(request, signal),
    readAuthentication: async (request, signal) => (await agent()).readAuthentication(request, signal),
    checkAvailability: async (request, signal) => (await agent()).checkAvailability(request, signal),
    connectTools: async (request, signal) => (await agent()).connectTools(request, signal),
    createSession: async (request, signal) => (await agent()).createSession(request, signal),
    admitPrompt: async (prompt, signal) => (await agent()).admitPrompt(prompt, signal),
    settlePrompt: async (turn) => (await agent()).settlePrompt(turn),
    runTurn: async (turn) => (await agent()).runTurn(turn),
    // Only a running turn is watched, and that takes a loaded adapter.
    watchTurn: (turn, onActivity) => loaded?.watchTurn(turn, onActivity) ?? (() => {}),
    abortTurn: async (turn) => (await agent()).abortTurn(turn),
    disposeSession: async (sessionId) => (await agent()).disposeSession(sessionId),
    disposeAll: () => loaded?.disposeAll(),
  };
}
