import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import { createServerVerifier, type VerifierOptions } from '../../../src/adapters/clients/server-verifier.ts';
import type { EndableProcess } from '../../../src/adapters/clients/verified-process.ts';
import { TOOLS } from '../../../src/adapters/mcp/tools.ts';
import { TOOL_NAMES } from '../../../src/config/tool-names.ts';
import { endingMachine } from '../../../src/machines/grants/ending.machine.ts';
import type { Handshake } from '../../../src/ports/setup/registration.ts';
import { never, temporary } from './kit.ts';

const SERVER = join(import.meta.dirname, 'fixtures/verifier-server.mjs');
const SOURCE = join(import.meta.dirname, '../../../src/main.ts');

/** The chart that ends every server, with less patience. */
function endWithin(ms: number) {
  return (server: EndableProcess): Promise<void> =>
    new Promise((resolve) => {
      const logic = endingMachine.provide({
        actors: {
          endInput: fromPromise(() => server.endInput()),
          terminate: fromPromise(() => server.terminate()),
          kill: fromPromise(() => server.kill()),
        },
        delays: { externalEndTimeout: ms, externalTerminateTimeout: ms, externalKillTimeout: 10_000 },
      });
      const actor = createActor(logic, { logger: () => {} });
      actor.subscribe({ complete: resolve, error: () => resolve() });
      actor.start();
    });
}

function verifierOf(mode: string, changes: Partial<VerifierOptions> = {}) {
  const directory = temporary();
  const log = join(directory, 'log');
  const verifier = createServerVerifier({
    entry: { command: process.execPath, args: [SERVER, mode, log], env: { PI_SESSION_MCP_CONFIG: '/c.json' } },
    environment: { PATH: '/bin', HOME: '/home/me', LANG: 'C', API_KEY: 'secret', TERM: undefined },
    directory,
    end: endWithin(1_500),
    ...changes,
  });
  return { verifier, noted: () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n') : []) };
}

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

const pidOf = (noted: readonly string[], what: string) =>
  Number(noted.find((line) => line.startsWith(`${what} `))?.slice(what.length + 1));

const servers: readonly [mode: string, handshake: Handshake][] = [
  ['right', 'verified'],
  ['shuffled', 'verified'],
  ['ancient', 'unsupported'],
  ['stranger', 'unsupported'],
  ['refuses', 'unsupported'],
  ['fewer', 'unsupported'],
  ['more', 'unsupported'],
  ['twice', 'unsupported'],
  ['pages', 'unsupported'],
  ['talkative', 'unsupported'],
  ['renamed', 'unsupported'],
  ['plain', 'unsupported'],
  ['prose', 'unsupported'],
  ['two-faced', 'unsupported'],
  ['chatty', 'unsupported'],
  ['floods', 'unsupported'],
  ['fails', 'failed'],
  ['breaks', 'failed'],
  ['dies', 'failed'],
  ['quits', 'failed'],
];

test.each(servers)('a server that is %s: %s', async (mode, handshake) => {
  const { verifier, noted } = verifierOf(mode);
  expect(await verifier.handshake(never())).toBe(handshake);
  expect(isAlive(pidOf(noted(), 'pid'))).toBe(false);
});

test('says what a client says, asks one thing, and passes little on', async () => {
  const { verifier, noted } = verifierOf('right');
  await verifier.handshake(never());
  const [, env, ...said] = noted();
  // Some systems add a variable of their own to every process.
  expect(
    env
      ?.slice(4)
      .split(',')
      .filter((name) => !name.startsWith('__')),
  ).toEqual(['HOME', 'LANG', 'PATH', 'PI_SESSION_MCP_CONFIG']);
  expect(said).toEqual([
    'initialize',
    'notifications/initialized',
    'tools/list',
    'tools/call',
    'call pi_capabilities_get {}',
    '',
  ]);
});

test('a good server that does not go by itself is ended all the same', async () => {
  const { verifier, noted } = verifierOf('stubborn', { end: endWithin(150) });
  expect(await verifier.handshake(never())).toBe('verified');
  expect(isAlive(pidOf(noted(), 'pid'))).toBe(false);
});

test('a child of the server that holds its pipes holds nothing up', async () => {
  const { verifier, noted } = verifierOf('family', { end: (server) => server.endInput() });
  onTestFinished(() => void process.kill(pidOf(noted(), 'child'), 'SIGKILL'));
  expect(await verifier.handshake(never())).toBe('verified');
});

test('a silent server runs into the limit', async () => {
  const limit = new AbortController();
  const { verifier, noted } = verifierOf('silent', { deadline: () => limit.signal, end: endWithin(50) });
  const handshake = verifier.handshake(never());
  await vi.waitFor(() => expect(noted()).toContain('initialize'), { timeout: 10_000 });
  limit.abort();
  expect(await handshake).toBe('timeout');
  expect(isAlive(pidOf(noted(), 'pid'))).toBe(false);
});

test('an interruption ends the server', async () => {
  const interrupt = new AbortController();
  const { verifier, noted } = verifierOf('silent', { end: endWithin(50) });
  const handshake = verifier.handshake(interrupt.signal);
  await vi.waitFor(() => expect(noted()).toContain('initialize'), { timeout: 10_000 });
  interrupt.abort();
  expect(await handshake).toBe('failed');
  expect(isAlive(pidOf(noted(), 'pid'))).toBe(false);
});

test('a server that would not end is no success', async () => {
  let server: EndableProcess | undefined;
  const end = async (started: EndableProcess) => {
    server = started;
  };
  const { verifier } = verifierOf('right', { end });
  expect(await verifier.handshake(never())).toBe('failed');
  await server?.kill();
});

test('nothing is started when it cannot be, or need not be', async () => {
  const entry = { command: '/nonexistent/node', args: [], env: {} };
  expect(await verifierOf('right', { entry }).verifier.handshake(never())).toBe('failed');
  expect(await verifierOf('right', { directory: '/nonexistent' }).verifier.handshake(never())).toBe('failed');
  expect(await verifierOf('right', { entry: { ...entry, args: ['\0'] } }).verifier.handshake(never())).toBe('failed');
  const interrupted = verifierOf('right');
  expect(await interrupted.verifier.handshake(AbortSignal.abort())).toBe('failed');
  expect(interrupted.noted()).toEqual([]);
});

test('verifies the real server', async () => {
  const directory = temporary();
  const configuration = join(directory, 'a "config".json');
  const profile = { default: true, permissionProfile: 'read-only', provider: 'p', model: 'm', thinkingLevel: 'off' };
  writeFileSync(configuration, JSON.stringify({ workspaces: { app: '.' }, executionProfiles: { reader: profile } }));
  const entry = { command: process.execPath, args: [SOURCE], env: { PI_SESSION_MCP_CONFIG: configuration } };
  expect(await verifierOf('', { entry, directory }).verifier.handshake(never())).toBe('verified');
  const broken = { ...entry, env: { PI_SESSION_MCP_CONFIG: join(directory, 'nowhere.json') } };
  expect(await verifierOf('', { entry: broken, directory }).verifier.handshake(never())).toBe('failed');
});

test('the list of names is the list of tools', () => {
  expect(TOOLS.map(({ name }) => name)).toEqual([...TOOL_NAMES]);
});
