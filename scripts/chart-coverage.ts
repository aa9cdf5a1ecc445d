/** The gate after a test run: every transition and every state of every chart was taken by some test. */
import { loadCoverage, reportTable, writeReport } from '../test/kit/coverage-report.ts';
import { loadCharts } from './charts.ts';

const report = writeReport(loadCoverage(), Object.values(await loadCharts()));
console.log(reportTable(report));
const open = report.filter(({ transitions, states }) => transitions.missing.length + states.missing.length > 0);
if (open.length > 0) {
  console.error(`chart coverage below 100 %: ${open.map(({ chart }) => chart).join(', ')}`);
  process.exitCode = 1;
}
