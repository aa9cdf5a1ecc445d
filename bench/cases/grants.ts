import { fileURLToPath } from 'node:url';
import { closeOurs, startOurs } from '../exchange.ts';
import { type Benchmark, interleaved, timed } from '../measure.ts';
import { openStage } from '../stage.ts';

const ROUNDS = 9;
const MANY = 8;
/** What a server waits before it answers, so that the waiting weighs more than the work of eight processes on two cores. */
const SERVER_START_MS = 1_000;
const FIXTURE = fileURLToPath(new URL('../../test/fixtures/mcp-servers/server.mjs', import.meta.url));

/** A profile with so many external servers. */
function granting(count: number): object {
  const lists = [[{ name: 'work', inputSchema: { type: 'object' } }]];
  const args = [FIXTURE, JSON.stringify({ lists, startDelayMs: SERVER_START_MS })];
  const server = { command: process.execPath, args, tools: { do: { name: 'work', readOnly: true } } };
  return { mcpServers: Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, server])) };
}

export const grants: Benchmark = {
  name: 'grants',
  async run() {
    const stage = await openStage('fixed', { one: granting(1), many: granting(MANY) });
    const server = stage.ours();
    await server.initialize();
    const start = (profile: string) => async () => {
      let id = '';
      const ms = await timed(async () => {
        id = await startOurs(server, profile);
      });
      await closeOurs(server, id);
      return ms;
    };
    const sides = { ours: start('many'), floor: start('one') };
    await interleaved(1, sides);
    const medians = await interleaved(ROUNDS, sides);
    await stage.close();
    const what = `warm session start with ${MANY} external servers / with one`;
    return [{ what, unit: 'ms', ...medians, limit: 2 }];
  },
};
