/** External servers behind the built server: what a client sees, and that no child of theirs is ever left. */
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { BUILT_SERVER } from '../../demo/scene.ts';
import { sleepToken } from '../adapters/process/processes.ts';
import { type FixtureOptions, fixture, tool } from '../fixtures/mcp-servers/servers.ts';
import { processesOf } from './kit/processes.ts';
import { connect, launch, type Server, toolCall } from './kit/server.ts';
import { bash, prompt, run, startSession, turnEnd } from './kit/sessions.ts';
import { useStage } from './kit/stage.ts';
import { until, within } from './kit/until.ts';

const GONE_WITHIN_MS = 5_000;
const TOOL_ERROR = 'TOOLERRORCANARY';

/** As the operator writes it. The token in the command line tells the process from all others. */
function configured(servers: Readonly<Record<string, FixtureOptions>>, token: string) {
  const entries = Object.entries(servers).map(([alias, options]) => {
    const { alias: _, ...server } = fixture(alias, options, { token });
    return [alias, server] as const;
  });
  return { mcpServers: Object.fromEntries(entries) };
}

async function granted(servers: Readonly<Record<string, FixtureOptions>> = { a: {} }, steps: readonly object[] = []) {
  const token = sleepToken();
  const stage = await useStage({ profiles: { granted: configured(servers, token) }, model: { steps } });
  const server = await connect(stage, { detached: true });
  return { stage, token, server };
}

const children = (token: string) => processesOf(token);
const gone = (token: string) =>
  until('every child of an external server to be gone', () => children(token).length === 0, GONE_WITHIN_MS);
const call = (how: string, more: object = {}) => ({ tools: [{ name: 'mcp_a_do', args: { how, ...more } }] });
const failure = async (server: Server) =>
  (await server.call('pi_session_start', { workspace: 'app', executionProfile: 'granted' }))['error'];

describe('a session with granted tools', () => {
  it('uses them, and tells a client nothing of their failures', async () => {
    const steps = [call('echo', { say: 'hello' }), call('error', { say: TOOL_ERROR }), { text: 'over' }];
    const { server, token, stage } = await granted({ a: {}, b: { noise: true } }, steps);
    const sessionId = await startSession(server, 'granted');
    expect(children(token)).toHaveLength(2);
    expect(await run(server, sessionId)).toMatchObject({ state: 'completed', assistantText: 'over' });
    const said = (request: number) => stage.model.requests[request]?.messages.at(-1)?.content;
    expect(said(1)).toBe('hello');
    expect(said(2)).toBe('The external tool failed.');
    expect(await server.call('pi_session_close', { sessionId })).toMatchObject({ session: { state: 'closed' } });
    expect(children(token)).toEqual([]);
    expect(server.stdout + server.stderr).not.toContain(TOOL_ERROR);
  });

  it.each([
    ['external_mcp_unavailable', { b: { dieOn: 'initialize' } }, { server: 'b' }],
    ['external_mcp_no_tools', { b: { lists: [[]] } }, { server: 'b' }],
    ['external_mcp_grant_tool_missing', { b: { lists: [[tool('other')]] } }, { server: 'b', tool: 'do' }],
  ])('fails to start with %s: one line, and nothing left', async (code, bad, subject) => {
    const { server, token } = await granted({ a: {}, ...bad });
    expect(await failure(server)).toMatchObject({ code });
    await gone(token);
    const line = JSON.parse(server.stderr) as object;
    expect(line).toMatchObject({ event: 'pi_session_creation_failed', stage: 'mcp_tools', code, ...subject });
    expect(await server.call('pi_session_list')).toMatchObject({ sessions: [] });
  });

  it('is aborted in the middle of a call, and goes on', async () => {
    const { server, stage } = await granted();
    const file = stage.path('app', 'hangs');
    stage.model.push(call('hang', { file }), call('echo', { say: 'again' }), { text: 'over' });
    const sessionId = await startSession(server, 'granted');
    const ids = await prompt(server, sessionId);
    await until('the call to be at work', () => existsSync(file));
    await server.call('pi_session_abort', { sessionId });
    expect(await turnEnd(server, ids)).toMatchObject({ state: 'aborted' });
    expect(await run(server, sessionId)).toMatchObject({ state: 'completed' });
  });
});

const ENDINGS: Readonly<Record<string, (server: Server) => unknown>> = {
  'the end of stdin': (server) => server.end(),
  SIGTERM: ({ child }) => child.kill('SIGTERM'),
  SIGINT: ({ child }) => child.kill('SIGINT'),
  SIGKILL: ({ child }) => child.kill('SIGKILL'),
  'SIGTERM of the group and SIGKILL 5 ms later': async ({ pid, child }) => {
    process.kill(-pid, 'SIGTERM');
    await pause(5);
    child.kill('SIGKILL');
  },
  'the end of all pipes': ({ child }) => {
    for (const pipe of [child.stdout, child.stderr, child.stdin]) pipe?.destroy();
  },
};

describe.skipIf(process.platform !== 'linux')('no child is left after', () => {
  const STUBBORN = { a: {}, b: { stubborn: 'term', grandchild: sleepToken() } } as const;

  it.each(Object.keys(ENDINGS))('%s, with a call at work and a server that ignores everything', async (how) => {
    const { server, token } = await granted(STUBBORN, [call('hang')]);
    await prompt(server, await startSession(server, 'granted'));
    await until('both children', () => children(token).length === 2);
    await ENDINGS[how]?.(server);
    await within('the exit', server.exited, 16_000);
    await gone(token);
    await until('its grandchild to be gone', () => processesOf(STUBBORN.b.grandchild).length === 0, GONE_WITHIN_MS);
  });

  it.each(Object.keys(ENDINGS))('%s, in the middle of a start', async (how) => {
    const { server, token } = await granted({ a: {}, b: { startDelayMs: 60_000 } });
    server.write(toolCall('start', 'pi_session_start', { workspace: 'app', executionProfile: 'granted' }));
    await until('both children', () => children(token).length === 2);
    await ENDINGS[how]?.(server);
    await within('the exit', server.exited, 16_000);
    await gone(token);
  });
});

describe('a server inside a session of another one', () => {
  it('refuses to start', async () => {
    const stage = await useStage();
    const server = launch(stage, { env: { ...stage.env, PI_SESSION_MCP_SCOPE: 'any' } });
    expect(await within('the exit', server.closed)).toEqual({ code: 1, signal: null });
    expect(server.stdout).toBe('');
    expect(JSON.parse(server.stderr)).toEqual({
      level: 'error',
      event: 'startup_failed',
      stage: 'startup',
      code: 'nested_server_refused',
    });
  });

  it('cannot be granted to one', async () => {
    const tools = { start: { name: 'pi_session_start', readOnly: true } };
    const envFrom = { PI_SESSION_MCP_CONFIG: 'PI_SESSION_MCP_CONFIG' };
    const itself = { command: process.execPath, args: [BUILT_SERVER], envFrom, tools };
    const server = await connect(await useStage({ profiles: { granted: { mcpServers: { itself } } } }));
    expect(await failure(server)).toMatchObject({ code: 'external_mcp_unavailable' });
  });

  it('cannot be started by its shell', async () => {
    const stage = await useStage();
    const command = `PI_SESSION_MCP_CONFIG=${stage.configuration} ${process.execPath} ${BUILT_SERVER} < /dev/null 2>&1`;
    stage.model.push(bash(command), { text: 'over' });
    const server = await connect(stage);
    await run(server, await startSession(server, 'coder'));
    expect(stage.model.requests[1]?.messages.at(-1)?.content).toContain('nested_server_refused');
  });
});
