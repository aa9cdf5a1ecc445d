import { afterAll, describe, expect, test } from 'vitest';
import { commandMachine } from '../../../src/machines/setup/command.machine.ts';
import type { CommandVerdict } from '../../../src/machines/setup/command.setup.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { applyCommandEvent, model, needsBrokenWatch, type State } from './domain.ts';
import { COMMAND_TEST_DEADLINES, CommandWorld, type ProcessOperation, TIMEOUT_MS } from './world.ts';

/** What the process is asked for while the chart is in a state, and which deadlines run. */
const EXPECTED: Readonly<Record<string, readonly [ProcessOperation | undefined, ...number[]]>> = {
  'guarded.live.spawning': ['spawn', TIMEOUT_MS],
  'guarded.live.running': [undefined, TIMEOUT_MS],
  'guarded.ending.checking': ['scan', COMMAND_TEST_DEADLINES.commandScanTimeout],
  'guarded.ending.terminating.signalling': ['terminate', COMMAND_TEST_DEADLINES.commandTerminateTimeout],
  'guarded.ending.terminating.looking': ['scan', COMMAND_TEST_DEADLINES.commandTerminateTimeout],
  'guarded.ending.terminating.pausing': [
    undefined,
    COMMAND_TEST_DEADLINES.commandLookDelay,
    COMMAND_TEST_DEADLINES.commandTerminateTimeout,
  ],
  'guarded.ending.killing': ['kill', COMMAND_TEST_DEADLINES.commandKillTimeout],
  'guarded.ending.scanning': ['scan', COMMAND_TEST_DEADLINES.commandScanTimeout],
  'guarded.retained.pausing': [undefined, COMMAND_TEST_DEADLINES.commandRetryDelay],
  'guarded.retained.killing': ['kill', COMMAND_TEST_DEADLINES.commandKillTimeout],
  'guarded.retained.scanning': ['scan', COMMAND_TEST_DEADLINES.commandScanTimeout],
  released: [undefined],
};

function dotted(value: unknown): string {
  if (typeof value === 'string') return value;
  const [[key, inner] = ['', '']] = Object.entries(value as object);
  return `${key}.${dotted(inner)}`;
}

/** What must have been said by now, from where the chart has been. */
function expectedAnswers(states: readonly State[]): object[] {
  const at = states.findIndex((state) => state.matches({ guarded: 'retained' }) || state.status === 'done');
  const told = states[at];
  if (!told) return [];
  const { end, code } = told.context;
  if (told.status !== 'done' || end === null) return [{ kind: 'retained' } satisfies Partial<CommandVerdict>];
  return [end === 'exited' ? { kind: end, code, stdout: 'printed', stderr: '' } : { kind: end }];
}

const coverage = new Coverage();
const paths = model().paths();

describe(`command: ${paths.length} generated paths`, () => {
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const watchFails = needsBrokenWatch(path.steps);
    const world = new CommandWorld({ inspect: coverage.inspect, watchFails });
    await world.run();
    const states: State[] = [];
    for (const { event, state } of path.steps) {
      if (event.type !== 'xstate.init') await applyCommandEvent(world, event);
      states.push(state);
      // The watch fails in the same step in which it begins.
      if (watchFails && state.matches({ guarded: 'live' })) continue;
      const where = dotted(state.value);
      const [work, ...deadlines] = EXPECTED[where] ?? expect.unreachable(where);
      expect(world.answers).toEqual(expectedAnswers(states));
      // What was given up may still be under way, but it is not the newest.
      if (work) expect(world.process.calls.at(-1)?.operation).toBe(work);
      expect([...world.clock.pendingByDelay().keys()].toSorted((a, b) => a - b)).toEqual(deadlines);
      expect(world.clock.size).toBe(deadlines.length);
      expect(world.process.isWatched).toBe(!watchFails && state.status === 'active');
    }
    expect(world.defects).toBe(0);
  });
});

test('every transition and state was taken', () => {
  expect(coverage.missing(commandMachine)).toEqual([]);
});

test('while a command is not over, no other one is started', async () => {
  const world = new CommandWorld();
  await world.run();
  await world.run();
  expect(world.answers).toEqual([{ kind: 'retained' }]);
  expect(world.process.history).toEqual([]);
  world.processes[0]?.settle('spawn', 'not_found');
  await world.flush();
  await world.run();
  expect(world.process.history).toEqual(['spawn']);
  expect(world.answers).toEqual([{ kind: 'retained' }, { kind: 'not_found' }]);
});

test('a chart that breaks is told about as retained, once, and what it held is killed', async () => {
  const world = new CommandWorld();
  await world.run();
  world.clock.setTimeout = () => {
    throw new Error('scripted failure');
  };
  world.guardian.stop();
  await world.flush();
  expect(world.defects).toBe(1);
  expect(world.process.history).toEqual(['spawn', 'kill']);
  expect(world.answers).toEqual([{ kind: 'retained' }]);
});

afterAll(() => saveCoverage(coverage, 'command'));
