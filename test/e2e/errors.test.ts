/**
 * Every error that a caller can provoke arrives at the official client as a
 * result with our code: a client that has listed the tools throws on anything
 * that does not fit the published schema.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MESSAGES } from '../../src/adapters/mcp/messages.ts';
import { connectOfficial, type OfficialClient } from './kit/client.ts';
import type { Body } from './kit/server.ts';
import { CANARY, profile, REPOSITORY, type Stage, useStage } from './kit/stage.ts';

const UNKNOWN = '6f1c3f0e-8a52-4b7e-9d0a-2f6a35b0f001';

function refusal(code: keyof typeof MESSAGES): object {
  return { ok: false, error: { code, message: MESSAGES[code] } };
}

async function start(client: OfficialClient, executionProfile = 'reader', workspace = 'app'): Promise<Body> {
  return client.call('pi_session_start', { workspace, executionProfile });
}

function expectNoCanary(text: string): void {
  for (const secret of [...Object.values(CANARY), REPOSITORY]) expect(text).not.toContain(secret);
}

it('unknown aliases and ids', async () => {
  const client = await connectOfficial(await useStage());
  const ids = { sessionId: UNKNOWN };
  expect(await start(client, 'reader', 'nowhere')).toEqual(refusal('unknown_workspace'));
  expect(await start(client, 'nobody')).toEqual(refusal('unknown_execution_profile'));
  for (const alias of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    expect(await start(client, 'reader', alias)).toEqual(refusal('unknown_workspace'));
    expect(await start(client, alias)).toEqual(refusal('unknown_execution_profile'));
  }
  for (const tool of ['pi_session_get', 'pi_session_abort', 'pi_session_close']) {
    expect(await client.call(tool, ids)).toEqual(refusal('unknown_session'));
  }
  expect(await client.call('pi_session_prompt', { ...ids, prompt: 'x' })).toEqual(refusal('unknown_session'));
  expect(await client.call('pi_turn_get', { ...ids, turnId: UNKNOWN })).toEqual(refusal('unknown_session'));
  expect(client.stderr()).toBe('');
});

it('what a session refuses: a second prompt while it runs, an unknown turn, a prompt after the end', async () => {
  const stage = await useStage();
  const client = await connectOfficial(stage);
  const { session } = await start(client);
  const ids = { sessionId: session.id };
  expect(await client.call('pi_turn_get', { ...ids, turnId: UNKNOWN })).toEqual(refusal('unknown_turn'));
  stage.model.push({ hang: 'before-headers' });
  expect(await client.call('pi_session_prompt', { ...ids, prompt: 'one' })).toMatchObject({ ok: true });
  expect(await client.call('pi_session_prompt', { ...ids, prompt: 'two' })).toEqual(refusal('session_running'));
  expect(await client.call('pi_session_close', ids)).toMatchObject({ ok: true, session: { state: 'closed' } });
  expect(await client.call('pi_session_prompt', { ...ids, prompt: 'three' })).toEqual(refusal('prompt_rejected'));
  expect(client.stderr()).toBe('');
});

/** Tool, arguments, and the field that the message has to name. */
const BAD_ARGUMENTS: readonly [string, Readonly<Record<string, unknown>>, string][] = [
  ['pi_capabilities_get', { verbose: true }, 'takes no fields'],
  ['pi_session_list', { all: 1 }, 'takes no fields'],
  ['pi_session_start', {}, '"workspace" is missing'],
  ['pi_session_start', { workspace: 7 }, '"workspace" must be a string'],
  ['pi_session_start', { workspace: '' }, '"workspace" must not be empty'],
  ['pi_session_start', { workspace: 'x'.repeat(65) }, '"workspace" is longer'],
  ['pi_session_start', { workspace: 'app', executionProfile: null }, '"executionProfile" must be a string'],
  ['pi_session_start', { workspace: 'app', directory: CANARY.path }, 'no fields but'],
  ['pi_session_get', { sessionId: 1 }, '"sessionId" must be a string'],
  ['pi_session_abort', {}, '"sessionId" is missing'],
  ['pi_session_close', { sessionId: ['a'] }, '"sessionId" must be a string'],
  ['pi_session_prompt', { sessionId: UNKNOWN }, '"prompt" is missing'],
  ['pi_session_prompt', { sessionId: UNKNOWN, prompt: '' }, '"prompt" must not be empty'],
  ['pi_session_prompt', { sessionId: UNKNOWN, prompt: 5 }, '"prompt" must be a string'],
  ['pi_session_prompt', { sessionId: UNKNOWN, prompt: CANARY.prompt.repeat(10_000) }, '"prompt" is longer'],
  ['pi_turn_get', { sessionId: UNKNOWN }, '"turnId" is missing'],
  ['pi_turn_get', { sessionId: UNKNOWN, turnId: {} }, '"turnId" must be a string'],
];

