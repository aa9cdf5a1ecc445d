/** What ends in order on a signal, where no chart hears it: looks, and what comes before and after a writer's own run. */
import type { InterruptSignal } from '../../ports/setup/run.ts';
import { onInterrupt as hearSignals } from '../signals.ts';

export interface Interruptible {
  readonly interrupted?: InterruptSignal;
}

/**
 * The first signal aborts what `run` has under way; `run` is awaited all the same, and by then
 * has ended what it has started. The signal is part of its outcome.
 */
export async function interruptible<T extends object>(
  run: (signal: AbortSignal) => Promise<T>,
  onInterrupt = hearSignals,
): Promise<T & Interruptible> {
  const stopping = new AbortController();
  let interrupted: InterruptSignal | undefined;
  const stop = onInterrupt((signal) => {
    interrupted ??= signal;
    stopping.abort();
  });
  try {
    const outcome = await run(stopping.signal);
    return interrupted ? { ...outcome, interrupted } : outcome;
  } finally {
    stop();
  }
}
