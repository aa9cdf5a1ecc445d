import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentSession, ModelRuntime } from '@earendil-works/pi-coding-agent';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SCRIPTED_THINKER } from '../../../demo/scripted-model.ts';
import type { ExecutionProfile } from '../../../src/config/configuration.ts';
import { type ExtensionLab, extended, HOOKS, LOADING, openExtensionLab, PROVIDER, TOOLS } from './extension-lab.ts';
import { eventually } from './lab.ts';

const live = (): AbortSignal => new AbortController().signal;
const looped = { provider: 'looped', model: 'looped-1' };
const skill = { alias: 'review', path: '/nowhere/SKILL.md' };
const profiles = [
  extended('provider', [PROVIDER], looped),
  extended('other-model', [PROVIDER], { ...looped, model: 'looped-2' }),
  extended('without', [HOOKS], looped),
  extended('tools', [TOOLS]),
  extended('loading', [LOADING]),
  extended('thinking', [LOADING], { model: SCRIPTED_THINKER, thinkingLevel: 'low' }),
  extended('hooks', [HOOKS]),
  extended('wrong', [LOADING, 'npm:fixture-hooks@1.2.4'], { provider: 'nobody', skills: [skill] }),
  extended('missing', [LOADING, 'npm:fixture-nowhere@1.2.3'], { provider: 'nobody', skills: [skill] }),
  extended('unskilled', [HOOKS], { skills: [skill] }),
  extended('ungranted', [HOOKS, TOOLS], { grantedExtensionTools: ['nothing'], provider: 'nobody' }),
  extended('served', [HOOKS], {
    mcpServers: [{ alias: 'a', command: '/bin/false', args: [], envFrom: {}, tools: {} }],
  }),
];

let lab: ExtensionLab;
async function open(environment: Readonly<Record<string, string>> = {}, more: readonly ExecutionProfile[] = []) {
  lab = await openExtensionLab({ profiles: [...profiles, ...more] }, environment);
}
afterEach(async () => {
  vi.restoreAllMocks();
  await lab.close();
});

describe('a provider that an extension brings', () => {
  it('answers the prompts of the session, and of no other', async () => {
    await open();
    lab.model.push({ text: 'from the loop' });
    const { sessionId, ...started } = await lab.start('provider');
    expect(started).toEqual({ ok: true });
    expect(await lab.run(sessionId, 'hello')).toMatchObject({ assistantText: 'from the loop' });
    expect(lab.model.requests[0]?.model).toBe('looped-1');
    expect(await lab.start('without')).toMatchObject({ code: 'unknown_provider', stage: 'provider' });
    expect(await lab.start('other-model')).toMatchObject({ code: 'unknown_model', stage: 'model' });
  });

  it('is on a runtime that belongs to the session alone', async () => {
    await open();
    const create = vi.spyOn(ModelRuntime, 'create');
    await lab.start();
    await lab.start();
    expect(create).toHaveBeenCalledTimes(1);
    await lab.start('provider');
    await lab.start('provider');
    expect(create).toHaveBeenCalledTimes(3);
  });
});

describe('what fails a start', () => {
  it.each([
    ['wrong', 'extension_version_mismatch', 'extension_resolve', 'fixture-hooks'],
    ['missing', 'extension_not_installed', 'extension_resolve', 'fixture-nowhere'],
  ])('%s: resolution comes before all else, and no code has run', async (alias, code, stage, extension) => {
    await open({ FIXTURE_LOAD: 'throw' });
    expect(await lab.start(alias)).toMatchObject({ ok: false, code, stage, subject: { extension } });
    const gone = { ...lab.request(alias), workspace: 'gone' };
    expect(await lab.agent.selectModel(gone, live())).toMatchObject({ code });
    expect(lab.log()).toEqual([]);
  });

  it.each([
    ['throw', 'extension_load'],
    ['provider', 'extension_load'],
    ['mcp', 'extension_load'],
    ['mcp-handled', 'extension_load'],
    ['mcp-at-bind', 'extension_bind'],
    ['mcp-handled-at-bind', 'extension_bind'],
  ])('an extension that does %s', async (load, stage) => {
    await open({ FIXTURE_LOAD: load });
    const outcome = await lab.start('loading');
    expect(outcome).toMatchObject({ ok: false, code: 'extension_load_failed', stage });
    if (load !== 'provider') expect(outcome).toMatchObject({ subject: { extension: 'fixture-loading' } });
    expect(lab.log()).toEqual(['loading']);
    expect(JSON.stringify(outcome)).not.toMatch(/secret|inner|node_modules/);
  });

  it('an extension that changes what was selected', async () => {
    await open({ FIXTURE_LOAD: 'model-at-bind' });
    expect(await lab.start('thinking')).toMatchObject({ code: 'thinking_level_unavailable', stage: 'postcheck' });
  });

  it.each(['throw', 'run'])('a session_start hook that does %s', async (hook) => {
    await open({ FIXTURE_HOOKS: hook });
    lab.model.push({ hang: 'before-headers' });
    const dispose = vi.spyOn(AgentSession.prototype, 'dispose');
    const outcome = await lab.start('hooks');
    expect(outcome).toMatchObject({ ok: false, code: 'extension_load_failed', stage: 'extension_bind' });
    if (hook === 'throw') expect(outcome).toMatchObject({ subject: { extension: 'fixture-hooks' } });
    expect(JSON.stringify(outcome)).not.toMatch(/secret|node_modules/);
    expect(dispose).toHaveBeenCalledTimes(1);
    expect(lab.log().filter((line) => line === 'shutdown')).toHaveLength(1);
  });

  it('a workspace that is gone, before any code has run', async () => {
    await open();
    const gone = { ...lab.request('loading'), workspace: 'gone' };
    const failure = { code: 'pi_session_creation_failed', stage: 'resource_loader' };
    expect(await lab.agent.selectModel(gone, live())).toMatchObject(failure);
    expect(lab.log()).toEqual([]);
  });

  it('a grant that nobody registers, before the selection', async () => {
    await open();
    const expected = { code: 'extension_tool_missing', stage: 'extension_load', subject: { tool: 'nothing' } };
    expect(await lab.start('ungranted')).toMatchObject(expected);
  });
});

