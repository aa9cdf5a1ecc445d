/** The built server with an extension that prints, notes what happens to it, and hears of the end. */
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { HOOKS, installFixtures, PROVIDER, TOOLS } from '../adapters/pi/extension-lab.ts';
import { connect } from './kit/server.ts';
import { run, startSession } from './kit/sessions.ts';
import { useStage } from './kit/stage.ts';
import { until, within } from './kit/until.ts';

it('keeps the protocol clean, answers from the extension’s provider, and tells it of the end once', async () => {
  const looped = { provider: 'looped', model: 'looped-1' };
  const extended = { ...looped, extensions: [PROVIDER, HOOKS, TOOLS], grantedExtensionTools: ['probe'] };
  const unpinned = { extensions: ['npm:fixture-hooks@9.9.9'] };
  const stage = await useStage({ profiles: { extended, unpinned } });
  cpSync(installFixtures(), join(stage.agentDirectory, 'npm'), { recursive: true });
  const log = join(stage.root, 'fixture.log');
  const lines = () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []);
  const fixtures = { FIXTURE_LOG: log, FIXTURE_BASE_URL: stage.model.baseUrl, FIXTURE_HOOKS: 'print throw-later' };
  const server = await connect(stage, { env: { ...stage.env, ...fixtures } });

  const sessionId = await startSession(server, 'extended');
  stage.model.push({ tools: [{ name: 'probe', args: {} }] }, { text: 'looped and probed' });
  expect(await run(server, sessionId)).toMatchObject({ state: 'completed', assistantText: 'looped and probed' });
  expect(stage.model.requests[0]).toMatchObject({ model: 'looped-1' });
  const refused = await server.call('pi_session_start', { workspace: 'app', executionProfile: 'unpinned' });
  expect(refused).toMatchObject({ ok: false, error: { code: 'extension_version_mismatch' } });

  // Closed by the client, and once more by the end of the process.
  expect(await server.call('pi_session_close', { sessionId })).toMatchObject({ session: { state: 'closed' } });
  await startSession(server, 'extended');
  server.end();
  expect(await within('the exit', server.closed)).toEqual({ code: 0, signal: null });
  expect(await until('both ends', () => lines().filter((line) => line === 'shutdown').length === 2)).toBe(true);

  const events = server.stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const of = (event: string) => events.filter((one) => one['event'] === event);
  const printed = of('foreign_stdout_suppressed').reduce((sum, { writes }) => sum + Number(writes), 0);
  expect(printed).toBe(2);
  expect(of('extension_hook_failed')).toEqual([
    { level: 'warn', event: 'extension_hook_failed', extension: 'fixture-hooks', count: 1 },
  ]);
  expect(of('pi_session_creation_failed')).toMatchObject([
    { code: 'extension_version_mismatch', stage: 'extension_resolve', extension: 'fixture-hooks' },
  ]);
  expect(server.stderr + server.stdout).not.toMatch(/secret|into the protocol|node_modules/);
});
