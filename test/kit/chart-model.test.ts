import { describe, expect, test } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import { type ChartPath, chartModel } from './chart-model.ts';
import { Coverage } from './coverage.ts';
import { afterEvent, type Domain, doneEvent, errorEvent } from './domain.ts';
import { ManualClock } from './manual-clock.ts';
import { jobMachine, poolMachine, type Work } from './toy.ts';

const domain: Domain<typeof jobMachine> = {
  GO: [{ type: 'GO', text: 'x' }],
  CLOSE: [{ type: 'CLOSE' }],
  'xstate.done.actor.work': [doneEvent('work', { ok: true }), doneEvent('work', { ok: false })],
  'xstate.error.actor.work': [errorEvent('work')],
};
const job = chartModel(jobMachine, { domain, input: { name: 'x' } });

describe('paths', () => {
  const coverage = new Coverage();
  const delays: Record<string, number> = { workTimeout: 1_000, closeTimeout: 200 };

  /** A system around the chart that is only touched from outside: its methods, its promises, its clock. */
  async function run(path: ChartPath<typeof jobMachine>) {
    const clock = new ManualClock();
    let settle: PromiseWithResolvers<Work> | undefined;
    const work = fromPromise<Work>(() => {
      settle = Promise.withResolvers<Work>();
      return settle.promise;
    });
    const actor = createActor(jobMachine.provide({ actors: { work } }), {
      clock,
      input: { name: 'x' },
      inspect: coverage.inspect,
    });
    actor.start();
    const fire = ({ event }: { readonly event: { readonly type: string } }) =>
      clock.fire(delays[event.type.split('.')[2] ?? ''] ?? 0);
    const seen: unknown[] = [];
    await path.test({
      events: {
        GO: ({ event }) => actor.send({ type: 'GO', text: event.text }),
        CLOSE: () => actor.send({ type: 'CLOSE' }),
        'xstate.done.actor.work': ({ event }) => settle?.resolve(event.output),
        'xstate.error.actor.work': () => settle?.reject(new Error('rejected')),
        'xstate.after.workTimeout.job.working': fire,
        'xstate.after.closeTimeout.job.closing': fire,
      },
      states: {
        '*': async (state) => {
          await new Promise((resolve) => setImmediate(resolve));
          seen.push(actor.getSnapshot().value);
          expect(actor.getSnapshot().value).toEqual(state.value);
        },
      },
    });
    actor.stop();
    clock.assertEmpty();
    return seen;
  }

  test('replay on a real system and take every transition and state', async () => {
    for (const path of job.paths()) expect(await run(path)).toHaveLength(path.steps.length);
    expect(coverage.missing(jobMachine)).toEqual([]);
  });

  test('are the shortest ones, none inside another, titled by their events', () => {
    const titles = job.paths().map(({ title }) => title);
    expect(titles).toContain('CLOSE → after closeTimeout');
    expect(titles).not.toContain('CLOSE');
    expect(new Set(titles).size).toBe(titles.length);
    expect(titles.some((title) => title.includes('GO {"text":"x"} → done work {"output":{"ok":true}}'))).toBe(true);
  });

  test('a wrong system fails, with the path in the message', async () => {
    const [path] = job.paths();
    const wrong = path?.test({
      states: {
        closing: () => {
          throw new Error('still open');
        },
      },
    });
    await expect(wrong).rejects.toThrow(/still open[\s\S]*Path:[\s\S]*closing/);
  });

  test('prefixes: one shortest way to each state', () => {
    const places = job.prefixes().map(({ state }) => `${state.value} ${state.context.failures}`);
    expect(places[0]).toBe('idle 0');
    expect(new Set(places).size).toBe(places.length);
    expect(places).toContain('closed 2');
  });
});

describe('reachable', () => {
  test('has blocked guards and timers, and with `everywhere` the ignored events too', () => {
    const closing = (everywhere: boolean) =>
      job.reachable({ everywhere }).filter(({ state }) => state.matches('closing') && state.context.failures === 0);
    expect(closing(false).map(({ event }) => event.type)).toEqual([afterEvent('closeTimeout', 'job.closing').type]);
    const ignored = closing(true).filter(({ state, nextState }) => job.key(state) === job.key(nextState));
    expect(ignored.map(({ event }) => event.type)).toEqual(expect.arrayContaining(['GO', 'CLOSE']));
  });

  test('a projection folds states that differ in what does not matter', () => {
    const folded = chartModel(jobMachine, { domain, input: { name: 'x' }, project: () => null });
    expect(folded.reachable().length).toBeLessThan(job.reachable().length);
  });

  test('wildcards take their concrete events from the snapshot', () => {
    const ids = ['a', 'b'];
    const pool = chartModel(poolMachine, {
      domain: {
        ADD: ids.map((id) => ({ type: 'ADD', id })),
        POKE: [],
        'xstate.done.actor.*': (snapshot) => snapshot.context.ids.map((id) => doneEvent(id)),
        'xstate.error.actor.*': (snapshot) => snapshot.context.ids.map((id) => errorEvent(id)),
      },
    });
    const triples = pool.reachable();
    expect(triples.some(({ event }) => event.type === 'xstate.done.actor.b')).toBe(true);
    expect(triples.filter(({ state }) => state.context.ids.length === 2).length).toBeGreaterThan(0);
    expect(triples.every(({ state }) => Object.keys(state.children).length >= state.context.ids.length)).toBe(true);
  });
});

describe('complains', () => {
  test('of a descriptor without cases, naming chart, event and state', () => {
    const { CLOSE: _, ...rest } = domain;
    const lacking = chartModel(jobMachine, { domain: rest as typeof domain, input: { name: 'x' } });
    expect(() => lacking.paths()).toThrow(/chart "job" reacts to "CLOSE" in "idle".*'CLOSE': \[…\]/);
    const wild = chartModel(poolMachine, { domain: { ADD: [], POKE: [] } });
    expect(() => wild.reachable()).toThrow(/"xstate\.done\.actor\.\*".*function of the snapshot/);
  });

  test('of cases that the chart has no transition for', () => {
    const typo = chartModel(jobMachine, {
      domain: { ...domain, 'xstate.done.actor.wrok': [doneEvent('wrok')] },
      input: { name: 'x' },
    });
    expect(() => typo.paths()).toThrow('chart "job" has no transition for: xstate.done.actor.wrok');
  });

  test('of a chart that fails, and of one without bound', () => {
    expect(() => chartModel(jobMachine, { domain }).reachable()).toThrow(/chart "job" fails.*needs? an input/);
    expect(() => chartModel(jobMachine, { domain, input: { name: 'x' }, limit: 3 }).paths()).toThrow(/limit/i);
  });
});