describe('what a start has loaded', () => {
  it('is gone when a later step fails, and its API with it', async () => {
    await open();
    for (const alias of ['unskilled', 'served']) {
      const outcome = await lab.start(alias);
      expect(outcome).toMatchObject({ ok: false });
      const again = { ...lab.request(alias), sessionId: outcome.sessionId };
      expect(await lab.agent.checkAuthentication(again, live())).toMatchObject({ code: 'pi_session_creation_failed' });
    }
    // No session saw them, so none of their hooks ran.
    expect(lab.log()).toEqual([]);
  });

  it.each(['checkAuthentication', 'readAuthentication', 'checkAvailability', 'connectTools'] as const)(
    'is gone when %s is aborted, also after it has passed',
    async (name) => {
      await open();
      const request = lab.request('hooks');
      expect(await lab.agent.selectModel(request, live())).toEqual({ ok: true });
      const controller = new AbortController();
      expect(await lab.agent[name](request, controller.signal)).toEqual({ ok: true });
      controller.abort();
      const created = await lab.agent.createSession(request, live());
      expect(created).toMatchObject({ ok: false, code: 'pi_session_creation_failed', stage: 'runtime' });
    },
  );

  it('is gone when the start is aborted between two steps, or the session is disposed before it is one', async () => {
    await open();
    const request = lab.request('hooks');
    const controller = new AbortController();
    await lab.agent.selectModel(request, controller.signal);
    controller.abort();
    expect(await lab.agent.checkAvailability(request, live())).toMatchObject({ ok: false });
    await lab.agent.selectModel(request, live());
    await lab.agent.disposeSession(request.sessionId);
    expect(await lab.agent.checkAvailability(request, live())).toMatchObject({ ok: false });
    await lab.agent.selectModel(request, live());
    expect(await lab.agent.createSession(request, AbortSignal.abort())).toMatchObject({ ok: false });
    expect(await lab.agent.checkAvailability(request, live())).toMatchObject({ ok: false });
    expect(lab.log()).toEqual([]);
  });

  it('never comes into being when the load hangs until the deadline, and others start meanwhile', async () => {
    await open({ FIXTURE_LOAD: 'hang' });
    const request = lab.request('loading');
    const controller = new AbortController();
    const selected = lab.agent.selectModel(request, controller.signal);
    expect(await eventually(() => lab.log().includes('loading'), 20_000)).toBe(true);
    expect(await lab.start('tools')).toMatchObject({ ok: true });
    controller.abort();
    expect(await selected).toMatchObject({ ok: false });
    // The code cannot be stopped. When it comes back, nobody takes what it brings.
    (globalThis as { fixtureGoesOn?: () => void }).fixtureGoesOn?.();
    expect(await eventually(() => lab.log().includes('went on'))).toBe(true);
    expect(await lab.agent.createSession(request, live())).toMatchObject({ ok: false, stage: 'runtime' });
    expect(lab.log()).toEqual(['loading', 'went on']);
  });
});

