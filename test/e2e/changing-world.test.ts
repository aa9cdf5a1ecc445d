/** A workspace that vanishes and a provider that fails: the server goes on, and repeats nothing of it. */
import { chmodSync, renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { connect } from './kit/server.ts';
import { bash, prompt, run, startSession, turnEnd } from './kit/sessions.ts';
import { CANARY, useStage } from './kit/stage.ts';

describe('a world that changes behind the server', () => {
  it('the workspace vanishes under a session: turns go on, and it can be closed', async () => {
    const stage = await useStage({
      model: { steps: [bash('pwd'), { tools: [{ name: 'read', args: { path: 'x' } }] }, { text: 'strange' }] },
    });
    const server = await connect(stage);
    const sessionId = await startSession(server, 'coder');
    renameSync(stage.path('app'), stage.path('moved'));
    expect(await run(server, sessionId)).toMatchObject({ state: 'completed', assistantText: 'strange' });
    expect(await server.call('pi_session_start', { workspace: 'app' })).toMatchObject({
      error: { code: 'pi_session_creation_failed' },
    });
    expect(await server.call('pi_session_close', { sessionId })).toMatchObject({ ok: true });
  });

  it.skipIf(process.getuid?.() === 0)('a workspace that must not be read', async () => {
    const stage = await useStage();
    const server = await connect(stage);
    chmodSync(stage.path('app'), 0o000);
    const refused = await server.call('pi_session_start', { workspace: 'app' });
    chmodSync(stage.path('app'), 0o700);
    expect(refused).toMatchObject({ error: { code: 'pi_session_creation_failed' } });
  });

  it('a provider that fails in every way: its words stay inside', async () => {
    const stage = await useStage({
      // Statuses that Pi does not try again.
      model: { steps: [{ status: 400 }, { status: 401 }, { status: 403 }, { text: 'fine' }] },
    });
    const server = await connect(stage);
    const sessionId = await startSession(server);
    for (let at = 0; at < 3; at += 1) {
      expect(await run(server, sessionId)).toMatchObject({
        state: 'failed',
        error: { code: 'turn_failed', message: 'Pi turn failed' },
      });
    }
    expect(await run(server, sessionId)).toMatchObject({ state: 'completed', assistantText: 'fine' });
    expect(server.stderr).toBe('');
  });

  it('only the model itself says a path, in its text', async () => {
    const stage = await useStage();
    const says = `${stage.path('app')} ${CANARY.key}`;
    stage.model.push({ text: says }, { text: 'quiet' });
    const server = await connect(stage, { modelSays: [] });
    const sessionId = await startSession(server);
    const ids = await prompt(server, sessionId);
    const turn = await turnEnd(server, ids);
    expect(turn['assistantText']).toBe(says);
    // From here on the bytes are looked at as everywhere else.
    const answers = server.frames.filter((frame) => JSON.stringify(frame).includes(CANARY.key));
    expect(answers.every((frame) => frame['result'].structuredContent.turn.assistantText === says)).toBe(true);
    server.stdout = server.stdout.replaceAll(JSON.stringify(says).slice(1, -1), '');
  });
});
