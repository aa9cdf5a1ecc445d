/** However a client, the launcher or a part of Podman ends: nothing of a box stays, also when the box would like to. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { WriterBox } from '../../src/ports/writers/boundary.ts';
import { NO_PODMAN, useLab } from '../adapters/podman/lab.ts';
import {
  accept,
  BoxedServer,
  childrenOf,
  commandOf,
  isAlive,
  launchBoxed,
  leftovers,
  processesOf,
  provision,
} from './kit/boxed-server.ts';
import { until } from './kit/until.ts';

const lab = useLab();

/** The grace period of 20 s, and what Podman needs behind it. */
const PATIENCE_MS = 40_000;

/** Hears no signal and no end of stdin, and has a child in a session of its own. */
const STUBBORN = `import { spawn } from 'node:child_process';
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE']) process.on(name, () => {});
for (const stream of [process.stdin, process.stdout, process.stderr]) stream.on('error', () => {});
spawn('setsid', ['sleep', '1000'], { stdio: 'ignore' });
setInterval(() => {}, 1000);
process.stdout.write('{"ready":true}\\n');
`;

const kill = (...pids: number[]): void => {
  for (const pid of pids) process.kill(pid, 'SIGKILL');
};

describe.skipIf(NO_PODMAN !== undefined)('a box that would outlive its client', () => {
  let stubborn: string;
  let writer: WriterBox;

  beforeAll(async () => {
    if (NO_PODMAN) return;
    stubborn = join(lab().directory, 'stubborn');
    cpSync(lab().product, stubborn, { recursive: true, verbatimSymlinks: true });
    writeFileSync(join(stubborn, 'dist/main.js'), STUBBORN);
    writer = await provision(lab(), 'stubborn');
    await accept(lab(), writer, stubborn);
  });

  const launcher = (): [string, string[]] => [lab().node, [join(stubborn, 'dist/writer.js'), writer.directory]];

  async function running() {
    const server = new BoxedServer(lab().spawn(...launcher(), { stdio: 'pipe' }));
    await server.firstLine();
    const pid = server.child.pid ?? 0;
    const processes = processesOf(lab());
    const watchdog = childrenOf(pid).find((child) => child !== processes.client) ?? 0;
    expect([pid, watchdog, ...Object.values(processes)].filter((each) => !isAlive(each))).toEqual([]);
    return { server, pid, watchdog, ...processes };
  }

  async function nothingIsLeft(inner?: number): Promise<void> {
    await until(
      () => `nothing is left of the box: ${leftovers(lab()).join('\n')}`,
      () => leftovers(lab()).length === 0 && lab().boxes().length === 0,
      PATIENCE_MS,
    );
    expect(lab().containers()).toEqual([]);
    if (inner !== undefined) expect(isAlive(inner)).toBe(false);
  }

  afterEach(() => nothingIsLeft(), PATIENCE_MS);

  type Running = Awaited<ReturnType<typeof running>>;
  const victims: [string, (all: Running) => number[]][] = [
    ['the launcher', ({ pid }) => [pid]],
    ['Podman’s client', ({ client }) => [client]],
    ['conmon', ({ conmon }) => [conmon]],
    ['the watchdog', ({ watchdog }) => [watchdog]],
    ['the launcher and Podman’s client', ({ pid, client }) => [pid, client]],
    ['the launcher and conmon', ({ pid, conmon }) => [pid, conmon]],
    ['the first process in the box', ({ inner }) => [inner]],
  ];

  test.each(victims)('SIGKILL for %s', { timeout: PATIENCE_MS }, async (_, choose) => {
    const all = await running();
    const begun = performance.now();
    kill(...choose(all));
    const exit = await all.server.exited;
    expect(exit.code).not.toBe(0);
    await nothingIsLeft(all.inner);
    // Long before the grace period: that one is for those who end by themselves.
    expect(performance.now() - begun).toBeLessThan(15_000);
  });

  test('the client closes stdin and the server does not care', { timeout: 2 * PATIENCE_MS }, async () => {
    const { server, inner } = await running();
    server.child.stdin?.end();
    await server.exited;
    await nothingIsLeft(inner);
  });

  test('SIGTERM, and the server does not care', { timeout: 2 * PATIENCE_MS }, async () => {
    const { server, inner } = await running();
    server.child.kill('SIGTERM');
    await server.exited;
    await nothingIsLeft(inner);
  });

  test('SIGKILL for the client, which takes its pipes along', { timeout: 2 * PATIENCE_MS }, async () => {
    const [file, args] = launcher();
    const script =
      'const { spawn } = require("node:child_process"); spawn(process.argv[1], process.argv.slice(2), { stdio: ["pipe", "inherit", "inherit"], detached: true }); setInterval(() => {}, 1000);';
    const client = new BoxedServer(lab().spawn(lab().node, ['-e', script, file, ...args], { stdio: 'pipe' }));
    await client.firstLine();
    const { inner } = processesOf(lab());
    kill(client.child.pid ?? 0);
    await nothingIsLeft(inner);
  });

  test('everything on the host at once: the box ends itself, and the next start clears up', {
    timeout: 3 * PATIENCE_MS,
  }, async () => {
    const { server, pid, watchdog, client, inner } = await running();
    kill(watchdog, pid, client);
    await server.exited;
    await until('the box has ended itself', () => !isAlive(inner), PATIENCE_MS);
    const next = await running();
    expect(lab().containers()).toHaveLength(1);
    kill(next.pid);
    await nothingIsLeft(next.inner);
  });

  test('an abandoned box that still runs is removed by the next start, and a living one is not', {
    timeout: 3 * PATIENCE_MS,
  }, async () => {
    const living = await provision(lab(), 'living');
    const neighbour = launchBoxed(lab(), living);
    await neighbour.initialize();
    const [kept] = lab().containers();
    const lost = new BoxedServer(lab().spawn(...launcher(), { stdio: 'pipe' }));
    await lost.firstLine();
    const id =
      lab()
        .boxes()
        .find((box) => `pi-writer-${box}` !== kept) ?? '';
    const read = (file: string): number =>
      Number.parseInt(readFileSync(join(lab().instance(), 'boxes', id, file), 'utf8'), 10);
    const watchdog = childrenOf(lost.child.pid ?? 0).find((pid) => pid !== read('client')) ?? 0;
    kill(watchdog, lost.child.pid ?? 0);
    await lost.exited;
    expect(lab().containers()).toHaveLength(2);
    expect(await lab().act({ do: 'reap' })).toEqual({ removed: 1, left: 0 });
    expect(lab().containers()).toEqual([kept]);
    neighbour.child.stdin?.end();
    expect(await neighbour.exited).toEqual({ code: 0, signal: null });
  });

  const everybody = (pid: number): number[] => [pid, ...childrenOf(pid)];
  const wholeStart = [0, 40, 80, 120, 160, 200, 250, 300, 350, 400, 500, 600, 800];

  test.each<[string, (launcher: number) => number[]]>([
    ['the launcher', (pid) => [pid]],
    ['Podman’s client', (pid) => childrenOf(pid).filter((child) => commandOf(child).includes('--cidfile'))],
    ['the launcher and all that it has started', everybody],
  ])('SIGKILL at any moment of the start for %s', { timeout: 3 * PATIENCE_MS }, async (_, choose) => {
    for (const afterMs of wholeStart) {
      const server = new BoxedServer(lab().spawn(...launcher(), { stdio: 'pipe' }));
      await pause(afterMs);
      kill(...choose(server.child.pid ?? 0));
      server.child.stdin?.end();
      server.child.kill('SIGTERM');
      await server.exited;
    }
    await until(
      () => `nothing is left: ${leftovers(lab()).join('\n')}`,
      // With its watchdog dead too, what is left waits for the next start.
      async () => (await lab().act<{ left: number }>({ do: 'reap' })).left === 0 && leftovers(lab()).length === 0,
      PATIENCE_MS,
    );
  });

  test('SIGTERM at any moment of the start: its status, no complaint, and nothing is left', {
    timeout: 3 * PATIENCE_MS,
  }, async () => {
    const hasty = await provision(lab(), 'hasty');
    const ends: Awaited<BoxedServer['exited']>[] = [];
    // The steps before the box take some fifty milliseconds.
    const moments = [
      ...Array.from({ length: 20 }, (_, index) => 30 + 10 * index),
      ...wholeStart.filter((ms) => ms > 230),
    ];
    for (const afterMs of moments) {
      const server = launchBoxed(lab(), hasty);
      await pause(afterMs);
      server.child.kill('SIGTERM');
      ends.push(await server.exited);
      await server.closed;
      expect([server.stdout, server.stderr]).toEqual(['', expect.not.stringContaining('writer_start_failed')]);
    }
    // Before the launcher listens, the signal itself ends it.
    const heard = ends.filter(({ signal }) => signal !== 'SIGTERM');
    expect(heard).toEqual(heard.map(() => ({ code: 143, signal: null })));
    expect(heard.length).toBeGreaterThan(moments.length / 2);
    await nothingIsLeft();
  });

  test('an ordinary server ends orderly on SIGTERM', async () => {
    const server = launchBoxed(lab(), await provision(lab(), 'orderly'));
    await server.initialize();
    server.child.kill('SIGTERM');
    expect(await server.exited).toEqual({ code: 143, signal: null });
  });
});
