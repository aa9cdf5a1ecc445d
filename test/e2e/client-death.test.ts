/** The client dies without a word, and the server is all that could be left. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { BUILT_SERVER } from '../../demo/scene.ts';
import { mentioning, sleepToken } from '../adapters/process/processes.ts';
import { cpuMs } from './kit/processes.ts';
import { bash } from './kit/sessions.ts';
import { type Stage, useStage } from './kit/stage.ts';
import { until, within } from './kit/until.ts';

const PARENT = join(import.meta.dirname, 'fixtures', 'parent.ts');

/** Starts a client of its own that has given its server a task; returns it and the server's pid. */
async function startClient(stage: Stage): Promise<{ client: ChildProcess; server: number }> {
  const client = spawn(process.execPath, [PARENT, BUILT_SERVER], {
    env: { ...stage.env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void client.kill('SIGKILL'));
  const [pid] = await within('the pid of the server', once(client.stdout, 'data'));
  return { client, server: Number(String(pid)) };
}

it('the server ends by itself, with all it started, and does not spin meanwhile', async () => {
  const tokens = [sleepToken(), sleepToken()];
  const stage = await useStage({ model: { steps: [bash(`setsid sleep ${tokens[0]} & sleep ${tokens[1]}`)] } });
  const { client, server } = await startClient(stage);
  const left = () => tokens.flatMap(mentioning);
  await until('both children', () => tokens.every((token) => mentioning(token).some((c) => c.startsWith('sleep'))));
  const before = cpuMs(server) ?? 0;
  client.kill('SIGKILL');
  let used = before;
  await until('the end of the server', () => {
    const now = cpuMs(server);
    used = now ?? used;
    return now === undefined;
  });
  // Ending a session and its processes takes some; a loop would take all there is.
  expect(used - before).toBeLessThan(1_000);
  await until(
    () => `all gone, but there is ${left().join(', ')}`,
    () => left().length === 0,
    2_000,
  );
});

it('a server whose turn hangs ends too', async () => {
  const stage = await useStage({ model: { steps: [{ hang: 'before-headers' }] } });
  const { client, server } = await startClient(stage);
  const { closed } = await stage.model.arrived(0);
  client.kill('SIGKILL');
  await within('the end of the connection to the provider', closed);
  await until('the end of the server', () => cpuMs(server) === undefined);
});
