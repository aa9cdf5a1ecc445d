/** Before a test run: forgets the chart coverage of the run before. */
import { clearCoverage } from './coverage-report.ts';

export default function setup(): void {
  clearCoverage();
}
