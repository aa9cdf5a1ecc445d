/** What the starts that are under way have loaded, until a session takes it over. */
import type { StepOutcome } from '../../ports/agent.ts';
import type { LoadOutcome } from './extension-load.ts';
import { type LoadedExtensions, releaseExtensions } from './extension-set.ts';
import { startFailure } from './selection.ts';

const ignore = (): void => {};

/** Rejects on abort; what the work leads to after that is the caller's business. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error('aborted'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

export class ExtensionStarts {
  private readonly loaded = new Map<string, LoadedExtensions>();

  /** Keeps what is loaded, unless the step was aborted meanwhile: third-party code may never come back. */
  async prepare(sessionId: string, loading: Promise<LoadOutcome>, signal: AbortSignal): Promise<StepOutcome> {
    this.drop(sessionId);
    let outcome: LoadOutcome;
    try {
      outcome = await untilAborted(loading, signal);
    } catch {
      loading.then((late) => late.ok && releaseExtensions(late.loaded)).catch(ignore);
      return startFailure('extension_load_failed', 'extension_load');
    }
    if (!outcome.ok) return outcome;
    this.loaded.set(sessionId, outcome.loaded);
    return { ok: true };
  }

  /** Throws when the start's first step has not loaded anything, or it is gone again. */
  require(sessionId: string): LoadedExtensions {
    const loaded = this.loaded.get(sessionId);
    if (!loaded) throw new Error('nothing is loaded');
    return loaded;
  }

  /** Holds on to the promise of the port: a step that fails or is aborted lets go of all of it. */
  async during<T extends { readonly ok: boolean }>(
    sessionId: string,
    signal: AbortSignal,
    step: Promise<T>,
  ): Promise<T> {
    if (!this.loaded.has(sessionId)) return step;
    const drop = (): void => this.drop(sessionId);
    // Stays after the step: one that has passed may still be aborted before anybody looks at it.
    signal.addEventListener('abort', drop, { once: true });
    const outcome = await step;
    if (!outcome.ok || signal.aborted) drop();
    return outcome;
  }

  /** From here on the caller owns it. */
  take(sessionId: string): LoadedExtensions | undefined {
    const taken = this.loaded.get(sessionId);
    this.loaded.delete(sessionId);
    return taken;
  }

  drop(sessionId: string): void {
    const dropped = this.take(sessionId);
    if (dropped) releaseExtensions(dropped);
  }

  dropAll(): void {
    for (const sessionId of [...this.loaded.keys()]) this.drop(sessionId);
  }
}
