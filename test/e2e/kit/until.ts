/** Waits for a condition; the deadline only decides when to give up, never whether something holds. */
import { setTimeout as pause } from 'node:timers/promises';

const PATIENCE_MS = 20_000;
const POLL_MS = 10;

/** Polls until the probe returns something truthy, and returns that. */
export async function until<T>(
  what: string | (() => string),
  probe: () => T | Promise<T>,
  deadlineMs: number = PATIENCE_MS,
): Promise<NonNullable<T>> {
  const start = performance.now();
  for (;;) {
    const value = await probe();
    if (value) return value as NonNullable<T>;
    if (performance.now() - start > deadlineMs) {
      throw new Error(`not within ${deadlineMs} ms: ${typeof what === 'string' ? what : what()}`);
    }
    await pause(POLL_MS);
  }
}

/** Rejects instead of hanging when the promise never settles. */
export async function within<T>(what: string, promise: Promise<T>, deadlineMs: number = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${deadlineMs} ms: ${what}`)), deadlineMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