it('invalid_arguments, with the field and never the value', async () => {
  const client = await connectOfficial(await useStage());
  for (const [tool, args, fault] of BAD_ARGUMENTS) {
    const body = await client.call(tool, args);
    expect(body).toMatchObject({ ok: false, error: { code: 'invalid_arguments' } });
    expect(body['error'].message).toContain(fault);
    expectNoCanary(JSON.stringify(body));
  }
  expect(client.stderr()).toBe('');
});

/** Profile → the code of its start, and the stage that stderr names. */
const BROKEN_PROFILES = {
  ghost_provider: [profile({ provider: 'ghost' }), 'unknown_provider', 'provider'],
  ghost_model: [profile({ model: 'ghost' }), 'unknown_model', 'model'],
  no_key: [profile({ provider: 'openai', model: 'gpt-4.1' }), 'local_authentication_missing', 'check_auth'],
  too_deep: [profile({ thinkingLevel: 'high' }), 'thinking_level_unavailable', 'postcheck'],
  skilled: [profile({ skills: ['lost'] }), 'skill_load_failed', 'skill_load'],
  // Once extensions are built, one that is not there is not installed rather than not loaded.
  extended: [
    profile({ extensions: ['npm:pi-nowhere@1.0.0'] }),
    /^extension_(load_failed|not_installed)$/,
    /^extension_/,
  ],
  granted: [
    profile({
      mcpServers: { tracker: { command: '/nonexistent/server', tools: { look: { name: 'look', readOnly: true } } } },
    }),
    'external_mcp_unavailable',
    'mcp_tools',
  ],
} as const;

it('profiles that cannot be had', async () => {
  const profiles = Object.fromEntries(Object.entries(BROKEN_PROFILES).map(([alias, [entry]]) => [alias, entry]));
  const stage = await useStage({ profiles, configuration: { skillCatalog: { lost: 'skills/lost/SKILL.md' } } });
  const client = await connectOfficial(stage);
  for (const [alias, [, code]] of Object.entries(BROKEN_PROFILES)) {
    const body = await start(client, alias);
    expect(body).toMatchObject({ ok: false, error: { code: expect.stringMatching(code) } });
    expect(body['error'].message).toBe(MESSAGES[body['error'].code as keyof typeof MESSAGES]);
  }
  const reports = client
    .stderr()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Body);
  const expected = Object.entries(BROKEN_PROFILES).map(([executionProfile, [, code, reported]]) => ({
    level: 'error',
    event: 'pi_session_creation_failed',
    executionProfile,
    code: expect.stringMatching(code),
    stage: expect.stringMatching(reported),
  }));
  expect(reports).toMatchObject(expected);
  expectNoCanary(client.stderr());
  expect(await client.call('pi_session_list')).toEqual({ ok: true, sessions: [] });
  expect(await start(client)).toMatchObject({ ok: true });
});

it('a workspace whose mode forbids coding', async () => {
  const modes = { schemaVersion: 1, workspaces: { app: { mode: 'read-only' } } };
  const client = await connectOfficial(await useStage({ modes }));
  expect(await start(client, 'coder')).toEqual(refusal('workspace_mode_forbids_coding'));
  expect(await start(client)).toMatchObject({ ok: true });
});

/** What may have become of a workspace; root reads everything, so that permissions cannot be among it. */
const LOST_WORKSPACES: Readonly<Record<string, (stage: Stage) => void>> = {
  vanished: (stage) => rmSync(stage.path('app'), { recursive: true }),
  'a file': (stage) => {
    rmSync(stage.path('app'), { recursive: true });
    writeFileSync(stage.path('app'), '');
  },
};

it.each(Object.keys(LOST_WORKSPACES))('a workspace that has become %s', async (fate) => {
  const stage = await useStage();
  const client = await connectOfficial(stage);
  LOST_WORKSPACES[fate]?.(stage);
  expect(await start(client)).toEqual(refusal('pi_session_creation_failed'));
  expectNoCanary(client.stderr());
  rmSync(stage.path('app'), { recursive: true, force: true });
  mkdirSync(stage.path('app'));
  expect(await start(client)).toMatchObject({ ok: true });
});

it('a credential store that is there but cannot be read is unavailable, not missing', async () => {
  const stage = await useStage({ profiles: { no_key: profile({ provider: 'openai', model: 'gpt-4.1' }) } });
  mkdirSync(join(stage.agentDirectory, 'auth.json'));
  const client = await connectOfficial(stage);
  expect(await start(client, 'no_key')).toEqual(refusal('local_authentication_unavailable'));
  expectNoCanary(client.stderr());
});
