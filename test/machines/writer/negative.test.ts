/** What a run ignores, or hears too late, changes nothing that anyone can see. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { runWriter } from '../../../src/app/writer-run.ts';
import type { WriterInput } from '../../../src/ports/writers/lifecycle.ts';
import type { ChartPath } from '../../kit/chart-model.ts';
import { describeState } from '../../kit/requirements.ts';
import { successOf, WriterWorld, type WriterWorldOptions } from '../../kit/scripted-writer.ts';
import { applyWriterEvent, INPUTS, type Writer, writerModel } from './domain.ts';
import { enter, plansOf } from './entrances.ts';

// The development build of xstate warns of each event to an actor that has ended; that is what is tried here.
beforeAll(() => vi.spyOn(console, 'warn').mockImplementation(() => {}));
afterAll(() => vi.restoreAllMocks());

const REJECTS = Symbol('rejects');

function observe({ history, live, code, clock }: WriterWorld): string {
  return JSON.stringify([history, live.map(({ name }) => name), code, clock.size]);
}

async function worldAt(input: WriterInput, path: ChartPath<Writer>, options: WriterWorldOptions): Promise<WriterWorld> {
  const world = new WriterWorld(input, options);
  for (const { event } of path.steps) await applyWriterEvent(world, event);
  return world;
}

/** Calls that were given up, each settled in every way that it might. */
async function tryLate(make: () => Promise<WriterWorld>, where: string, failures: string[]): Promise<number> {
  const late = (world: WriterWorld) => world.calls.filter(({ signal }) => signal?.aborted);
  const first = await make();
  let tried = 0;
  for (const [index, { name }] of late(first).entries()) {
    for (const outcome of [successOf(name), { ok: false }, undefined, REJECTS]) {
      const world = await make();
      const call = late(world)[index];
      if (!call) throw new Error('the world came out differently the second time');
      const before = observe(world);
      if (outcome === REJECTS) await world.fail(call);
      else await world.settle(call, outcome);
      tried += 1;
      if (observe(world) !== before) failures.push(`late ${name} ${where}: ${before} → ${observe(world)}`);
    }
  }
  return tried;
}

async function probe(options: WriterWorldOptions = {}) {
  const failures: string[] = [];
  const tried = { ignored: 0, late: 0 };
  for (const input of INPUTS) {
    for (const path of writerModel(input)
      .prefixes()
      .filter(({ state }) => !state.matches('idle'))) {
      const where = describeState(path.state);
      const state = path.state as AnyMachineSnapshot;
      if (!state.matches('working')) {
        const world = await worldAt(input, path, options);
        const before = observe(world);
        await world.interrupt();
        tried.ignored += 1;
        if (observe(world) !== before) failures.push(`INTERRUPT in ${where}: ${before} → ${observe(world)}`);
      }
      tried.late += await tryLate(() => worldAt(input, path, options), `in ${where}`, failures);
    }
  }
  // A step of a child chart that was interrupted.
  for (const entrance of plansOf('provision', 'collect', 'restart', 'remove')) {
    const make = async () => {
      const world = await enter(entrance, options);
      await world.interrupt();
      return world;
    };
    tried.late += await tryLate(make, `after ${entrance.plan.kind} was interrupted`, failures);
    const released = async () => {
      const world = await make();
      await world.succeed('quiesce');
      await world.succeed('release');
      return world;
    };
    tried.late += await tryLate(released, `after ${entrance.plan.kind} ended`, failures);
  }
  return { ...tried, failures };
}

test('nothing that must not matter does', async () => {
  const { ignored, late, failures } = await probe();
  console.log(`writer: ${ignored} ignored events and ${late} late settlements`);
  expect(failures).toEqual([]);
  expect(ignored).toBeGreaterThanOrEqual(100);
  expect(late).toBeGreaterThanOrEqual(100);
}, 60_000);

/** Runs that somebody has made a mistake in. */
const NAIVE: Readonly<Record<string, typeof runWriter>> = {
  'each interruption lets go again': (port, input, options) => {
    const run = runWriter(port, input, options);
    const interrupt = (): void => {
      run.interrupt();
      void port.release();
    };
    return { ...run, interrupt };
  },
  'a step that comes too late is recorded': (port, input, options) =>
    runWriter(
      {
        ...port,
        clone: async (signal) => {
          const outcome = await port.clone(signal);
          if (signal.aborted) void port.record('preparing', signal);
          return outcome;
        },
      },
      input,
      options,
    ),
  'a fence that comes too late is used': (port, input, options) =>
    runWriter(
      {
        ...port,
        fence: async (signal) => {
          const fence = await port.fence(signal);
          if (signal.aborted) void port.read(signal);
          return fence;
        },
      },
      input,
      options,
    ),
};

describe('the probes see that', () => {
  test.each(Object.entries(NAIVE))('%s', async (_, assemble) => {
    expect((await probe({ assemble })).failures).not.toEqual([]);
  });
});
