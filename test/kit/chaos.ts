/**
 * One run of the real assembly in virtual time under an arbitrary order of
 * client requests, adapter settlements, deadlines and shutdown. A run is a list
 * of numbers, each picking one of the moves that are possible just then, so that
 * a failing run shrinks and can be replayed.
 */
import fc from 'fast-check';
import { describe, test } from 'vitest';
import type { Call, Operation } from './scripted-agent.ts';
import { Watch } from './watch.ts';
import { SELECTION, World } from './world.ts';

type Move = () => void;

const STATUS_SIGINT = 130;

/** What each call of the agent may come to. */
const OUTCOMES: Readonly<Record<Operation, readonly unknown[]>> = {
  selectModel: [{ ok: true }, { ok: false, code: 'unknown_model', stage: 'model' }],
  checkAuthentication: [{ ok: true }, { ok: false, code: 'local_authentication_missing', stage: 'check_auth' }],
  readAuthentication: [{ ok: true }],
  checkAvailability: [{ ok: true }, { ok: false, code: 'model_unavailable', stage: 'availability' }],
  connectTools: [{ ok: true }],
  createSession: [
    { ok: true, selection: SELECTION },
    { ok: false, code: 'execution_selection_mismatch', stage: 'postcheck' },
  ],
  admitPrompt: [{ disposition: 'started' }, { disposition: 'started' }, { disposition: 'refused' }],
  settlePrompt: [undefined],
  runTurn: [{ state: 'completed', assistantText: 'done', truncated: false }, { state: 'failed' }, { state: 'aborted' }],
  abortTurn: [{ ok: true }, { ok: false }],
  disposeSession: [undefined],
};

function settlements(world: World, call: Call): Move[] {
  const good = OUTCOMES[call.operation].map((outcome) => () => world.agent.settleCall(call, outcome));
  return [...good, () => world.agent.rejectCall(call)];
}

/** Everything that could happen next, in a stable order. */
function possibleMoves(world: World, watch: Watch, maxSessions: number, allowEnd: boolean): Move[] {
  const moves: Move[] = [];
  if (watch.sessions.length < maxSessions) moves.push(() => watch.started(world.start()));
  for (const id of watch.sessions) {
    moves.push(() => watch.prompted(world.prompt(id)));
    moves.push(() => world.abort(id));
    moves.push(() => world.close(id));
  }
  for (const turnId of watch.turns.keys()) {
    moves.push(() => {
      world.clock.advance(1);
      watch.active(turnId);
      world.agent.activity(turnId);
    });
  }
  for (const call of world.agent.calls) moves.push(...settlements(world, call));
  for (const ids of world.clock.pendingByDelay().values()) {
    for (const id of ids) moves.push(() => world.clock.fireAny(id));
  }
  if (allowEnd) {
    moves.push(() => world.app.end());
    moves.push(() => world.app.signal(STATUS_SIGINT));
  }
  return moves;
}

/** Lets the run end: first every deadline with silent adapters, then every late settlement. */
async function quiesce(world: World, watch: Watch): Promise<void> {
  world.app.end();
  await world.flush();
  watch.check();
  while (world.clock.size > 0) {
    const [ids] = [...world.clock.pendingByDelay().entries()].sort(([a], [b]) => a - b).map(([, each]) => each);
    world.clock.fireAny(ids?.[0] ?? -1);
    await world.flush();
    watch.check();
  }
  watch.checkEnd();
  for (const call of [...world.agent.calls]) world.agent.settleCall(call, OUTCOMES[call.operation][0]);
  await world.flush();
  watch.check();
  watch.checkEnd();
}

/** @param choices One number a move; its lowest bit says whether the world may settle before the next one. */
export async function runChaos(maxSessions: number, choices: readonly number[]): Promise<void> {
  const world = new World();
  const watch = new Watch(world);
  world.app.ready();
  // Most of what is interesting comes after a start, so half of the runs begin with one.
  if (((choices[0] ?? 0) & 2) !== 0) {
    watch.started(await world.openSession());
  }
  for (const choice of choices) {
    const moves = possibleMoves(world, watch, maxSessions, choice % 11 === 0);
    moves[(choice >>> 2) % moves.length]?.();
    if ((choice & 1) === 0) await world.flush();
    watch.check();
  }
  await quiesce(world, watch);
}

const SEED = Number(process.env['SEED'] ?? 20_261_130);
/** Over all files; a nightly run may want more. */
const RUNS = Number(process.env['INTERLEAVINGS'] ?? 100_000);
const FILES = 2;
const PARTS = 10;

/** One file's share of the runs, in parts that report their progress. */
export function interleavings(maxSessions: number): void {
  const runsPerPart = Math.ceil(RUNS / FILES / PARTS);
  const choices = fc.array(fc.nat(), { minLength: 1, maxLength: 40, size: 'max' });
  describe(`${runsPerPart * PARTS} interleavings, at most ${maxSessions} session(s), seed ${SEED}`, () => {
    test.each(Array.from({ length: PARTS }, (_, part) => part))('part %i', { timeout: 1_200_000 }, async (part) => {
      const run = fc.asyncProperty(choices, (each) => runChaos(maxSessions, each));
      await fc.assert(run, { numRuns: runsPerPart, seed: SEED + part });
    });
  });
}