describe('hooks', () => {
  it('hear of the start and, once, of the end of a session', async () => {
    await open();
    const { sessionId } = await lab.start('hooks');
    expect(lab.log()).toEqual(['start hasUI=false trusted=false']);
    await Promise.all([lab.agent.disposeSession(sessionId), lab.agent.disposeSession(sessionId)]);
    lab.agent.disposeAll();
    expect(lab.log().slice(1)).toEqual(['shutdown', `shut down in ${lab.workspace}`]);
  });

  it('hear of the end once when a start is aborted while session_start hangs', async () => {
    await open({ FIXTURE_HOOKS: 'hang' });
    const dispose = vi.spyOn(AgentSession.prototype, 'dispose');
    const request = lab.request('hooks');
    await lab.agent.selectModel(request, live());
    const controller = new AbortController();
    const created = lab.agent.createSession(request, controller.signal);
    expect(await eventually(() => lab.log().length === 1, 20_000)).toBe(true);
    controller.abort();
    expect(await created).toMatchObject({ ok: false, code: 'extension_load_failed', stage: 'extension_bind' });
    expect(lab.log().filter((line) => line === 'shutdown')).toHaveLength(1);
    expect(dispose).toHaveBeenCalledTimes(1);
    expect(await lab.start('tools')).toMatchObject({ ok: true });
  });

  it('cannot hold up the end of a session for ever', async () => {
    await open({ FIXTURE_HOOKS: 'hang-at-end' });
    const dispose = vi.spyOn(AgentSession.prototype, 'dispose');
    const { sessionId } = await lab.start('hooks');
    await lab.agent.disposeSession(sessionId);
    expect(dispose).toHaveBeenCalledTimes(1);
  });

  it('are merely told when the process ends', async () => {
    await open({ FIXTURE_HOOKS: 'hang-at-end' });
    const dispose = vi.spyOn(AgentSession.prototype, 'dispose');
    await lab.start('hooks');
    lab.agent.disposeAll();
    expect(dispose).toHaveBeenCalledTimes(1);
    expect(lab.log().at(-1)).toBe('shutdown');
  });

  it('that fail in a turn are counted, and the turn goes on', async () => {
    await open({ FIXTURE_HOOKS: 'throw-later' });
    const { sessionId } = await lab.start('hooks');
    for (let turn = 0; turn < 11; turn += 1) {
      expect((await lab.run(sessionId, 'go')).state).toBe('completed');
    }
    const event = 'extension_hook_failed';
    expect(lab.reports).toEqual([
      { event, fields: { extension: 'fixture-hooks', count: 1 } },
      { event, fields: { extension: 'fixture-hooks', count: 10 } },
    ]);
  });

  it('see prompts as input of a program, and commands are text', async () => {
    await open({ FIXTURE_HOOKS: 'rewrite' });
    const { sessionId } = await lab.start('hooks');
    await lab.run(sessionId, '/canary now');
    expect(lab.log()).toContain('input rpc /canary now');
    expect(lab.log()).not.toContain('command');
    expect(JSON.stringify(lab.model.requests[0]?.messages)).toContain('rewritten: /canary now');
  });
});

describe('nothing else', () => {
  it('loads: neither the workspace nor the user nor a built-in', async () => {
    const canary = (name: string) =>
      `import { appendFileSync } from 'node:fs'; export default () => appendFileSync(process.env.FIXTURE_LOG, '${name}\\n');`;
    await open();
    for (const directory of [join(lab.workspace, '.pi'), lab.agentDir]) {
      mkdirSync(join(directory, 'extensions'), { recursive: true });
      writeFileSync(join(directory, 'extensions/canary.js'), canary(directory));
      writeFileSync(
        join(directory, 'settings.json'),
        JSON.stringify({ packages: ['npm:fixture-loading'], extensions: ['./extensions/canary.js', 'builtin:mcp'] }),
      );
    }
    const subscribe = vi.spyOn(AgentSession.prototype, 'subscribe');
    expect(await lab.start('hooks')).toMatchObject({ ok: true });
    expect(lab.log()).toEqual(['start hasUI=false trusted=false']);
    const session = subscribe.mock.contexts[0] as AgentSession;
    const paths = session.resourceLoader.getExtensions().extensions.map(({ path }) => path);
    expect(paths).toEqual([join(lab.modules, 'fixture-hooks/index.js'), '<inline:tool-gate>']);
  });

  it('gets in of the skills, prompts and themes of a package', async () => {
    await open();
    const subscribe = vi.spyOn(AgentSession.prototype, 'subscribe');
    const { sessionId } = await lab.start('hooks');
    await lab.run(sessionId, 'go');
    const { resourceLoader } = subscribe.mock.contexts[0] as AgentSession;
    expect(resourceLoader.getSkills().skills).toEqual([]);
    expect(resourceLoader.getPrompts().prompts).toEqual([]);
    expect(resourceLoader.getThemes().themes).toEqual([]);
    expect(JSON.stringify(lab.model.requests[0]?.body)).not.toContain('shipped');
  });
});
