import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentSession } from '@earendil-works/pi-coding-agent';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SCRIPTED_THINKER } from '../../../demo/scripted-model.ts';
import { type Lab, openLab, profile } from './lab.ts';

const live = (): AbortSignal => new AbortController().signal;
const skill = { alias: 'review', path: '/nowhere/SKILL.md' };
const server = { alias: 'files', command: '/bin/false', args: [], envFrom: {}, tools: {} };

const profiles = [
  profile('no-provider', { provider: 'nobody' }),
  profile('fuzzy-provider', { provider: 'Scripted' }),
  profile('no-model', { model: 'scripted' }),
  profile('thinker', { model: SCRIPTED_THINKER, thinkingLevel: 'high' }),
  profile('clamped', { thinkingLevel: 'high' }),
  profile('too-high', { model: SCRIPTED_THINKER, thinkingLevel: 'max' }),
  profile('keyless', { provider: 'anthropic', model: 'claude-opus-4-5' }),
  profile('skilled', { skills: [skill] }),
  profile('extended', { extensions: ['npm:@scope/extension@1.0.0'] }),
  profile('granted', { mcpServers: [server] }),
];

let lab: Lab;
beforeEach(async () => {
  delete process.env['ANTHROPIC_API_KEY'];
  lab = await openLab({ profiles });
});
afterEach(() => lab.close());

describe('start', () => {
  it('creates a session with exactly the selected provider, model and level', async () => {
    const request = lab.request('thinker');
    for (const step of [lab.agent.selectModel, lab.agent.checkAuthentication, lab.agent.readAuthentication]) {
      expect(await step(request, live())).toEqual({ ok: true });
    }
    expect(await lab.agent.checkAvailability(request, live())).toEqual({ ok: true });
    expect(await lab.agent.createSession(request, live())).toEqual({
      ok: true,
      selection: { provider: 'scripted', model: SCRIPTED_THINKER, thinkingLevel: 'high' },
    });
  });

  it.each([
    ['no-provider', 'unknown_provider', 'provider'],
    ['fuzzy-provider', 'unknown_provider', 'provider'],
    ['no-model', 'unknown_model', 'model'],
    ['keyless', 'local_authentication_missing', 'check_auth'],
    ['clamped', 'thinking_level_unavailable', 'postcheck'],
    ['too-high', 'thinking_level_unavailable', 'postcheck'],
    ['skilled', 'skill_load_failed', 'skill_load'],
    ['extended', 'extension_not_installed', 'extension_resolve'],
    ['granted', 'external_mcp_unavailable', 'mcp_tools'],
    ['unconfigured', 'pi_session_creation_failed', 'runtime'],
  ])('%s fails with %s', async (alias, code, stage) => {
    const dispose = vi.spyOn(AgentSession.prototype, 'dispose');
    const subscribe = vi.spyOn(AgentSession.prototype, 'subscribe');
    const outcome = await lab.start(alias);
    expect(outcome).toMatchObject({ ok: false, code, stage });
    expect(await lab.agent.admitPrompt({ ...outcome, turnId: 't', prompt: 'x' }, live())).toEqual({
      disposition: 'refused',
    });
    expect(dispose).toHaveBeenCalledTimes(stage === 'postcheck' ? 1 : 0);
    expect(subscribe).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  it('blames a workspace that is gone or is a file', async () => {
    const gone = { ...lab.request(), workspace: 'gone' };
    await lab.agent.selectModel(gone, live());
    const failure = { ok: false, code: 'pi_session_creation_failed', stage: 'resource_loader' };
    expect(await lab.agent.createSession(gone, live())).toEqual(failure);
    await writeFile(join(lab.root, 'gone'), '');
    expect(await lab.agent.createSession(gone, live())).toEqual(failure);
  });

  it('finds a provider whose models file was repaired after a failed start', async () => {
    const file = join(lab.agentDir, 'models.json');
    const { readFile } = await import('node:fs/promises');
    const good = await readFile(file);
    await writeFile(file, '{ broken');
    expect(await lab.start()).toMatchObject({ ok: false, code: 'unknown_provider' });
    await writeFile(file, good);
    expect(await lab.start()).toMatchObject({ ok: true });
  });
});

describe('credentials', () => {
  const key = JSON.stringify({ anthropic: { type: 'api_key', key: 'not-a-secret' } });

  it('are waited for while another process holds the lock, never called missing', async () => {
    await writeFile(join(lab.agentDir, 'auth.json'), key);
    const lock = join(lab.agentDir, 'auth.json.lock');
    await mkdir(lock);
    const requests = Array.from({ length: 4 }, () => lab.request('keyless'));
    const checks = requests.map(async (request) => {
      expect(await lab.agent.selectModel(request, live())).toEqual({ ok: true });
      return lab.agent.checkAuthentication(request, live());
    });
    setTimeout(() => void rm(lock, { recursive: true }), 400);
    expect(await Promise.all(checks)).toEqual(requests.map(() => ({ ok: true })));
  });

  it('are unavailable when the deadline ends the wait for the lock', async () => {
    await writeFile(join(lab.agentDir, 'auth.json'), key);
    await mkdir(join(lab.agentDir, 'auth.json.lock'));
    const request = lab.request('keyless');
    await lab.agent.selectModel(request, live());
    const controller = new AbortController();
    const check = lab.agent.checkAuthentication(request, controller.signal);
    controller.abort();
    expect(await check).toMatchObject({ code: 'local_authentication_unavailable', stage: 'check_auth' });
  });

  it('are unavailable when the file cannot be parsed', async () => {
    await writeFile(join(lab.agentDir, 'auth.json'), '{"anthropic": {"ty');
    expect(await lab.start('keyless')).toMatchObject({ code: 'local_authentication_unavailable', stage: 'check_auth' });
  });

  it('stay out of the diagnostics', async () => {
    await writeFile(join(lab.agentDir, 'auth.json'), '{"anthropic": {"ty');
    await lab.start('keyless');
    expect(lab.reports).toEqual([]);
    expect(await readdir(lab.agentDir)).not.toContain('settings.json');
  });
});
