/** The official MCP client lives through everything that the server offers. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { connectOfficial } from './kit/client.ts';
import { bash } from './kit/sessions.ts';
import { profile, useStage } from './kit/stage.ts';

it('leads a session from its start to its end', async () => {
  const stage = await useStage({ workspaces: { app: { 'note.txt': 'the word is marmalade' } } });
  const { mcp, call, turnEnd, stderr } = await connectOfficial(stage);
  expect(mcp.getServerVersion()).toMatchObject({ name: 'pi-session-mcp', version: manifest.version });
  const { tools } = await mcp.listTools();
  expect(tools.map((tool) => tool.name)).toEqual([
    'pi_capabilities_get',
    'pi_session_start',
    'pi_session_list',
    'pi_session_get',
    'pi_session_prompt',
    'pi_turn_get',
    'pi_session_abort',
    'pi_session_close',
  ]);

  const started = await call('pi_session_start', { workspace: 'app' });
  const { id: sessionId } = started['session'];
  const selection = { workspace: 'app', executionProfile: 'reader', profile: 'read-only', thinkingLevel: 'off' };
  expect(started['session']).toMatchObject({ ...selection, provider: 'scripted', model: 'scripted-1', state: 'idle' });
  const send = async (prompt: string) => {
    const body = await call('pi_session_prompt', { sessionId, prompt });
    expect(body).toMatchObject({ ok: true, session: { id: sessionId, state: 'running' }, turn: { state: 'running' } });
    return body['turn'].turnId as string;
  };

  stage.model.push({ tools: [{ name: 'read', args: { path: 'note.txt' } }] }, { text: ' It is marmalade. ' });
  const first = await turnEnd(sessionId, await send('What is the word?'));
  expect(first).toMatchObject({ state: 'completed', assistantText: 'It is marmalade.', truncated: false });
  expect(first['completedAt']).toBe(first['updatedAt']);
  expect(JSON.stringify(stage.model.requests[1]?.messages)).toContain('the word is marmalade');

  stage.model.push({ text: 'As I said.' });
  const second = await turnEnd(sessionId, await send('Are you sure?'));
  expect(second).toMatchObject({ state: 'completed', assistantText: 'As I said.' });
  const followUp = JSON.stringify(stage.model.requests[2]?.messages);
  expect(followUp).toContain('What is the word?');
  expect(followUp).toContain('Are you sure?');

  stage.model.push({ hang: 'after-headers' });
  const third = await send('Think for ever.');
  const hanging = await stage.model.arrived(3);
  expect(await call('pi_session_abort', { sessionId })).toMatchObject({ ok: true, session: { state: 'idle' } });
  expect(await turnEnd(sessionId, third)).toMatchObject({ turnId: third, state: 'aborted' });
  await hanging.closed;

  expect((await call('pi_session_list'))['sessions']).toMatchObject([{ id: sessionId, state: 'idle' }]);
  expect(await call('pi_session_close', { sessionId })).toMatchObject({ ok: true, session: { state: 'closed' } });
  expect(await call('pi_session_close', { sessionId })).toMatchObject({ ok: true, session: { state: 'closed' } });
  expect(await call('pi_session_get', { sessionId })).toMatchObject({ ok: true, session: { state: 'closed' } });
  expect(await call('pi_session_list')).toEqual({ ok: true, sessions: [] });
  expect(await call('pi_turn_get', { sessionId, turnId: third })).toMatchObject({ error: { code: 'unknown_turn' } });
  expect(stderr()).toBe('');
});

it('tells its aliases, sorted, and nothing behind them', async () => {
  const stage = await useStage({ workspaces: { zeta: {}, app: {}, lib: {} }, modes: modesOf('lib') });
  const { call } = await connectOfficial(stage);
  const capabilities = await call('pi_capabilities_get');
  const empty = { extensions: [], grantedExtensionTools: [], skills: [] };
  expect(capabilities).toEqual({
    ok: true,
    server: { name: 'pi-session-mcp', version: manifest.version },
    configuration: { fingerprint: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), reloadPolicy: 'restart-required' },
    workspaces: [
      { alias: 'app', mode: 'unset' },
      { alias: 'lib', mode: 'read-only' },
      { alias: 'zeta', mode: 'unset' },
    ],
    executionProfiles: [
      { alias: 'coder', ...profile({ permissionProfile: 'coding' }), ...empty },
      { alias: 'reader', ...profile({ default: true }), ...empty },
    ],
  });
});

it('edits files and runs commands in a coding session', async () => {
  const stage = await useStage();
  const { call, turnEnd } = await connectOfficial(stage);
  const { session } = await call('pi_session_start', { workspace: 'app', executionProfile: 'coder' });
  stage.model.push(
    { tools: [{ name: 'write', args: { path: 'greeting.txt', content: 'hello' } }] },
    bash('tr a-z A-Z < greeting.txt > LOUD.txt && cat LOUD.txt'),
    { text: 'written' },
  );
  const { turn } = await call('pi_session_prompt', { sessionId: session.id, prompt: 'Greet.' });
  expect(await turnEnd(session.id, turn.turnId)).toMatchObject({ state: 'completed', assistantText: 'written' });
  expect(readFileSync(stage.path('app', 'LOUD.txt'), 'utf8')).toBe('HELLO');
  expect(JSON.stringify(stage.model.requests[2]?.messages)).toContain('HELLO');
});

it('gives a read-only session no tool that writes', async () => {
  const stage = await useStage();
  const { call, turnEnd } = await connectOfficial(stage);
  const { session } = await call('pi_session_start', { workspace: 'app' });
  stage.model.push(
    { tools: [{ name: 'write', args: { path: 'planted.txt', content: 'x' } }] },
    bash('touch planted.txt'),
    { text: 'tried' },
  );
  const { turn } = await call('pi_session_prompt', { sessionId: session.id, prompt: 'Write.' });
  expect(await turnEnd(session.id, turn.turnId)).toMatchObject({ state: 'completed', assistantText: 'tried' });
  expect(existsSync(stage.path('app', 'planted.txt'))).toBe(false);
  expect(stage.model.requests[0]?.toolNames.toSorted()).toEqual(['find', 'grep', 'ls', 'read']);
});

it('reports a turn that the provider fails, and goes on', async () => {
  const stage = await useStage();
  const { call, turnEnd, stderr } = await connectOfficial(stage);
  const { session } = await call('pi_session_start', { workspace: 'app' });
  stage.model.push({ status: 400 }, { text: 'better' });
  const ask = async () => {
    const { turn } = await call('pi_session_prompt', { sessionId: session.id, prompt: 'Go.' });
    return turnEnd(session.id, turn.turnId);
  };
  expect(await ask()).toMatchObject({ state: 'failed', error: { code: 'turn_failed', message: 'Pi turn failed' } });
  expect(await call('pi_session_get', { sessionId: session.id })).toMatchObject({
    session: { state: 'failed', lastError: 'Pi turn failed' },
  });
  expect(await ask()).toMatchObject({ state: 'completed', assistantText: 'better' });
  expect(stderr()).toBe('');
});

function modesOf(readOnly: string): object {
  return { schemaVersion: 1, workspaces: { [readOnly]: { mode: 'read-only' } } };
}
