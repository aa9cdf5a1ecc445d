/** What is ignored, answered without moving, or late changes nothing: tried in every state of every chart. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createServerApp, type ServerApp, type ServerAppOptions } from '../../src/app/server-app.ts';
import type { AgentPort } from '../../src/ports/agent.ts';
import { type NegativePlan, probeAll } from '../kit/negative.ts';
import type { WorldOptions } from '../kit/world.ts';
import { processPlan, registryPlan, sessionPlan, startPlan, turnPlan } from './negative-plans.ts';

type AnyPlan = NegativePlan<never>;
type Assemble = (options: ServerAppOptions) => ServerApp;

// The development build of xstate warns of each event to an actor that has ended; that is what is tried here.
beforeAll(() => vi.spyOn(console, 'warn').mockImplementation(() => {}));
afterAll(() => vi.restoreAllMocks());

const probe = (plan: unknown, options?: WorldOptions, maxFailures?: number) =>
  probeAll(plan as AnyPlan, options, maxFailures);

describe.each([
  ['start', startPlan, { ignored: 30, stale: 20 }],
  ['turn', turnPlan, { ignored: 100, stale: 100 }],
  ['session', sessionPlan, { ignored: 200, stale: 100 }],
  ['registry', registryPlan, { ignored: 150, stale: 10 }],
  ['process', processPlan, { ignored: 100, stale: 10 }],
] as const)('%s', (name, plan, atLeast) => {
  test('nothing that must not matter does', async () => {
    const { places, ignored, stale, failures } = await probe(plan);
    console.log(`${name}: ${ignored} ignored events and ${stale} late settlements, tried in ${places} places`);
    expect(failures).toEqual([]);
    expect(ignored).toBeGreaterThanOrEqual(atLeast.ignored);
    expect(stale).toBeGreaterThanOrEqual(atLeast.stale);
  });
});

/** The same server on a port that somebody has made a mistake in. */
const onPort =
  (wrong: (agent: AgentPort) => Partial<AgentPort>): Assemble =>
  (options) => {
    const { agent } = options;
    const bound = Object.fromEntries(
      Object.getOwnPropertyNames(Object.getPrototypeOf(agent))
        .filter((name) => name !== 'constructor' && typeof agent[name as keyof AgentPort] === 'function')
        .map((name) => [name, (agent[name as keyof AgentPort] as (...args: unknown[]) => unknown).bind(agent)]),
    ) as unknown as AgentPort;
    return createServerApp({ ...options, agent: { ...bound, ...wrong(agent) } });
  };

/** The same server behind a facade that somebody has made a mistake in. */
const behind =
  (wrong: (app: ServerApp, options: ServerAppOptions) => Partial<ServerApp['service']>): Assemble =>
  (options) => {
    const app = createServerApp(options);
    return { ...app, service: { ...app.service, ...wrong(app, options) } };
  };

const NAIVE: readonly (readonly [string, unknown, Assemble])[] = [
  [
    'an admission that comes too late starts its turn',
    sessionPlan,
    onPort((agent) => ({
      admitPrompt: async (prompt, signal) => {
        const outcome = await agent.admitPrompt(prompt, signal);
        if (outcome?.disposition === 'started' && signal.aborted) void agent.runTurn(prompt);
        return outcome;
      },
    })),
  ],
  [
    'a handle that comes too late is kept',
    startPlan,
    onPort((agent) => ({ createSession: (request) => agent.createSession(request, new AbortController().signal) })),
  ],
  [
    'an abort that succeeds too late aborts once more',
    turnPlan,
    onPort((agent) => ({
      abortTurn: async (turn) => {
        const outcome = await agent.abortTurn(turn);
        if (outcome?.ok) void agent.abortTurn(turn);
        return outcome;
      },
    })),
  ],
  [
    'every abort goes to the agent, turn or no turn',
    sessionPlan,
    behind(({ service }, { agent }) => ({
      abort: (input) => {
        void agent.abortTurn({ ...input, turnId: 'any' });
        return service.abort(input);
      },
    })),
  ],
  [
    'a second prompt is submitted and then answered session_running',
    turnPlan,
    behind(({ service }, { agent }) => ({
      prompt: (input) => {
        const view = service.get(input.sessionId);
        if (view.ok && view.session.state === 'running') {
          void agent.admitPrompt({ ...input, turnId: 'any' }, new AbortController().signal);
        }
        return service.prompt(input);
      },
    })),
  ],
  [
    'a request for a session that nobody knows is never answered',
    registryPlan,
    behind(({ service }) => ({
      close: async (input) => {
        const reply = await service.close(input);
        return reply.ok ? reply : new Promise(() => {});
      },
    })),
  ],
  [
    'a start while it stops leaves a handle behind',
    registryPlan,
    behind(({ service }, { agent }) => ({
      start: async (input) => {
        const reply = await service.start(input);
        if (!reply.ok)
          void agent.createSession(
            { sessionId: 'x', executionProfile: '', ...input } as never,
            new AbortController().signal,
          );
        return reply;
      },
    })),
  ],
];

describe('the probes see that', () => {
  test.each(NAIVE)('%s', async (_, plan, assemble) => {
    const { failures } = await probe(plan, { assemble }, 1);
    expect(failures).not.toEqual([]);
  });
});
