import { startOurs } from '../exchange.ts';
import { type Benchmark, interleaved, type Row, timed } from '../measure.ts';
import type { RpcProcess } from '../rpc-process.ts';
import { openStage } from '../stage.ts';

const SESSIONS = 100;
const ROUNDS = 1_000;

/** A hundred sessions, one of them with an ended turn. */
async function populate(server: RpcProcess): Promise<{ sessionId: string; turnId: string }> {
  for (let index = 1; index < SESSIONS; index += 1) await startOurs(server);
  const sessionId = await startOurs(server);
  const { turn } = (await server.call('pi_session_prompt', { sessionId, prompt: 'Go.' })) as {
    turn: { turnId: string };
  };
  return { sessionId, turnId: turn.turnId };
}

export const reads: Benchmark = {
  name: 'reads',
  async run() {
    const stage = await openStage();
    const ours = stage.ours();
    const bare = stage.bare();
    await Promise.all([ours.initialize(), bare.initialize()]);
    const { sessionId, turnId } = await populate(ours);
    const look = () => timed(() => bare.call('look', { id: sessionId }));
    const rows: Row[] = [];
    const compare = async (tool: string, args: Record<string, string>, limit?: number): Promise<void> => {
      // Call by call: in blocks, one side's processes sleep deeper than the other's, and that is what would be measured.
      const sides = { ours: () => timed(() => ours.call(tool, args)), floor: look };
      // Lets the JIT compiler finish on both sides.
      await interleaved(ROUNDS, sides);
      const medians = await interleaved(ROUNDS, sides);
      rows.push({ what: `${tool} / bare tool`, unit: 'ms', ...medians, ...(limit !== undefined && { limit }) });
    };
    await compare('pi_session_get', { sessionId }, 1.3);
    await compare('pi_turn_get', { sessionId, turnId }, 1.3);
    await compare('pi_capabilities_get', {}, 1.3);
    await compare('pi_session_list', {});
    await stage.close();
    return rows;
  },
};
