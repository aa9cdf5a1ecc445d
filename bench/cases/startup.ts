import { spawn } from 'node:child_process';
import { type Benchmark, interleaved } from '../measure.ts';
import type { RpcProcess } from '../rpc-process.ts';
import { openStage } from '../stage.ts';

const ROUNDS = 25;

/** From the spawn to the answer of `initialize`. */
async function handshake(server: RpcProcess): Promise<number> {
  await server.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  });
  const ms = performance.now() - server.spawned;
  await server.kill();
  return ms;
}

function emptyNode(): Promise<number> {
  const began = performance.now();
  return new Promise((resolve) => {
    spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }).once('exit', () => resolve(performance.now() - began));
  });
}

export const startup: Benchmark = {
  name: 'startup',
  async run() {
    const stage = await openStage();
    const sides = {
      ours: () => handshake(stage.ours()),
      bare: () => handshake(stage.bare()),
      node: emptyNode,
    };
    // Fills the page cache for all of them.
    await interleaved(2, sides);
    const { ours, bare, node } = await interleaved(ROUNDS, sides);
    await stage.close();
    return [
      { what: 'spawn to initialize / bare MCP server', unit: 'ms', ours, floor: bare, limit: 0.6 },
      { what: 'spawn to initialize / node -e 0', unit: 'ms', ours, floor: node, limit: 3.5 },
    ];
  },
};
