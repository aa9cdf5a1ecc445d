import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentSession } from '@earendil-works/pi-coding-agent';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RecordedRequest } from '../../../demo/scripted-model.ts';
import { type Lab, openLab } from './lab.ts';

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.close());

function saidTo(request: RecordedRequest | undefined): string {
  return JSON.stringify(request?.messages ?? []);
}

describe('turns on the real SDK', () => {
  it('reads a file', async () => {
    await writeFile(join(lab.workspace, 'note.txt'), 'the secret is marmalade');
    lab.model.push({ text: 'looking', tools: [{ name: 'read', args: { path: 'note.txt' } }] }, { text: ' found it ' });
    const { sessionId } = await lab.start();
    expect(await lab.run(sessionId, 'what does the note say?')).toEqual({
      state: 'completed',
      assistantText: 'found it',
      truncated: false,
    });
    expect(saidTo(lab.model.requests[1])).toContain('marmalade');
    expect(lab.model.requests[0]?.toolNames.toSorted()).toEqual(['find', 'grep', 'ls', 'read']);
  });

  it('changes a file with a coding profile', async () => {
    await writeFile(join(lab.workspace, 'code.txt'), 'old');
    lab.model.push(
      { tools: [{ name: 'edit', args: { path: 'code.txt', edits: [{ oldText: 'old', newText: 'new' }] } }] },
      { tools: [{ name: 'bash', args: { command: 'cat code.txt; pwd' } }] },
      { text: 'done' },
    );
    const { sessionId } = await lab.start('coder');
    expect(await lab.run(sessionId, 'change it')).toMatchObject({ state: 'completed', assistantText: 'done' });
    expect(await readFile(join(lab.workspace, 'code.txt'), 'utf8')).toBe('new');
    expect(saidTo(lab.model.requests[2])).toContain(`new${lab.workspace}`);
  });

  // Opening a FIFO would block a thread of the process until the process is killed.
  it.each([
    ['read', { path: 'pipe' }],
    ['write', { path: 'pipe', content: 'x' }],
    ['edit', { path: 'pipe', edits: [{ oldText: 'a', newText: 'b' }] }],
    ['read', { path: '/dev/zero' }],
  ])('refuses to %s what is no regular file: %j', async (name, args) => {
    execFileSync('mkfifo', [join(lab.workspace, 'pipe')]);
    lab.model.push({ tools: [{ name, args }] }, { text: 'could not' });
    const { sessionId } = await lab.start('coder');
    expect(await lab.run(sessionId, 'go')).toMatchObject({ state: 'completed', assistantText: 'could not' });
    expect(saidTo(lab.model.requests[1])).toContain('Not a regular file');
  });

  it('gives a read-only profile no tool that writes', async () => {
    const command = `touch ${join(lab.workspace, 'canary')}`;
    lab.model.push({ tools: [{ name: 'bash', args: { command } }] }, { text: 'could not' });
    const { sessionId } = await lab.start();
    expect(await lab.run(sessionId, 'write')).toMatchObject({ state: 'completed', assistantText: 'could not' });
    await expect(readFile(join(lab.workspace, 'canary'))).rejects.toThrow();
  });

  it('keeps the context for a follow-up', async () => {
    lab.model.push({ text: 'blue' }, { text: 'as I said' });
    const { sessionId } = await lab.start();
    await lab.run(sessionId, 'which colour?');
    expect(await lab.run(sessionId, 'and again?')).toMatchObject({ assistantText: 'as I said' });
    const context = saidTo(lab.model.requests[1]);
    for (const part of ['which colour?', 'blue', 'and again?']) expect(context).toContain(part);
  });

  it.each(['before-headers', 'after-headers'] as const)('aborts a model that hangs %s', async (hang) => {
    lab.model.push({ hang });
    const { sessionId } = await lab.start();
    const turn = await lab.prompt(sessionId, 'wait');
    const request = await lab.model.arrived(0);
    expect(await lab.agent.abortTurn(turn)).toEqual({ ok: true });
    expect(await lab.agent.runTurn(turn)).toEqual({ state: 'aborted' });
    await request.closed;
  });

  it.each(['before-headers', 'after-headers'] as const)('disposes while the model hangs %s', async (hang) => {
    lab.model.push({ hang });
    const { sessionId } = await lab.start();
    const turn = await lab.prompt(sessionId, 'wait');
    const request = await lab.model.arrived(0);
    const ended = lab.agent.runTurn(turn);
    await lab.agent.disposeSession(sessionId);
    expect((await ended).state).not.toBe('completed');
    await request.closed;
    expect(lab.model.requests).toHaveLength(1);
  });

  it.each([400, 429, 500])('fails on status %i', async (status) => {
    lab.model.push({ status });
    const { sessionId } = await lab.start();
    expect(await lab.run(sessionId, 'try')).toEqual({ state: 'failed' });
    lab.model.push({ text: 'better' });
    expect(await lab.run(sessionId, 'again')).toMatchObject({ state: 'completed', assistantText: 'better' });
  });

  it('counts a length stop as an end, and a stream without a reason as a failure', async () => {
    lab.model.push({ text: 'cut', finishReason: 'length' }, { text: 'lost', finishReason: null });
    const { sessionId } = await lab.start();
    expect(await lab.run(sessionId, 'one')).toMatchObject({ state: 'completed', assistantText: 'cut' });
    expect(await lab.run(sessionId, 'two')).toEqual({ state: 'failed' });
  });

  it('takes slash commands as plain text', async () => {
    const submitted = vi.spyOn(AgentSession.prototype, 'prompt');
    const { sessionId } = await lab.start();
    await lab.run(sessionId, '/skill:x please');
    await lab.run(sessionId, '/compact');
    expect(saidTo(lab.model.requests[0])).toContain('/skill:x please');
    expect(saidTo(lab.model.requests[1])).toContain('/compact');
    expect(submitted).toHaveBeenLastCalledWith(
      '/compact',
      expect.objectContaining({ expandPromptTemplates: false, source: 'rpc' }),
    );
    submitted.mockRestore();
  });

  it('does not let a turn work that nobody waits for any more', async () => {
    lab.model.push({ hang: 'before-headers' });
    const { sessionId } = await lab.start();
    const controller = new AbortController();
    const turn = { sessionId, turnId: 'late' };
    const admitted = lab.agent.admitPrompt({ ...turn, prompt: 'go' }, controller.signal);
    controller.abort();
    expect(await admitted).toEqual({ disposition: 'refused' });
    // Settles although the model never answers.
    await lab.agent.settlePrompt(turn);
    expect((await lab.agent.runTurn(turn)).state).not.toBe('completed');
  });

  it('takes long prompts and lone surrogates', async () => {
    const { sessionId } = await lab.start();
    const long = `${'ä'.repeat(99_999)}!`;
    expect((await lab.run(sessionId, long)).state).toBe('completed');
    expect(saidTo(lab.model.requests[0])).toContain(long);
    expect((await lab.run(sessionId, 'half \ud83d a pair')).state).toBe('completed');
  });

  it('tells of each finished tool and message', async () => {
    const tools = [
      { name: 'ls', args: {} },
      { name: 'ls', args: { path: 'missing' } },
    ];
    // Held until the watcher is there.
    let watch: () => void = () => {};
    const watched = new Promise<void>((resolve) => {
      watch = resolve;
    });
    lab.model.push({ tools, delay: () => watched.then(() => undefined) }, { text: 'done' });
    const { sessionId } = await lab.start();
    const turn = await lab.prompt(sessionId, 'list');
    let count = 0;
    lab.agent.watchTurn(turn, () => {
      count += 1;
    });
    watch();
    await lab.agent.runTurn(turn);
    expect(count).toBe(4);
  });

  it('survives a listener that throws', async () => {
    lab.model.push({ text: 'fine' });
    const { sessionId } = await lab.start();
    const turn = await lab.prompt(sessionId, 'go');
    lab.agent.watchTurn(turn, () => {
      throw new Error('mine');
    });
    expect(await lab.agent.runTurn(turn)).toMatchObject({ state: 'completed', assistantText: 'fine' });
    expect(lab.reports).toEqual([{ event: 'turn_activity_listener_failed', fields: {} }]);
  });

  it('runs sessions side by side', async () => {
    const sessions = await Promise.all(Array.from({ length: 8 }, () => lab.start()));
    const results = await Promise.all(sessions.map(({ sessionId }) => lab.run(sessionId, 'go')));
    expect(results.map((result) => result.state)).toEqual(Array(8).fill('completed'));
  });
});

describe('retries', () => {
  it('do not make a turn fail', async () => {
    const patient = await openLab({ maxRetries: 2 });
    try {
      patient.model.push({ status: 500 }, { status: 500 }, { text: 'at last' });
      const { sessionId } = await patient.start();
      expect(await patient.run(sessionId, 'try')).toMatchObject({ state: 'completed', assistantText: 'at last' });
    } finally {
      await patient.close();
    }
  });
});
