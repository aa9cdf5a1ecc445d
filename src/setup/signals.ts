/** SIGINT and SIGTERM. */
import type { InterruptSignal } from '../ports/setup/run.ts';
import { emit, useColours } from './output.ts';
import { EXIT } from './report.ts';
import type { RunSetupOptions } from './run-setup.ts';

const SHOW_CURSOR = '\u001b[?25h';

/** A signal ends the run in order; a second one changes nothing, for what is awaited must not be left behind. */
export const onInterrupt: NonNullable<RunSetupOptions['onInterrupt']> = (interrupt) => {
  const listeners = (['SIGINT', 'SIGTERM'] as const).map((signal) => {
    const listener = () => interrupt(signal);
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  return () => {
    for (const remove of listeners) remove();
  };
};

/** @returns The exit status. */
export function reportInterruption(operation: string, json: boolean, signal: InterruptSignal): number {
  const code = 'operation_interrupted';
  emit({ schemaVersion: 1, operation, status: 'failed', code, findings: [] }, json, useColours());
  return EXIT[signal];
}

/**
 * For commands that start no client and hold no lock, so that there is nothing to end first: from
 * now on a signal ends the process with a report. What these commands write
 * is written in one synchronous step, so no signal comes between.
 *
 * @param clear Takes away what is shown meanwhile.
 * @returns Ends that: what comes then has something to end first.
 */
export function endOnSignal(operation: string, json: boolean, clear: () => void): () => void {
  const listeners = (['SIGINT', 'SIGTERM'] as const).map((signal) => {
    const listener = () => {
      clear();
      // A question may have been on the screen.
      if (process.stderr.isTTY) process.stderr.write(SHOW_CURSOR);
      process.exit(reportInterruption(operation, json, signal));
    };
    process.once(signal, listener);
    return () => process.off(signal, listener);
  });
  return () => {
    for (const remove of listeners) remove();
  };
}
