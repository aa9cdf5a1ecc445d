/** `npm run bench [-- name…]`: ratios against floors, each measured in one run (docs/benchmarks.md). */

import { availableParallelism, loadavg } from 'node:os';
import { grants } from './cases/grants.ts';
import { heap, idleMemory } from './cases/memory.ts';
import { exit, load } from './cases/process.ts';
import { reads } from './cases/reads.ts';
import { firstSession, sessionStart, turn } from './cases/sessions.ts';
import { setupApply } from './cases/setup.ts';
import { startup } from './cases/startup.ts';
import { turnEvents } from './cases/turn-events.ts';
import { type Benchmark, judged, passes, type Row } from './measure.ts';

const BENCHMARKS: readonly Benchmark[] = [
  startup,
  idleMemory,
  reads,
  sessionStart,
  turn,
  turnEvents,
  firstSession,
  grants,
  exit,
  load,
  heap,
  setupApply,
];
const NAMES = BENCHMARKS.map((benchmark) => benchmark.name);
const HELP = `Usage: npm run bench [-- name…]

Measures the built server against floors that are measured in the same run.
Exit status: 0 when every limit holds, 1 when one does not, 64 on misuse.
Names: ${NAMES.join(' ')}`;

const HEADER = ['', 'ours', 'floor', 'unit', 'judged', 'limit', ''];
const WIDTHS = [60, 9, 9, 6, 8, 8, 5];

function number(value: number | undefined): string {
  if (value === undefined) return '';
  return value.toFixed(Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 1 ? 2 : 3);
}

function cells(columns: readonly string[]): string {
  return columns
    .map((text, at) => (at === 0 ? text.padEnd(WIDTHS[at] ?? 0) : text.padStart(WIDTHS[at] ?? 0)))
    .join('  ');
}

function line(row: Row): string {
  const { what, ours, floor, unit, limit, atLeast } = row;
  const sign = floor === undefined ? '' : '×';
  const bound = limit === undefined ? '' : `${atLeast ? '≥' : '≤'} ${limit}${sign}`;
  const verdict = limit === undefined ? 'info' : passes(row) ? 'PASS' : 'FAIL';
  return cells([what, number(ours), number(floor), unit, `${number(judged(row))}${sign}`, bound, verdict]);
}

async function main(names: readonly string[]): Promise<number> {
  const chosen = names.length === 0 ? BENCHMARKS : BENCHMARKS.filter(({ name }) => names.includes(name));
  console.log(cells(HEADER));
  let failed = 0;
  for (const benchmark of chosen) {
    if (process.stderr.isTTY) process.stderr.write(`${benchmark.name} …\r`);
    for (const row of await benchmark.run()) {
      if (!passes(row)) failed += 1;
      console.log(line(row));
    }
  }
  const [load1 = 0] = loadavg();
  const cores = availableParallelism();
  console.log(`\nLoad average at the end: ${load1.toFixed(1)} on ${cores} cores.`);
  if (load1 > cores) console.log('Others keep this machine busy: repeat a FAIL on a quiet one before you believe it.');
  console.log(failed === 0 ? 'Every limit holds.' : `${failed} limit${failed === 1 ? ' does' : 's do'} not hold.`);
  return failed === 0 ? 0 : 1;
}

const args = process.argv.slice(2);
const unknown = args.find((arg) => arg !== '--help' && !NAMES.includes(arg));
if (args.includes('--help')) console.log(HELP);
else if (unknown !== undefined) {
  console.error(`bench: no benchmark is called ${unknown}; see --help`);
  process.exitCode = 64;
} else process.exitCode = await main(args);
