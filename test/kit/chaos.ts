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
import { SELECTION, TEST_DEADLINES, World } from './world.ts';

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
/** Ends that cut short what the charts would still have answered. */
const FORCING_DELAYS: readonly number[] = [TEST_DEADLINES.registryTimeout, TEST_DEADLINES.processTimeout];

interface Run {
  readonly world: World;
  readonly watch: Watch;
  readonly maxSessions: number;
  signals: number;
  isEnding: boolean;
  isForced: boolean;
}

function possibleMoves(run: Run, allowEnd: boolean): Move[] {
  const { world, watch, maxSessions } = run;
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
  for (const [delay, ids] of world.clock.pendingByDelay()) {
    for (const id of ids) {
      moves.push(() => {
        run.isForced ||= FORCING_DELAYS.includes(delay);
        world.clock.fireAny(id);
      });
    }
  }
  if (allowEnd)
    moves.push(
      () => end(run),
      () => signal(run),
    );
  return moves;
}

function end(run: Run): void {
  run.isEnding = true;
  run.world.app.end();
}

function signal(run: Run): void {
  run.signals += 1;
  run.isEnding = true;
  run.isForced ||= run.signals > 1;
  run.world.app.signal(STATUS_SIGINT);
}

/** Every adapter does its work, in order, as long as there is any. */
async function settleEverything({ world, watch }: Run): Promise<void> {
  for (let [call] = world.agent.calls; call !== undefined; [call] = world.agent.calls) {
    world.agent.settleCall(call, OUTCOMES[call.operation][0]);
    await world.flush();
    watch.check();
  }
}

/** First every deadline with silent adapters, then every late settlement. */
async function endSilently(run: Run): Promise<void> {
  const { world, watch } = run;
  end(run);
  await world.flush();
  watch.check();
  while (world.clock.size > 0) {
    const [first] = [...world.clock.pendingByDelay()].sort(([a], [b]) => a - b);
    world.clock.fireAny(first?.[1][0] ?? -1);
    await world.flush();
    watch.check();
  }
  watch.checkEnd();
  await settleEverything(run);
  watch.checkEnd();
  if (!run.isForced) watch.checkNobodyPutOff();
}

/**
 * @param choices One number a move; its lowest bit says whether the world may settle before the next one. Half of the
 * runs then let every adapter finish, before all of them end with silent ones.
 */
async function runChaos(maxSessions: number, choices: readonly number[]): Promise<void> {
  const world = new World();
  const watch = new Watch(world);
  const run: Run = { world, watch, maxSessions, signals: 0, isEnding: false, isForced: false };
  world.app.ready();
  // Most of what is interesting comes after a start, so half of the runs begin with one.
  if (((choices[0] ?? 0) & 2) !== 0) watch.started(await world.openSession());
  for (const choice of choices) {
    const moves = possibleMoves(run, choice % 11 === 0);
    moves[(choice >>> 2) % moves.length]?.();
    if ((choice & 1) === 0) await world.flush();
    watch.check();
  }
  await world.flush();
  if (choices.length % 2 === 0) {
    await settleEverything(run);
    if (!run.isEnding) watch.checkAnswered();
  }
  await endSilently(run);
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
