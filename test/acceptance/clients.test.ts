/**
 * The real Claude Code and Codex delegate a task through the built server. They
 * are installed apart from us and only tried when PI_SESSION_MCP_CLIENTS says
 * where. Their exit codes prove nothing, so what their models get is looked at.
 */
import { describe, expect, it } from 'vitest';
import { useStage } from '../e2e/kit/stage.ts';
import { missing, runClaude, runCodex } from './kit/clients.ts';
import { type Endpoint, type Script, startEndpoint } from './kit/scripted-endpoint.ts';

const TOOLS = ['pi_capabilities_get', 'pi_session_start', 'pi_session_prompt', 'pi_turn_get', 'pi_session_close'];
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** The id of a session or turn in the tool results that the client has sent back to its model, however quoted. */
function idOf(object: 'session' | 'turn', field: string, body: string): string {
  const found = new RegExp(`${object}\\\\*":{\\\\*"${field}\\\\*":\\\\*"(${UUID})`).exec(body);
  return found?.[1] ?? 'missing';
}

/** A client that never sees the answer must not ask for ever. */
const MAX_REQUESTS = 200;

/** What a delegating model does, and one mistake first. Polls as long as the turn runs. */
function delegation(): Script {
  let sessionId = '';
  let turnId = '';
  return (index, body) => {
    if (index === 0) return { tool: 'pi_capabilities_get' };
    if (index === 1) return { tool: 'pi_session_start', args: { workspace: 'nowhere' } };
    if (index === 2) return { tool: 'pi_session_start', args: { workspace: 'app' } };
    if (index === 3) {
      sessionId = idOf('session', 'id', body);
      return { tool: 'pi_session_prompt', args: { sessionId, prompt: 'Say the word.' } };
    }
    if (index > MAX_REQUESTS) return { text: 'GIVEN UP' };
    turnId ||= idOf('turn', 'turnId', body);
    if (!body.includes('MARMALADE')) return { tool: 'pi_turn_get', args: { sessionId, turnId } };
    if (!/state\\*":\\*"closed/.test(body)) return { tool: 'pi_session_close', args: { sessionId } };
    return { text: 'ALL DONE' };
  };
}

function expectDelegated({ asked, others }: Endpoint, stdout: string): void {
  const seen = asked.at(-1)?.body ?? '';
  const bodies = asked.map((request) => request.body);
  expect(bodies[0]).toContain('pi_session_start');
  expect(bodies[1]).toMatch(/sha256:[0-9a-f]{64}/);
  // An error of ours reaches the model with its code and its advice.
  expect(bodies[2]).toContain('unknown_workspace');
  expect(bodies[2]).toContain('Use one that pi_capabilities_get lists');
  expect(seen).toContain('MARMALADE');
  expect(seen).toMatch(/state\\*":\\*"closed/);
  expect(stdout).toContain('ALL DONE');
  expect(others.filter((other) => other.startsWith('POST'))).toEqual([]);
}

const CLAUDE = missing('claude');
const CODEX = missing('codex');
// The reporter tells how many were skipped, and not why.
for (const reason of new Set([CLAUDE, CODEX])) if (reason) console.warn(`SKIPPED, real clients: ${reason}`);

describe('Claude Code', () => {
  it('delegates a task', { timeout: 90_000 }, async (context) => {
    context.skip(CLAUDE !== undefined, CLAUDE);
    const stage = await useStage({ model: { steps: [{ text: 'MARMALADE' }] } });
    const endpoint = await startEndpoint(delegation());
    const { stdout, stderr } = await runClaude(stage, endpoint.origin, TOOLS);
    expect(stderr).toBe('');
    expect(stdout).toContain('"mcp_servers":[{"name":"pi","status":"connected"');
    expectDelegated(endpoint, stdout);
  });
});

describe('Codex', () => {
  it('delegates a task', { timeout: 90_000 }, async (context) => {
    context.skip(CODEX !== undefined, CODEX);
    const stage = await useStage({ model: { steps: [{ text: 'MARMALADE' }] } });
    const endpoint = await startEndpoint(delegation());
    const { stdout } = await runCodex(stage, endpoint.origin);
    expectDelegated(endpoint, stdout);
  });
});
