import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mentioning, sleepToken } from '../process/processes.ts';
import { eventually, type Lab, openLab, REAPER } from './lab.ts';

const HOST = join(import.meta.dirname, 'fixtures/host.ts');

describe.skipIf(process.platform !== 'linux')('processes of tools', () => {
  let lab: Lab;
  let token: string;
  beforeEach(async () => {
    lab = await openLab();
    token = sleepToken();
  });
  afterEach(() => lab.close());

  /** In the foreground, the background, a session of their own, without environment, and combinations. */
  const busy = () =>
    [
      `(nohup sleep ${token} &)`,
      `setsid sleep ${token} &`,
      `env -i sleep ${token} &`,
      `(env -i sleep ${token} &)`,
      `setsid env -i sleep ${token} &`,
      `sleep ${token}`,
    ].join('\n');
  const sleeping = () => mentioning(token).filter((command) => command.startsWith('sleep')).length;
  const bash = (command: string, timeout?: number) => ({
    tools: [{ name: 'bash', args: { command, ...(timeout && { timeout }) } }],
  });

  describe('of a server that is killed outright', () => {
    let host: ChildProcess;
    function startHost(path = process.env['PATH']): void {
      const env = { ...process.env, PATH: path };
      host = spawn(process.execPath, [HOST, lab.agentDir, lab.workspace, REAPER], { env, stdio: 'ignore' });
    }
    afterEach(() => void host.kill('SIGKILL'));

    async function killAndWatch(): Promise<void> {
      host.kill('SIGKILL');
      expect(await eventually(() => mentioning(token).length === 0, 2_000)).toBe(true);
      expect(await eventually(() => mentioning(REAPER).length === 0, 2_000)).toBe(true);
    }

    it('end in the middle of a bash call', async () => {
      lab.model.push(bash(busy()));
      startHost();
      expect(await eventually(() => sleeping() === 6, 10_000)).toBe(true);
      await killAndWatch();
    });

    it('end when a finished call has left them in the background', async () => {
      lab.model.push(bash(`(nohup sleep ${token} >/dev/null 2>&1 &) ; (setsid sleep ${token} &) ; true`));
      startHost();
      await lab.model.arrived(1);
      expect(sleeping()).toBe(2);
      await killAndWatch();
    });

    it('end when they are searches that Pi started itself', async () => {
      const bin = join(lab.root, 'bin');
      mkdirSync(bin);
      writeFileSync(join(bin, 'rg'), `#!/bin/sh\n[ "$1" = --version ] || exec sleep ${token}\n`);
      chmodSync(join(bin, 'rg'), 0o755);
      lab.model.push({ tools: [{ name: 'grep', args: { pattern: 'x' } }] });
      startHost(`${bin}:${process.env['PATH']}`);
      expect(await eventually(() => sleeping() === 1, 10_000)).toBe(true);
      await killAndWatch();
    });
  });

  it('end with an abort, detached ones too, before the abort resolves', async () => {
    lab.model.push(bash(busy()));
    const { sessionId } = await lab.start('coder');
    const turn = await lab.prompt(sessionId, 'go');
    expect(await eventually(() => sleeping() === 6)).toBe(true);
    expect(await lab.agent.abortTurn(turn)).toEqual({ ok: true });
    expect(mentioning(token)).toEqual([]);
    expect(await lab.agent.runTurn(turn)).toEqual({ state: 'aborted' });
  });

  it('end with an abort although a detached child keeps writing', async () => {
    lab.model.push(bash(`setsid sh -c 'while :; do echo ${token}; done' & wait`));
    const { sessionId } = await lab.start('coder');
    const turn = await lab.prompt(sessionId, 'go');
    expect(await eventually(() => mentioning(token).length >= 2)).toBe(true);
    expect(await lab.agent.abortTurn(turn)).toEqual({ ok: true });
    expect(mentioning(token)).toEqual([]);
  });

  it("end with the call's timeout", async () => {
    lab.model.push(bash(busy(), 0.5), { text: 'timed out' });
    const { sessionId } = await lab.start('coder');
    expect(await lab.run(sessionId, 'go')).toMatchObject({ state: 'completed', assistantText: 'timed out' });
    expect(mentioning(token)).toEqual([]);
    expect(JSON.stringify(lab.model.requests[1]?.messages)).toContain('timed out after 0.5 seconds');
  });

  it('outlive their call in the background, and end with the session', async () => {
    lab.model.push(bash(`(nohup sleep ${token} >/dev/null 2>&1 &) ; (setsid sleep ${token} &) ; echo up`));
    const { sessionId } = await lab.start('coder');
    await lab.run(sessionId, 'start the server');
    expect(sleeping()).toBe(2);
    await lab.agent.disposeSession(sessionId);
    expect(mentioning(token)).toEqual([]);
    expect(await eventually(() => mentioning(lab.scope.serverId).length === 0)).toBe(true);
  });

  it('end with a session that is disposed in the middle of a call', async () => {
    lab.model.push(bash(busy()));
    const { sessionId } = await lab.start('coder');
    const turn = await lab.prompt(sessionId, 'go');
    expect(await eventually(() => sleeping() === 6)).toBe(true);
    await lab.agent.disposeSession(sessionId);
    expect(mentioning(token)).toEqual([]);
    await lab.agent.settlePrompt(turn);
  });

  it('see no secret and no client internals, but their scope', async () => {
    const planted = { MY_TOKEN: 'hidden-1', CLAUDECODE: 'hidden-2', PI_SESSION_MCP_CONFIG: 'hidden-3', PLAIN: 'shown' };
    Object.assign(process.env, planted);
    lab.model.push(bash('env'), { text: 'ok' });
    const { sessionId } = await lab.start('coder');
    await lab.run(sessionId, 'go');
    for (const name of Object.keys(planted)) delete process.env[name];
    const seen = JSON.stringify(lab.model.requests[1]?.messages);
    expect(seen).not.toContain('hidden-');
    expect(seen).toContain('PLAIN=shown');
    expect(seen).toContain(`PI_SESSION_MCP_SCOPE=${lab.scope.serverId}/${sessionId}/1`);
  });

  it('report exit codes, output of both kinds and signals as Pi does', async () => {
    lab.model.push(bash('echo out; echo err >&2; exit 3'), bash('kill -9 $$'), bash('sleep 0.3 & echo quick'), {
      text: 'ok',
    });
    const { sessionId } = await lab.start('coder');
    await lab.run(sessionId, 'go');
    const results = lab.model.requests[3]?.messages.filter((message) => message.role === 'tool');
    const texts = results?.map((message) => JSON.stringify(message.content)) ?? [];
    expect(texts[0]).toMatch(/out\\nerr.*exited with code 3/);
    expect(texts[1]).toContain('exited with code 137');
    expect(texts[2]).toContain('quick');
  });
});
