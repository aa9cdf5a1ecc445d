/**
 * Two runs against one lock, one store and one client, in any order of their
 * calls, with a hand from outside, a client that lies, and interruptions. What
 * each run is told is judged by its referee; what is left is judged by the end.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RunResult } from '../../../src/ports/setup/run.ts';
import type { Operation } from '../../../src/ports/setup/target.ts';
import { type Entry, Lab, type LabRun, runIn, settle } from './lab.ts';
import { type Ask, CHANGES, type PortCall } from './port-calls.ts';
import { CODEX, hookRecord, registrationRecord, SKILL, skillRecord, WOKEN } from './world.ts';

const OPERATIONS: readonly Operation[] = ['apply', 'remove', 'rollback', 'dry-run', 'verify'];
const SEED = Number(process.env['SEED'] ?? 20_261_130);
const RUNS = Number(process.env['SETUP_INTERLEAVINGS'] ?? 1_500);
const LONG_ENOUGH = 400;

interface Held {
  readonly call: PortCall;
  readonly go: () => void;
}

interface Player {
  readonly run: LabRun;
  readonly held: Held[];
  result: RunResult | undefined;
  isInterrupted: boolean;
}

interface Plan {
  readonly operations: readonly [Operation, Operation];
  readonly choices: readonly number[];
  /** The client undoes or ignores what it is asked for. */
  readonly lies: boolean;
  /** Somebody edits the client's entry and the copy by hand. */
  readonly hand: boolean;
  readonly interrupts: boolean;
  readonly start: 'empty' | 'applied';
}

/** Each call waits until it is its turn; then it takes effect at once. */
function play(lab: Lab, operation: Operation, between: (ask: Ask) => Ask): Player {
  const held: Held[] = [];
  const queue =
    (ask: Ask): Ask =>
    (call) =>
      new Promise((resolve, reject) => {
        held.push({ call, go: () => void between(ask)(call).then(resolve, reject) });
      });
  const run = runIn(lab, { operation, targets: [WOKEN, CODEX], between: queue });
  const player: Player = { run, held, result: undefined, isInterrupted: false };
  void run.result.then((result) => {
    player.result = result;
  });
  return player;
}

const ENTRIES: readonly Entry[] = ['foreign', null, 'ours'];
const PLUGINS = ['foreign', null, 'ours', 'disabled'] as const;

async function chaos({ operations, choices, lies, hand, interrupts, start }: Plan): Promise<void> {
  const isApplied = start === 'applied';
  const lab = new Lab({
    records: isApplied ? [registrationRecord(WOKEN), skillRecord(WOKEN), hookRecord()] : [],
    entries: { 'claude-code user': isApplied ? 'ours' : null, 'claude-code project': 'foreign' },
    slot: isApplied ? { kind: 'tree', fingerprint: SKILL, hidden: false } : { kind: 'absent' },
    hook: isApplied ? { files: 'ours', plugin: 'ours' } : { files: null, plugin: null },
  });
  const client =
    (ask: Ask): Ask =>
    async (call) => {
      const before = new Map(lab.entries);
      const { plugin } = lab.hook;
      const outcome = await ask(call);
      const isLie = lies && (choices[0] ?? 0) % 2 === 1;
      const isUndone = isLie && (call.name === 'add' || call.name === 'remove');
      if (isUndone) for (const [key, entry] of before) lab.entries.set(key, entry);
      if (isLie && (call.name === 'installHook' || call.name === 'uninstallHook')) lab.hook.plugin = plugin;
      return outcome;
    };
  const players = operations.map((operation) => play(lab, operation, client));
  await settle();
  for (const choice of [...choices, ...Array.from({ length: LONG_ENOUGH }, (_, index) => index * 8)]) {
    if (players.every(({ result }) => result)) break;
    const player = players[choice & 1] as Player;
    const kind = (choice >>> 1) % 16;
    if (hand && kind === 1) lab.entries.set('claude-code user', ENTRIES[(choice >>> 5) % 3] ?? null);
    else if (hand && kind === 3) lab.hook.plugin = PLUGINS[(choice >>> 5) % 4] ?? null;
    else if (interrupts && kind === 2 && !player.isInterrupted && !player.result) {
      player.isInterrupted = true;
      player.run.interrupt();
    } else {
      const other = players[1 - (choice & 1)] as Player;
      const turn = player.held.shift() ?? other.held.shift();
      turn?.go();
    }
    await settle();
    const changing = players.filter(({ held }) => held.some(({ call }) => CHANGES.includes(call.name)));
    expect(changing.length, 'two runs change something at once').toBeLessThanOrEqual(1);
  }
  for (const player of players) {
    expect(player.run.referee.violations).toEqual([]);
    expect(player.result, 'a run that does not end').toBeDefined();
    player.run.clock.assertEmpty();
    if (player.isInterrupted) expect(player.result?.exit).toBe(130);
  }
  expect(lab.holder).toBeUndefined();
  expect(lab.entries.get('claude-code project')).toBe('foreign');
  if (!hand && !lies && !interrupts) expectSettled(lab, players);
}

/** Undisturbed, a run that applied or removed last has what it wanted. */
function expectSettled(lab: Lab, players: readonly Player[]): void {
  for (const { result } of players) {
    expect(result?.findings.every(({ code }) => code !== 'apply_failed_recovery_pending')).toBe(true);
  }
  const entry = lab.entries.get('claude-code user') ?? null;
  const record = lab.record(WOKEN.registration);
  expect(record ? record.phase : null).toBe(entry === null ? null : 'owned');
  const hook = lab.record(hookRecord());
  expect(hook ? hook.phase : null).toBe(lab.hook.plugin === null ? null : 'owned');
}

const plan: fc.Arbitrary<Plan> = fc.record({
  operations: fc.tuple(fc.constantFrom(...OPERATIONS), fc.constantFrom(...OPERATIONS)),
  choices: fc.array(fc.nat(), { maxLength: 80, size: 'max' }),
  lies: fc.boolean(),
  hand: fc.boolean(),
  interrupts: fc.boolean(),
  start: fc.constantFrom('empty', 'applied'),
});

describe(`${RUNS} interleavings of two runs, seed ${SEED}`, () => {
  test('nothing that is promised is broken', { timeout: 600_000 }, async () => {
    await fc.assert(fc.asyncProperty(plan, chaos), { numRuns: RUNS, seed: SEED });
  });
});
