/** What a guarded command ignores, or hears too late, changes nothing that anyone can see. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createCommandGuardian } from '../../../src/app/command-guardian.ts';
import type { GuardedProcess } from '../../../src/ports/setup/guarded-process.ts';
import type { ChartPath } from '../../kit/chart-model.ts';
import { effectsOf } from '../../kit/effects.ts';
import { describeState } from '../../kit/requirements.ts';
import { applyCommandEvent, type Command, model, needsBrokenWatch, SCANS } from './domain.ts';
import { CommandWorld, type CommandWorldOptions, type ProcessCall, type ProcessOperation } from './world.ts';

// The development build of xstate warns of each event to an actor that has ended; that is what is tried here.
beforeAll(() => vi.spyOn(console, 'warn').mockImplementation(() => {}));
afterAll(() => vi.restoreAllMocks());

type Path = ChartPath<Command>;

const REJECTS = Symbol('rejects');
const OUTCOMES: Readonly<Record<ProcessOperation, readonly unknown[]>> = {
  spawn: ['spawned', 'not_found', REJECTS],
  terminate: [undefined, REJECTS],
  kill: [undefined, REJECTS],
  scan: [...SCANS, undefined, REJECTS],
};

const STIMULI: readonly {
  readonly event: { readonly type: string };
  readonly act: (world: CommandWorld) => void;
}[] = [
  { event: { type: 'STOP' }, act: (world) => world.guardian.stop() },
  {
    event: { type: 'EXITED', code: 7 } as { type: string },
    act: (world) => world.process.news({ type: 'EXITED', code: 7 }),
  },
  { event: { type: 'OVERFLOW' }, act: (world) => world.process.news({ type: 'OVERFLOW' }) },
];

function observe({ answers, process, processes, clock, defects }: CommandWorld): string {
  return JSON.stringify({
    answers,
    asked: process.history,
    timers: [...clock.pendingByDelay()].map(([delay, ids]) => [delay, ids.length]).sort(),
    over: [process.isWatched, processes.length, defects],
  });
}

async function worldAt(path: Path, options: CommandWorldOptions): Promise<CommandWorld> {
  const world = new CommandWorld({ ...options, watchFails: needsBrokenWatch(path.steps) });
  await world.run();
  for (const { event } of path.steps.slice(1)) await applyCommandEvent(world, event);
  return world;
}

function staysPut(path: Path, event: { readonly type: string }): boolean {
  if ((path.state as { status: string }).status !== 'active') return true;
  const { state, spawned, deadlines } = effectsOf(path.state, event);
  return spawned.length + deadlines.length === 0 && model().key(state as never) === model().key(path.state);
}

/** Work that nobody waits for any more: everything but the newest call that the state itself has asked for. */
function lateCalls({ process }: CommandWorld, { state }: Path): readonly ProcessCall[] {
  const waitsFor = Object.keys(state.children).filter((id) => id !== 'watch');
  const newest = process.calls.at(-1);
  return process.calls.filter((call) => call !== newest || !waitsFor.includes(call.operation));
}

async function probeAll(options: CommandWorldOptions = {}, maxFailures = Number.POSITIVE_INFINITY) {
  const failures: string[] = [];
  const tried = { ignored: 0, late: 0 };
  const note = (what: string, path: Path, before: string, after: string): void => {
    if (before === after) return;
    failures.push(`${what} in ${describeState(path.state)} after ${path.title}: ${before} → ${after}`);
  };
  // A deadline and a rejection come to the same state, but only one of them leaves a call behind.
  for (const path of model().paths()) {
    if (failures.length >= maxFailures) break;
    for (const { event, act } of STIMULI.filter((each) => staysPut(path, each.event))) {
      const world = await worldAt(path, options);
      const before = observe(world);
      tried.ignored += 1;
      act(world);
      await world.flush();
      note(event.type, path, before, observe(world));
    }
    const late = lateCalls(await worldAt(path, options), path);
    for (const [index, { operation }] of late.entries()) {
      for (const outcome of OUTCOMES[operation]) {
        const world = await worldAt(path, options);
        const call = lateCalls(world, path)[index] ?? expect.unreachable('the world came out differently');
        const before = observe(world);
        tried.late += 1;
        if (outcome === REJECTS) call.reject(new Error('scripted rejection'));
        else call.resolve(outcome);
        await world.flush();
        note(`late ${operation} ${String(outcome)}`, path, before, observe(world));
      }
    }
  }
  return { ...tried, failures };
}

test('nothing that must not matter does', async () => {
  const { ignored, late, failures } = await probeAll();
  console.log(`command: ${ignored} ignored events and ${late} late settlements`);
  expect(failures).toEqual([]);
  expect(ignored).toBeGreaterThanOrEqual(200);
  expect(late).toBeGreaterThanOrEqual(200);
}, 60_000);

type Assemble = typeof createCommandGuardian;

const onProcess =
  (wrong: (process: GuardedProcess) => Partial<GuardedProcess>): Assemble =>
  (options) => {
    const guardian = createCommandGuardian(options);
    return {
      ...guardian,
      run: (process, timeoutMs) => {
        const whole = { ...process, watch: process.watch.bind(process), output: process.output };
        guardian.run({ ...whole, ...wrong(whole) }, timeoutMs);
      },
    };
  };

/** Guardians that somebody has made a mistake in. */
const NAIVE: Readonly<Record<string, Assemble>> = {
  'a look that comes too late is answered': (options) => {
    const assemble = onProcess(({ scan }) => ({
      scan: async () => {
        const outcome = await scan();
        if (outcome === 'clear') options.answer({ kind: 'interrupted' });
        return outcome;
      },
    }));
    return assemble(options);
  },
  'a spawn that comes too late is killed': onProcess((process) => ({
    spawn: async () => {
      const outcome = await process.spawn();
      if (outcome === 'spawned') void process.kill();
      return outcome;
    },
  })),
  'every stop is a signal': (options) => {
    let last: GuardedProcess | undefined;
    const guardian = onProcess((process) => {
      last = process;
      return {};
    })(options);
    return {
      ...guardian,
      stop: () => {
        void last?.terminate();
        guardian.stop();
      },
    };
  },
};

describe('the probes see that', () => {
  test.each(Object.entries(NAIVE))('%s', async (_, assemble) => {
    expect((await probeAll({ assemble }, 1)).failures).not.toEqual([]);
  });
});
