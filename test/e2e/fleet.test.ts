/** Clients start many servers on one configuration, often two per launch, and leave them idle for days. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { childrenOf, cpuMs, locksOf, openFiles } from './kit/processes.ts';
import { launch, type Server } from './kit/server.ts';
import { run, startSession } from './kit/sessions.ts';
import { useStage } from './kit/stage.ts';
import { within } from './kit/until.ts';

const SERVERS = 20;

/** What is open besides the three pipes and Node's own event loop. */
function unusualFiles(server: Server): string[] {
  return [...openFiles(server.pid)].flatMap(([fd, target]) => {
    const usual = fd <= 2 || target.startsWith('anon_inode:') || target.startsWith('pipe:') || target === '/dev/null';
    return usual ? [] : [`${fd} → ${target}`];
  });
}

function expectUnburdened(server: Server): void {
  expect(childrenOf(server.pid)).toEqual([]);
  expect(locksOf(server.pid)).toEqual([]);
  expect(unusualFiles(server)).toEqual([]);
}

it('twenty servers on one configuration all answer, and idle ones hold and cost nothing', async () => {
  const stage = await useStage();
  const servers = Array.from({ length: SERVERS }, () => launch(stage));
  await Promise.all(servers.map((server) => server.handshake()));
  const answers = await Promise.all(servers.map((server) => server.call('pi_capabilities_get')));
  const fingerprints = new Set(answers.map((answer) => answer['configuration'].fingerprint));
  expect([...fingerprints]).toHaveLength(1);

  for (const server of servers) expectUnburdened(server);
  const used = () => servers.reduce((sum, server) => sum + (cpuMs(server.pid) ?? 0), 0);
  const before = used();
  await pause(1_000);
  // All twenty together: a single one that spins would use a second.
  expect(used() - before).toBeLessThan(300);

  for (const server of servers) server.end();
  const exits = await Promise.all(servers.map((server) => within('the exit', server.exited)));
  expect(exits).toEqual(Array.from({ length: SERVERS }, () => ({ code: 0, signal: null })));
});

it('several servers work for one home at the same time', async () => {
  const stage = await useStage();
  const servers = Array.from({ length: 3 }, () => launch(stage));
  for (const server of servers) {
    await server.handshake();
    // One after the other: loading the SDK takes all of a core, and is not what is tried here.
    await startSession(server);
  }
  const turns = await Promise.all(
    servers.flatMap((server) =>
      ['reader', 'coder'].map(async (profile) => run(server, await startSession(server, profile))),
    ),
  );
  expect(turns.map((turn) => turn['assistantText'])).toEqual(Array.from({ length: 6 }, () => 'done'));
});

it('neither a session nor a closed one leaves a child, a lock or a file behind', async () => {
  const stage = await useStage();
  const server = launch(stage);
  await server.handshake();
  const sessionId = await startSession(server, 'coder');
  expectUnburdened(server);
  await server.call('pi_session_close', { sessionId });
  expectUnburdened(server);
});
