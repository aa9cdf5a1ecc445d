import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeOurs, closeRaw, startOurs, startRaw, turnOurs, turnRaw } from '../exchange.ts';
import { HeapProbe } from '../heap-probe.ts';
import { type Benchmark, interleaved, median } from '../measure.ts';
import type { RpcProcess } from '../rpc-process.ts';
import { openStage } from '../stage.ts';

const ROUNDS = 7;
const SETTLE_MS = 700;
const WARM_UP_CYCLES = 500;
const SEGMENTS = 8;
const SEGMENT_CYCLES = 250;
/**
 * Machine code that V8 still adds after thousands of calls is no leak, but would
 * hide one: so the functions stay interpreted, and their bytecode in memory.
 */
const NODE_ARGS = ['--inspect=127.0.0.1:0', '--no-opt', '--no-maglev', '--no-sparkplug', '--no-flush-bytecode'];
const MAX_GROWTH_BYTES = 128;
const KILOBYTES_PER_MEGABYTE = 1024;

/** Resident memory in kilobytes. */
function residentKilobytes(pid: number): number {
  if (process.platform === 'linux') {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  }
  return Number(execFileSync('/bin/ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }));
}

async function idleMegabytes(server: RpcProcess): Promise<number> {
  await server.initialize();
  await sleep(SETTLE_MS);
  const megabytes = residentKilobytes(server.child.pid ?? 0) / KILOBYTES_PER_MEGABYTE;
  await server.kill();
  return megabytes;
}

export const idleMemory: Benchmark = {
  name: 'idle-memory',
  async run() {
    const stage = await openStage();
    const medians = await interleaved(ROUNDS, {
      ours: () => idleMegabytes(stage.ours()),
      floor: () => idleMegabytes(stage.bare()),
    });
    await stage.close();
    return [{ what: 'resident memory when idle / bare MCP server', unit: 'MB', ...medians, limit: 1.25 }];
  },
};

/**
 * Bytes of heap that each cycle leaves behind, measured from outside: the median
 * over the segments, since V8 gives back or takes a megabyte at once now and then,
 * while a leak shows in every one of them.
 */
async function growthPerCycle(server: RpcProcess, cycle: () => Promise<void>): Promise<number> {
  const probe = await HeapProbe.attach(server);
  for (let index = 0; index < WARM_UP_CYCLES; index += 1) await cycle();
  const growth: number[] = [];
  let before = await probe.usedBytes();
  for (let segment = 0; segment < SEGMENTS; segment += 1) {
    for (let index = 0; index < SEGMENT_CYCLES; index += 1) await cycle();
    const after = await probe.usedBytes();
    growth.push((after - before) / SEGMENT_CYCLES);
    before = after;
  }
  probe.close();
  return median(growth);
}

export const heap: Benchmark = {
  name: 'heap',
  async run() {
    const stage = await openStage();
    const server = stage.ours(NODE_ARGS);
    await server.initialize();
    const ours = await growthPerCycle(server, async () => {
      const id = await startOurs(server);
      await turnOurs(server, id);
      await closeOurs(server, id);
    });
    await server.kill();
    const floor = stage.raw(NODE_ARGS);
    await floor.initialize();
    const raw = await growthPerCycle(floor, async () => {
      const id = await startRaw(floor);
      await turnRaw(floor, id);
      await closeRaw(floor, id);
    });
    await stage.close();
    return [
      { what: 'heap growth per start-prompt-close cycle', unit: 'bytes', ours, limit: MAX_GROWTH_BYTES },
      { what: 'the same of raw Pi behind a bare server', unit: 'bytes', ours: raw },
    ];
  },
};
