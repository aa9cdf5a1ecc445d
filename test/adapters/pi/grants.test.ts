/** Granted tools of real external servers in real Pi sessions, called by a scripted model. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ScriptedStep } from '../../../demo/scripted-model.ts';
import type { ExecutionProfile } from '../../../src/config/configuration.ts';
import { type FixtureOptions, fixture, tool, WORK } from '../../fixtures/mcp-servers/servers.ts';
import { marked } from '../grants/lab.ts';
import { eventually, type Lab, openLab, profile } from './lab.ts';

const SECRET = 'the password is hunter2';
const READ_ONLY = ['read', 'grep', 'find', 'ls'];

const granting = (alias: string, options: FixtureOptions = {}, more: Partial<ExecutionProfile> = {}) =>
  profile(alias, { mcpServers: [fixture('a', options)], ...more });
const PROFILES = [
  granting('granted'),
  granting('coding', {}, { permissionProfile: 'coding' }),
  granting('missing', { lists: [[tool('other')]] }),
  granting('slow', { startDelayMs: 60_000 }),
  // The scripted model knows no level but `off`, which only shows once the session is there.
  granting('clamped', {}, { thinkingLevel: 'high' }),
  granting('polite', { goodbye: 'goodbye' }),
  profile('two', { mcpServers: [fixture('a'), fixture('b')] }),
];
const calls = (...args: readonly Readonly<Record<string, unknown>>[]): ScriptedStep => ({
  tools: args.map((each) => ({ name: 'mcp_a_do', args: each })),
});

describe('granted tools', () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await openLab({ profiles: PROFILES });
  });
  afterEach(() => lab.close());

  const hanging = () => join(lab.root, 'hangs');
  const children = () => marked(lab.scope.serverId);
  /** What the model was told of its calls. */
  const told = (request = 1) =>
    lab.model.requests[request]?.messages
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => JSON.stringify(content)) ?? [];

  it.each([
    ['granted', READ_ONLY],
    ['coding', [...READ_ONLY, 'bash', 'edit', 'write']],
  ])('are there in addition to those of the profile (%s), and nothing else', async (alias, core) => {
    lab.model.push(calls({ how: 'echo', say: 'from outside' }), { text: 'over' });
    const { sessionId, ...outcome } = await lab.start(alias);
    expect(outcome).toEqual({ ok: true });
    expect(await lab.run(sessionId, 'go')).toMatchObject({ state: 'completed', assistantText: 'over' });
    const [request] = lab.model.requests;
    expect(request?.toolNames.toSorted()).toEqual([...core, 'mcp_a_do'].toSorted());
    const declared = ((request?.body['tools'] ?? []) as { function: { name: string } }[]).find(
      ({ function: { name } }) => name === 'mcp_a_do',
    );
    expect(declared).toMatchObject({ function: { description: WORK.description, parameters: WORK.inputSchema } });
    expect(told()).toEqual([expect.stringContaining('from outside')]);
  });

  it('work in the workspace', async () => {
    lab.model.push(calls({ how: 'cwd' }));
    const { sessionId } = await lab.start('granted');
    await lab.run(sessionId, 'go');
    expect(told()[0]).toContain(lab.workspace);
  });

  it('fail in our words alone', async () => {
    lab.model.push(
      calls(
        { how: 'error', say: SECRET },
        { how: 'protocol error', say: SECRET },
        { how: 'too large' },
        { how: 'huge', bytes: 300_000 },
        { how: 'die' },
        { how: 'echo' },
      ),
    );
    const { sessionId } = await lab.start('granted');
    expect(await lab.run(sessionId, 'go')).toMatchObject({ state: 'completed' });
    expect(told().map((text) => JSON.parse(text))).toEqual([
      'The external tool failed.',
      'The external tool failed.',
      expect.stringMatching(/^The tool cannot read a source that large\. Ask for less/),
      expect.stringMatching(/limit of 262144 bytes\. Ask for less/),
      'The external tool is no longer available in this session.',
      'The external tool is no longer available in this session.',
    ]);
    expect(lab.reports).toEqual([]);
  });

  it('run one after the other, also those of different servers', async () => {
    const late = (server: string) => ({ name: `mcp_${server}_do`, args: { how: 'late', ms: 60 } });
    lab.model.push({ tools: [late('a'), late('b'), late('a')] });
    const { sessionId } = await lab.start('two');
    const began = performance.now();
    await lab.run(sessionId, 'go');
    expect(performance.now() - began).toBeGreaterThan(170);
    expect(told()).toHaveLength(3);
  });

  it('get arguments that keep to the schema, or none', async () => {
    lab.model.push(calls({ what: 'echo' }));
    const { sessionId } = await lab.start('granted');
    await lab.run(sessionId, 'go');
    expect(told()[0]).toContain('Validation failed');
  });

  it('end with the turn that is aborted, and work in the next one', async () => {
    lab.model.push(calls({ how: 'hang', file: hanging() }), calls({ how: 'echo', say: 'again' }), { text: 'over' });
    const { sessionId } = await lab.start('granted');
    const turn = await lab.prompt(sessionId, 'go');
    expect(await eventually(() => existsSync(hanging()))).toBe(true);
    expect(await lab.agent.abortTurn(turn)).toEqual({ ok: true });
    expect(await lab.agent.runTurn(turn)).toEqual({ state: 'aborted' });
    expect(await lab.run(sessionId, 'go on')).toMatchObject({ state: 'completed', assistantText: 'over' });
    expect(told(2).at(-1)).toContain('again');
  });

  it('that the server does not have fail the start', async () => {
    expect(await lab.start('missing')).toMatchObject({
      ok: false,
      code: 'external_mcp_grant_tool_missing',
      stage: 'mcp_tools',
      subject: { server: 'a', tool: 'do' },
    });
    expect(await eventually(() => children().length === 0)).toBe(true);
  });

  it('that are not in use when the session is there fail the start', async () => {
    const created = await lab.agent.createSession(lab.request('granted'), new AbortController().signal);
    expect(created).toMatchObject({ ok: false, code: 'external_mcp_activation_mismatch', stage: 'postcheck' });
  });

  it.skipIf(process.platform !== 'linux')('end with a start that fails after they were connected', async () => {
    expect(await lab.start('clamped')).toMatchObject({ ok: false, code: 'thinking_level_unavailable' });
    expect(await eventually(() => children().length === 0)).toBe(true);
  });

  describe.skipIf(process.platform !== 'linux')('leave no process behind', () => {
    const abortable = () => {
      const controller = new AbortController();
      return { request: lab.request('granted'), controller, signal: controller.signal };
    };

    it('when the session is disposed, in the middle of a call too', async () => {
      lab.model.push(calls({ how: 'hang', file: hanging() }));
      const { sessionId } = await lab.start('granted');
      const turn = await lab.prompt(sessionId, 'go');
      expect(await eventually(() => existsSync(hanging()))).toBe(true);
      expect(children()).toHaveLength(1);
      await lab.agent.disposeSession(sessionId);
      expect(children()).toEqual([]);
      await lab.agent.settlePrompt(turn);
    });

    it('when the session is disposed: each server sees the end of its input first', async () => {
      const { sessionId } = await lab.start('polite');
      await lab.agent.disposeSession(sessionId);
      expect(existsSync(join(lab.workspace, 'goodbye'))).toBe(true);
    });

    it('when connecting is aborted', async () => {
      const { request: _, controller, signal } = abortable();
      const connecting = lab.agent.connectTools(lab.request('slow'), signal);
      expect(await eventually(() => children().length === 1)).toBe(true);
      controller.abort();
      expect(await connecting).toMatchObject({ ok: false, code: 'external_mcp_unavailable' });
      expect(await eventually(() => children().length === 0)).toBe(true);
    });

    it('when nobody wants the connection that has just been made', async () => {
      const { request, controller, signal } = abortable();
      expect(await lab.agent.connectTools(request, signal)).toEqual({ ok: true });
      controller.abort();
      expect(await eventually(() => children().length === 0)).toBe(true);
    });

    it('when the creation is aborted', async () => {
      const { request, controller, signal } = abortable();
      await lab.agent.connectTools(request, new AbortController().signal);
      expect(children()).toHaveLength(1);
      const created = lab.agent.createSession(request, signal);
      controller.abort();
      expect((await created).ok).toBe(false);
      expect(await eventually(() => children().length === 0)).toBe(true);
    });

    it('when the process lets go of everything', async () => {
      await lab.start('two');
      expect(children()).toHaveLength(2);
      lab.agent.disposeAll();
      expect(await eventually(() => children().length === 0)).toBe(true);
    });
  });
});
