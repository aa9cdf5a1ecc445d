/** Providers are reached as Pi's command line reaches them: through the operator's proxy, where there is one. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect as connectTo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from './kit/server.ts';
import { bash, run, startSession } from './kit/sessions.ts';
import { useStage, writeFiles } from './kit/stage.ts';

const NOWHERE = 'http://provider.invalid';

/** Connects everybody to one port of this machine, wherever they want to go. */
async function startProxy(port: number) {
  const asked: string[] = [];
  const open: Duplex[] = [];
  const proxy = createServer((_request, response) => response.writeHead(405).end());
  proxy.on('connect', ({ url = '' }, incoming) => {
    asked.push(url);
    const outgoing = connectTo(port, '127.0.0.1', () => {
      incoming.write('HTTP/1.1 200 OK\r\n\r\n');
      incoming.pipe(outgoing).pipe(incoming);
    });
    for (const stream of [incoming, outgoing]) {
      open.push(stream);
      stream.on('error', () => {});
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const stream of open) stream.destroy();
    proxy.close();
  });
  return { asked, origin: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

/** A stage whose provider has a name that no resolver knows. */
async function behindProxy() {
  const stage = await useStage({ model: { steps: [bash('env'), { text: 'ok' }] } });
  const models = join(stage.agentDirectory, 'models.json');
  const origin = new URL(stage.model.baseUrl).origin;
  writeFileSync(models, readFileSync(models, 'utf8').replaceAll(origin, NOWHERE));
  return { stage, proxy: await startProxy(Number(new URL(origin).port)) };
}

it.each(['HTTP_PROXY', 'http_proxy'])('that %s names', async (name) => {
  const { stage, proxy } = await behindProxy();
  const server = await connect(stage, { env: { ...stage.env, [name]: proxy.origin } });
  expect(await run(server, await startSession(server, 'coder'))).toMatchObject({ state: 'completed' });
  expect(new Set(proxy.asked)).toEqual(new Set(['provider.invalid:80']));
});

it("that Pi's settings name, and the tools do not learn of it", async () => {
  const { stage, proxy } = await behindProxy();
  writeFiles(stage.agentDirectory, { 'settings.json': JSON.stringify({ httpProxy: proxy.origin }) });
  const server = await connect(stage);
  expect(await run(server, await startSession(server, 'coder'))).toMatchObject({ state: 'completed' });
  expect(proxy.asked.length).toBeGreaterThan(0);
  const told = JSON.stringify(stage.model.requests.at(-1)?.messages.at(-1));
  expect(told).toContain('HOME=');
  expect(told).not.toContain(proxy.origin);
});

it('and not where NO_PROXY says so', async () => {
  const stage = await useStage();
  const proxy = await startProxy(1);
  const server = await connect(stage, { env: { ...stage.env, HTTP_PROXY: proxy.origin, NO_PROXY: '127.0.0.1' } });
  expect(await run(server, await startSession(server))).toMatchObject({ state: 'completed' });
  expect(proxy.asked).toEqual([]);
});
