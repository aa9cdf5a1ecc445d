import { describe, expect, test } from 'vitest';
import { chartModel } from './chart-model.ts';
import { type Domain, doneEvent, errorEvent } from './domain.ts';
import { drop, invocation, mutant } from './mutate.ts';
import { describeState, describeTriple, isSettlement, isTimer, Reachable, statusOf } from './requirements.ts';
import { jobMachine } from './toy.ts';

const domain: Domain<typeof jobMachine> = {
  GO: [{ type: 'GO', text: 'x' }],
  CLOSE: [{ type: 'CLOSE' }],
  'xstate.done.actor.work': [doneEvent('work', { ok: true }), doneEvent('work', { ok: false })],
  'xstate.error.actor.work': [errorEvent('work')],
};
// Wrong charts may fail for ever: two failures are as many as matter.
const project = ({ failures }: { readonly failures: number }) => Math.min(failures, 2);
const explore = (machine = jobMachine) => new Reachable(chartModel(machine, { domain, input: { name: 'x' }, project }));
const over = (state: unknown) => statusOf(state) === 'done';
const isTimerOrClose = (triple: { readonly event: { readonly type: string } }) =>
  isTimer(triple) || triple.event.type === 'CLOSE';

describe('with silent adapters, CLOSE and timers always end the job', () => {
  test('on the chart', () => expect(explore().stuck(over, isTimerOrClose)).toEqual([]));

  test('not on a chart that forgot a deadline', () => {
    const forgetful = mutant(jobMachine, (at) => drop(at('closing').after, 'closeTimeout'));
    expect(explore(forgetful).stuck(over, isTimerOrClose).map(describeState)).toContain('closing');
  });
});

describe('avoiding is stricter than stuck', () => {
  const closing = (state: ReturnType<typeof explore>['states'][number]) => state.matches('closing') || over(state);

  test('timers may end every started job, but only those that failed once are sure to close', () => {
    const chart = explore();
    expect(chart.stuck((state) => state.matches('idle') || closing(state), isTimer)).toEqual([]);
    expect(chart.avoiding((state) => state.matches('idle') || closing(state), isTimer)).toEqual([]);
    expect(chart.stuck(closing)).toEqual([]);
    expect(chart.avoiding(closing).map(describeState)).toContain('idle');
  });
});

describe('nothing revives a closing job', () => {
  const revived = (machine = jobMachine) => {
    const chart = explore(machine);
    return chart.active().filter((s) => s.matches('closing') && chart.canReach(s, (next) => next.matches('idle')));
  };
  test('on the chart', () => expect(revived()).toEqual([]));
  test('a wrong target is seen', () => {
    const wrong = mutant(jobMachine, (at) => {
      at('closing').after = { closeTimeout: 'idle' };
    });
    expect(revived(wrong).length).toBeGreaterThan(0);
  });
});

test('triples and states read well', () => {
  const chart = explore();
  const settled = chart.triples.filter(isSettlement).map(describeTriple);
  expect(settled).toContain('working —done work→ idle');
  expect(chart.states.map(describeState)).toContain('closed (done)');
});

describe('a mutation', () => {
  test('leaves the original alone', () => {
    const before = explore().triples.length;
    mutant(jobMachine, (at) => drop(at('idle').on, 'CLOSE'));
    expect(explore().triples.length).toBe(before);
  });

  test('that changes nothing, or aims beside the chart, is an error', () => {
    expect(() => mutant(jobMachine, () => {})).toThrow('left chart "job" as it was');
    expect(() => mutant(jobMachine, (at) => drop(at('idle').on, 'ZZ'))).toThrow('nothing called "ZZ"');
    expect(() => mutant(jobMachine, (at) => drop(at('nowhere').on, 'GO'))).toThrow('no state "nowhere"');
    expect(() => mutant(jobMachine, (at) => invocation(at('idle'), 'work'))).toThrow('no invocation "work"');
  });

  test('may reach the root', () => {
    const moved = mutant(jobMachine, (at) => {
      at().initial = 'closing';
    });
    expect(moved.root.initial.target?.[0]?.key).toBe('closing');
  });
});
