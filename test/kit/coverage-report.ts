/** Coverage across test files: each file saves its own part, one reader merges them into a report. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyStateMachine } from 'xstate';
import { type ChartCoverage, Coverage, type CoverageData } from './coverage.ts';

const PARTS = join('coverage', 'charts');
const REPORT = join('coverage', 'charts.json');

/** Forgets the parts of earlier runs. */
export function clearCoverage(root = process.cwd()): void {
  rmSync(join(root, PARTS), { recursive: true, force: true });
}

/** Call it in `afterAll` with the name of the test file: files run in processes of their own. */
export function saveCoverage(coverage: Coverage, name: string, root = process.cwd()): void {
  mkdirSync(join(root, PARTS), { recursive: true });
  writeFileSync(join(root, PARTS, `${name.replace(/[^\w.-]/g, '_')}.json`), JSON.stringify(coverage));
}

/** Merges all saved parts. */
export function loadCoverage(root = process.cwd()): Coverage {
  const coverage = new Coverage();
  for (const file of listParts(root)) {
    coverage.merge(JSON.parse(readFileSync(join(root, PARTS, file), 'utf8')) as CoverageData);
  }
  return coverage;
}

/** Writes `coverage/charts.json` and returns what is in it. */
export function writeReport(
  coverage: Coverage,
  machines: readonly AnyStateMachine[],
  root = process.cwd(),
): ChartCoverage[] {
  const report = machines.map((machine) => coverage.tally(machine));
  mkdirSync(join(root, 'coverage'), { recursive: true });
  writeFileSync(join(root, REPORT), `${JSON.stringify(report, null, 2)}\n`);
  return report;
}

export function reportTable(report: readonly ChartCoverage[]): string {
  const width = Math.max(5, ...report.map(({ chart }) => chart.length));
  const row = (chart: string, transitions: string, states: string) =>
    `${chart.padEnd(width)}  ${transitions.padStart(12)}  ${states.padStart(9)}`;
  return [
    row('chart', 'transitions', 'states'),
    ...report.map(({ chart, transitions, states }) => row(chart, share(transitions), share(states))),
    ...report.flatMap(({ transitions, states }) =>
      [...transitions.missing, ...states.missing].map((key) => `  not taken: ${key}`),
    ),
  ].join('\n');
}

const share = ({ hit, total }: { readonly hit: number; readonly total: number }) => `${hit}/${total}`;

function listParts(root: string): string[] {
  try {
    return readdirSync(join(root, PARTS)).sort();
  } catch {
    return [];
  }
}
