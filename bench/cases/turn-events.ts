import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { closeOurs, startOurs, turnOurs } from '../exchange.ts';
import { type Benchmark, interleaved, timed } from '../measure.ts';
import { openStage, type Stage } from '../stage.ts';

const WARM_UP = 300;
const ROUNDS = 400;

/** Turns the events of a stage on, before its servers start. */
function enableEvents({ env }: Stage): void {
  const modes = join(dirname(env['PI_SESSION_MCP_CONFIG'] ?? ''), 'execution-modes.json');
  writeFileSync(modes, JSON.stringify({ ...JSON.parse(readFileSync(modes, 'utf8')), turnEvents: true }));
}

/** The same server with and without, in one run; the model of each runs in a process of its own. */
export const turnEvents: Benchmark = {
  name: 'turn-events',
  async run() {
    const stages = [await openStage(), await openStage()] as const;
    enableEvents(stages[0]);
    const [on, off] = stages.map((stage) => stage.ours());
    if (!on || !off) throw new Error('a stage has a server');
    await Promise.all([on.initialize(), off.initialize()]);
    const turnOf = (server: typeof on) => async () => {
      const id = await startOurs(server);
      const ms = await timed(() => turnOurs(server, id));
      await closeOurs(server, id);
      return ms;
    };
    const sides = { on: turnOf(on), off: turnOf(off) };
    await interleaved(WARM_UP, sides);
    const medians = await interleaved(ROUNDS, sides);
    for (const stage of stages) await stage.close();
    return [
      { what: 'turn with events on, beyond one without', unit: 'ms', ours: medians.on - medians.off, limit: 1 },
      { what: 'turn with events on / without', unit: 'ms', ours: medians.on, floor: medians.off },
    ];
  },
};
