import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createActor, fromPromise, type InspectionEvent } from 'xstate';
import { Coverage } from './coverage.ts';
import { clearCoverage, loadCoverage, reportTable, saveCoverage, writeReport } from './coverage-report.ts';
import { ManualClock } from './manual-clock.ts';
import { drop, mutant } from './mutate.ts';
import { jobMachine, poolMachine } from './toy.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function closedJob(coverage: Coverage) {
  const clock = new ManualClock();
  const actor = createActor(jobMachine.provide({ actors: { work: fromPromise(() => new Promise(() => {})) } }), {
    clock,
    input: { name: 'x' },
    inspect: coverage.inspect,
  }).start();
  actor.send({ type: 'CLOSE' });
  clock.fire(200);
}

// xstate gives these with an underscore, as something private. Without them every gate below would be empty talk.
test('xstate still tells the transitions of each microstep, by their nodes', () => {
  const seen: InspectionEvent[] = [];
  const actor = createActor(jobMachine, {
    input: { name: 'x' },
    clock: new ManualClock(),
    inspect: (e) => seen.push(e),
  });
  actor.start();
  actor.send({ type: 'CLOSE' });
  const taken = seen.flatMap((event) => (event.type === '@xstate.microstep' ? event._transitions : []));
  expect(taken.map(({ source, eventType }) => [source.id, eventType])).toEqual([['job.idle', 'CLOSE']]);
});

test('a microstep without transitions makes every later answer an error, never a quiet pass', () => {
  const coverage = new Coverage();
  const { machine } = createActor(jobMachine, { input: { name: 'x' } }).getSnapshot();
  const snapshot = createActor(machine, { input: { name: 'x' } }).getSnapshot();
  coverage.inspect({ type: '@xstate.microstep', snapshot } as unknown as InspectionEvent);
  expect(() => coverage.missing(jobMachine)).toThrow('_transitions');
  expect(() => JSON.stringify(coverage)).toThrow('_transitions');
});

test('counts what provided copies of the chart take, initial state included', () => {
  const coverage = new Coverage();
  closedJob(coverage);
  const { states, transitions } = coverage.tally(jobMachine);
  expect(states.missing).toEqual(['job.working', 'job.judging']);
  expect(transitions.total - transitions.hit).toBe(transitions.missing.length);
  expect(coverage.missing(jobMachine)).toContain('transition job.idle | GO | 0 | job.working');
  expect(coverage.missing(jobMachine)).not.toContain('transition job.idle | CLOSE | 0 | job.closing');
});

test('sees a state that is left at once, and every actor of the system under its own chart', () => {
  const coverage = new Coverage();
  const clock = new ManualClock();
  const actor = createActor(poolMachine, { clock, inspect: coverage.inspect }).start();
  actor.send({ type: 'ADD', id: 'a' });
  actor.send({ type: 'POKE', id: 'a' });
  clock.fire(1_000);
  expect(coverage.tally(jobMachine).states.missing).toEqual(['job.closing', 'job.closed']);
  expect(coverage.tally(poolMachine).states.missing).toEqual([]);
});

test('a chart that gained a transition is not covered by what an older one took', () => {
  const coverage = new Coverage();
  const changed = mutant(jobMachine, (at) => drop(at('working').on, 'GO'));
  expect(coverage.tally(changed).transitions.total).toBe(coverage.tally(jobMachine).transitions.total - 1);
});

test('merges parts of several files into one report', () => {
  const root = mkdtempSync(join(tmpdir(), 'coverage-'));
  folders.push(root);
  const first = new Coverage();
  closedJob(first);
  saveCoverage(first, 'first', root);
  saveCoverage(new Coverage(), 'sub/second', root);
  const report = writeReport(loadCoverage(root), [jobMachine, poolMachine], root);
  expect(report.map(({ chart, states }) => [chart, states.hit])).toEqual([
    ['job', 4],
    ['pool', 0],
  ]);
  expect(JSON.parse(readFileSync(join(root, 'coverage', 'charts.json'), 'utf8'))).toEqual(report);
  expect(reportTable(report)).toContain('not taken: pool.open');
  clearCoverage(root);
  expect(loadCoverage(root).toJSON()).toEqual({});
});
