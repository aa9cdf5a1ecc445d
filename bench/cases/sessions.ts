import { spawn } from 'node:child_process';
import { closeOurs, closeRaw, startOurs, startRaw, turnOurs, turnRaw } from '../exchange.ts';
import { type Benchmark, interleaved, timed } from '../measure.ts';
import type { RpcProcess } from '../rpc-process.ts';
import { openStage, RAW_FIRST_SESSION, type Stage } from '../stage.ts';

const WARM_UP = 1_000;
const ROUNDS = 400;
const FIRST_ROUNDS = 9;

type Exchange = (server: RpcProcess) => Promise<number>;

/** Both sides in one run, on servers that are warm. */
async function compare(ours: Exchange, raw: Exchange): Promise<{ readonly ours: number; readonly floor: number }> {
  const stage = await openStage();
  const [server, floor] = [stage.ours(), stage.raw()];
  await Promise.all([server.initialize(), floor.initialize()]);
  const sides = { ours: () => ours(server), floor: () => raw(floor) };
  await interleaved(WARM_UP, sides);
  const medians = await interleaved(ROUNDS, sides);
  await stage.close();
  return medians;
}

export const sessionStart: Benchmark = {
  name: 'session-start',
  async run() {
    const medians = await compare(
      async (server) => {
        let id = '';
        const ms = await timed(async () => {
          id = await startOurs(server);
        });
        await closeOurs(server, id);
        return ms;
      },
      async (server) => {
        let id = '';
        const ms = await timed(async () => {
          id = await startRaw(server);
        });
        await closeRaw(server, id);
        return ms;
      },
    );
    return [{ what: 'warm session start / raw Pi behind a bare server', unit: 'ms', ...medians, limit: 1.5 }];
  },
};

export const turn: Benchmark = {
  name: 'turn',
  async run() {
    const medians = await compare(
      async (server) => {
        const id = await startOurs(server);
        const ms = await timed(() => turnOurs(server, id));
        await closeOurs(server, id);
        return ms;
      },
      async (server) => {
        const id = await startRaw(server);
        const ms = await timed(() => turnRaw(server, id));
        await closeRaw(server, id);
        return ms;
      },
    );
    return [
      { what: 'prompt to polled end of turn / raw Pi behind a bare server', unit: 'ms', ...medians, limit: 1.15 },
    ];
  },
};

async function firstOurs(stage: Stage): Promise<number> {
  const server = stage.ours();
  await server.initialize();
  const ms = await timed(() => startOurs(server));
  await server.kill();
  return ms;
}

function firstRaw({ env, workspace }: Stage): Promise<number> {
  const child = spawn(process.execPath, [RAW_FIRST_SESSION, workspace], { env: { ...env } });
  return new Promise((resolve) => child.stdout.once('data', (text: Buffer) => resolve(Number(text.toString()))));
}

export const firstSession: Benchmark = {
  name: 'first-session',
  async run() {
    const stage = await openStage();
    const sides = { ours: () => firstOurs(stage), floor: () => firstRaw(stage) };
    await interleaved(1, sides);
    const medians = await interleaved(FIRST_ROUNDS, sides);
    await stage.close();
    return [{ what: 'first session of a process / raw Pi import + session', unit: 'ms', ...medians, limit: 1.1 }];
  },
};
