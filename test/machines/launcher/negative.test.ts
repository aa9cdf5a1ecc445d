/** What a launcher ignores, or hears too late, changes nothing that anyone can see. */
import { describe, expect, test } from 'vitest';
import { createLauncherRun } from '../../../src/app/launcher-run.ts';
import type { ChartPath } from '../../kit/chart-model.ts';
import { describeState } from '../../kit/requirements.ts';
import { actorOf, applyLauncherEvent, type Launcher, model, OUTCOMES } from './domain.ts';
import { LauncherWorld, type LauncherWorldOptions } from './world.ts';

const REJECTS = Symbol('rejects');

/** All that can be seen from outside, but for the probe itself: what was asked for, timers, watchers, the result. */
function observe(world: LauncherWorld): string {
  const asked = world.log.filter(({ kind }) => kind === 'asked' || kind === 'end' || kind === 'remove');
  return JSON.stringify([asked, [...world.clock.pendingByDelay()], world.watchers, world.result]);
}

async function worldAt(path: ChartPath<Launcher>, options: LauncherWorldOptions): Promise<LauncherWorld> {
  const watchFails = path.steps.some(({ event }) => event.type === 'xstate.error.actor.watchInput');
  const world = new LauncherWorld({ ...options, watchFails });
  for (const { event } of path.steps.slice(1)) await applyLauncherEvent(world, event);
  return world;
}

/** What does nothing in this state: a second signal, the end of stdin where nobody listens, anything at the end. */
function ignored({ state }: ChartPath<Launcher>): ((world: LauncherWorld) => Promise<void>)[] {
  const isOver = state.status === 'done';
  const signal = (world: LauncherWorld) => world.signal(129);
  return [
    ...(isOver || state.context.signalled !== null ? [signal] : []),
    ...(isOver || !state.matches({ boxed: 'running' }) ? [(world: LauncherWorld) => world.endInput()] : []),
  ];
}

/** The same path, but for its renewal, which takes longer than anybody waits. */
function withoutAnswer(path: ChartPath<Launcher>): ChartPath<Launcher> {
  const type = 'xstate.after.renewalPatience.launcher.preparing.renewing';
  const steps = path.steps.map((step) => {
    const goesOn = step.event.type === 'xstate.done.actor.renew' && step.state.matches({ preparing: 'planning' });
    return goesOn ? { ...step, event: { type } } : step;
  });
  return { ...path, steps };
}

async function probeAll(options: LauncherWorldOptions = {}) {
  const failures: string[] = [];
  const tried = { ignored: 0, late: 0 };
  const prefixes = model().prefixes();
  for (const path of [...prefixes, ...prefixes.map(withoutAnswer)]) {
    const where = describeState(path.state);
    for (const act of ignored(path)) {
      const world = await worldAt(path, options);
      const before = observe(world);
      await act(world);
      tried.ignored += 1;
      if (observe(world) !== before) failures.push(`in ${where}: ${before} → ${observe(world)}`);
    }
    const late = (await worldAt(path, options)).calls.filter(({ step }) => !(actorOf(step) in path.state.children));
    for (const { step } of late) {
      for (const outcome of [...OUTCOMES[step], undefined, REJECTS]) {
        const world = await worldAt(path, options);
        const before = observe(world);
        await (outcome === REJECTS ? world.fail(step) : world.settle(step, outcome));
        tried.late += 1;
        if (observe(world) !== before) failures.push(`late ${step} in ${where}: ${before} → ${observe(world)}`);
      }
    }
  }
  return { ...tried, failures };
}

test('nothing that must not matter does', async () => {
  const { ignored: events, late, failures } = await probeAll();
  console.log(`launcher: ${events} ignored events and ${late} late settlements`);
  expect(failures).toEqual([]);
  expect(events).toBeGreaterThanOrEqual(40);
  expect(late).toBeGreaterThanOrEqual(30);
}, 60_000);

/** Launchers that somebody has made a mistake in. */
const NAIVE: Readonly<Record<string, typeof createLauncherRun>> = {
  'a second signal removes the box at once': (port, options) => {
    const run = createLauncherRun(port, options);
    let signals = 0;
    const signal = (status: number): void => {
      run.signal(status);
      signals += 1;
      if (signals > 1) port.remove();
    };
    return { ...run, signal };
  },
  'a lock that comes too late is used': (port, options) =>
    createLauncherRun(
      {
        ...port,
        claim: async (signal) => {
          const claim = await port.claim(signal);
          if (signal.aborted && claim === 'held') void port.start();
          return claim;
        },
      },
      options,
    ),
};

describe('the probes see that', () => {
  test.each(Object.entries(NAIVE))('%s', async (_, assemble) => {
    expect((await probeAll({ assemble })).failures).not.toEqual([]);
  });
});
