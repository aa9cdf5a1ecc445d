/** Where a report goes. */
import { humanReport } from './human-report.ts';
import { jsonReport, type Report } from './report.ts';

// A reader that has gone away, as in `| head`, is no reason for a stack trace.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

/** Colours are for a terminal that shows them and an operator who wants them (`NO_COLOR`). */
export function useColours(): boolean {
  return process.stdout.isTTY === true && process.stdout.hasColors();
}

export function emit(report: Report, json: boolean, colours: boolean): void {
  process.stdout.write(json ? jsonReport(report) : humanReport(report, colours));
}
