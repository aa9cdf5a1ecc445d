import { AgentSession } from '@earendil-works/pi-coding-agent';
import { vi } from 'vitest';
import type { ScriptedStep } from '../../../demo/scripted-model.ts';
import { agentPortContract, type HeldTurn } from '../../contracts/agent-port.ts';
import { openLab } from './lab.ts';

const abortOf = AgentSession.prototype.abort;
const disposeOf = AgentSession.prototype.dispose;

agentPortContract('Pi SDK on a scripted model', async () => {
  const lab = await openLab();
  // `dispose` of the adapter aborts too, so only aborts of a session that stays are counted.
  let aborts: unknown[] = [];
  const abort = vi.spyOn(AgentSession.prototype, 'abort').mockImplementation(function (this: AgentSession) {
    aborts.push(this);
    return abortOf.call(this);
  });
  const dispose = vi.spyOn(AgentSession.prototype, 'dispose').mockImplementation(function (this: AgentSession) {
    aborts = aborts.filter((session) => session !== this);
    return disposeOf.call(this);
  });

  return {
    agent: lab.agent,
    request: (sessionId) => lab.request('reader', sessionId),
    async abortCreation(request) {
      const controller = new AbortController();
      const created = lab.agent.createSession(request, controller.signal);
      controller.abort();
      return created;
    },
    holdNextTurn(): HeldTurn {
      let resolve: (step: ScriptedStep) => void = () => {};
      const promise = new Promise<ScriptedStep>((done) => {
        resolve = done;
      });
      lab.model.push({ delay: () => promise });
      return {
        working: lab.model.arrived(lab.model.requests.length).then(() => {}),
        complete: (text) => resolve({ text }),
      };
    },
    completeNextTurn: (text) => lab.model.push({ text }),
    failNextTurn: () => lab.model.push({ status: 400 }),
    disposals: () => dispose.mock.calls.length,
    prompts: () => lab.model.requests.length,
    aborts: () => aborts.length,
    async close() {
      await lab.close();
      abort.mockRestore();
      dispose.mockRestore();
    },
  };
});
