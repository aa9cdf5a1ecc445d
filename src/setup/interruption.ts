/** SIGINT and SIGTERM for the commands that start no client and hold no lock: there is nothing to end first. */
import type { InterruptSignal } from '../ports/setup/run.ts';
import { emit, useColours } from './output.ts';
import { EXIT } from './report.ts';

const SHOW_CURSOR = '\u001b[?25h';

/** @returns The exit status. */
export function reportInterruption(operation: string, json: boolean, signal: InterruptSignal): number {
  const code = 'operation_interrupted';
  emit({ schemaVersion: 1, operation, status: 'failed', code, findings: [] }, json, useColours());
  return EXIT[signal];
}

/**
 * From now on a signal ends the process with a report. What these commands write
 * is written in one synchronous step, so no signal comes between.
 *
 * @param clear Takes away what is shown meanwhile.
 */
export function endOnSignal(operation: string, json: boolean, clear: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      clear();
      // A question may have been on the screen.
      if (process.stderr.isTTY) process.stderr.write(SHOW_CURSOR);
      process.exit(reportInterruption(operation, json, signal));
    });
  }
}
