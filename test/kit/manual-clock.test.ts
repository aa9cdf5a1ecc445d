import { expect, test } from 'vitest';
import { createActor } from 'xstate';
import { ManualClock } from './manual-clock.ts';
import { jobMachine } from './toy.ts';

function started() {
  const clock = new ManualClock(10);
  const fired: string[] = [];
  const set = (name: string, ms: number) => clock.setTimeout(() => fired.push(name), ms);
  return { clock, fired, set };
}

test('fires the oldest timer of a delay, and each one once', () => {
  const { clock, fired, set } = started();
  set('a', 5);
  set('b', 5);
  clock.fire(5);
  clock.fire(5);
  expect(fired).toEqual(['a', 'b']);
  expect(() => clock.fire(5)).toThrow('no pending timer of 5 ms; pending: none');
});

test('any pending timer may come first, and time follows the one that did', () => {
  const { clock, fired, set } = started();
  const early = set('early', 5);
  const late = set('late', 50);
  clock.fireAny(late);
  expect(clock.now()).toBe(60);
  clock.fireAny(early);
  expect(clock.now(), 'time does not go back').toBe(60);
  expect(fired).toEqual(['late', 'early']);
  expect(() => clock.fireAny(late)).toThrow(`no pending timer with id ${late}`);
});

test('lists what is pending by delay, in order, without what was cleared', () => {
  const { clock, set } = started();
  const first = set('first', 7);
  const second = set('second', 7);
  clock.clearTimeout(set('cleared', 9));
  expect([...clock.pendingByDelay()]).toEqual([[7, [first, second]]]);
  expect(clock.size).toBe(2);
  expect(() => clock.assertEmpty('after close')).toThrow(
    `timers still pending after close: 7 ms (${first}, ${second})`,
  );
});

test('advance moves time alone; it refuses to go back', () => {
  const { clock, fired, set } = started();
  set('a', 5);
  clock.advance(100);
  expect([clock.now(), fired]).toEqual([110, []]);
  expect(() => clock.advance(-1)).toThrow('time does not go back');
});

test('elapse fires what falls due, in order of time, also what is started on the way', () => {
  const { clock, fired, set } = started();
  set('second', 20);
  clock.setTimeout(() => set('third', 15), 10);
  set('beyond', 31);
  clock.elapse(30);
  expect(fired).toEqual(['second', 'third']);
  expect(clock.now()).toBe(40);
});

test('is the clock of a chart', () => {
  const clock = new ManualClock();
  const actor = createActor(jobMachine, { clock, input: { name: 'x' } }).start();
  actor.send({ type: 'CLOSE' });
  clock.fire(200);
  expect(actor.getSnapshot().status).toBe('done');
  clock.assertEmpty();
});
