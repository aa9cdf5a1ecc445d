/** What the two scripted sides tell each other, so that nothing depends on the speed of the machine. */
import { setTimeout as pause } from 'node:timers/promises';

/** Then the scripts go on, and the checks find what is wrong. */
const PATIENCE_MS = 60_000;

export interface Signals {
  /** Resolves for both once two workers have come here: their turns do overlap. */
  meet(): Promise<void>;
  /** The controller has had a good answer to its abort. */
  tellAborted(): void;
  untilAborted(): Promise<void>;
}

function gate(): { readonly open: () => void; readonly passed: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, passed: promise };
}

export function makeSignals(): Signals {
  const [both, aborted] = [gate(), gate()];
  let arrived = 0;
  const patiently = async (passed: Promise<void>) => {
    const given = new AbortController();
    await Promise.race([passed, pause(PATIENCE_MS, undefined, { signal: given.signal }).catch(() => {})]);
    given.abort();
  };
  return {
    meet() {
      arrived += 1;
      if (arrived === 2) both.open();
      return patiently(both.passed);
    },
    tellAborted: aborted.open,
    untilAborted: () => patiently(aborted.passed),
  };
}
