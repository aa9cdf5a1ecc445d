import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOurs } from '../exchange.ts';
import { type Benchmark, interleaved } from '../measure.ts';
import type { RpcProcess } from '../rpc-process.ts';
import { openStage } from '../stage.ts';

const HUNG_TURNS = 50;
const EXIT_ROUNDS = 7;
/** Lets the last request reach the model. */
const SETTLE_MS = 300;
const STARTS = 50;
const READY_MS = 900;

async function exitTime(server: RpcProcess): Promise<number> {
  const { ms, code } = await server.leave();
  if (code !== 0) throw new Error(`the server ended with status ${code}`);
  return ms;
}

async function exitWithHungTurns(server: RpcProcess): Promise<number> {
  await server.initialize();
  for (let index = 0; index < HUNG_TURNS; index += 1) {
    const sessionId = await startOurs(server);
    await server.call('pi_session_prompt', { sessionId, prompt: 'Hang.' });
  }
  await sleep(SETTLE_MS);
  return exitTime(server);
}

async function exitWhenIdle(server: RpcProcess): Promise<number> {
  await server.initialize();
  await sleep(SETTLE_MS);
  return exitTime(server);
}

export const exit: Benchmark = {
  name: 'exit',
  async run() {
    const stage = await openStage('hang');
    const { hung, idle, bare } = await interleaved(EXIT_ROUNDS, {
      hung: () => exitWithHungTurns(stage.ours()),
      idle: () => exitWhenIdle(stage.ours()),
      bare: () => exitWhenIdle(stage.bare()),
    });
    await stage.close();
    return [
      { what: `stdin end to exit with ${HUNG_TURNS} hung turns`, unit: 'ms', ours: hung, limit: 150 },
      { what: 'the same / bare MCP server', unit: 'ms', ours: hung, floor: bare },
      { what: 'stdin end to exit when idle / bare MCP server', unit: 'ms', ours: idle, floor: bare },
    ];
  },
};

async function ready(server: RpcProcess): Promise<number> {
  await server.initialize();
  await server.request('tools/list');
  const ms = performance.now() - server.spawned;
  await server.kill();
  return ms;
}

export const load: Benchmark = {
  name: 'load',
  async run() {
    const stage = await openStage();
    const busy: ChildProcess[] = Array.from({ length: availableParallelism() }, () =>
      spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
    );
    const stop = (): void => {
      for (const child of busy) child.kill('SIGKILL');
    };
    process.once('exit', stop);
    const samples: number[] = [];
    try {
      for (let index = 0; index < STARTS; index += 1) samples.push(await ready(stage.ours()));
    } finally {
      stop();
      process.off('exit', stop);
      await stage.close();
    }
    const inTime = samples.filter((ms) => ms <= READY_MS).length;
    return [
      {
        what: `tools listed within ${READY_MS} ms on busy cores`,
        unit: 'of 50',
        ours: inTime,
        limit: STARTS,
        atLeast: true,
      },
      { what: 'slowest of these starts', unit: 'ms', ours: Math.max(...samples) },
    ];
  },
};
