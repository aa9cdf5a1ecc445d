/** One start of one writer as the product runs it, with every step, the box and time scripted. */
import type { InspectionEvent } from 'xstate';
import { createLauncherRun, type LauncherRun } from '../../../src/app/launcher-run.ts';
import type { LauncherDelays } from '../../../src/machines/writers/launcher-deadlines.ts';
import type { LauncherPort, LauncherResult } from '../../../src/ports/writers/launcher.ts';
import { ManualClock } from '../../kit/manual-clock.ts';
import { flush } from '../../kit/pending-calls.ts';

/** Those of the port that somebody waits for, in the order in which a start asks for them. */
export const STEPS = ['claim', 'check', 'clear', 'open', 'reap', 'renew', 'plan', 'start', 'ended'] as const;
export type LauncherStep = (typeof STEPS)[number];

/** Delays that tell their timers apart from everybody else's. */
export const TEST_DELAYS: LauncherDelays = { renewalPatience: 5_003, graceTimeout: 20_001, renewalInterval: 60_002 };

/** What has happened, as nobody but the world sees it; for the referee, who knows nothing of the chart. */
export type Entry = { readonly at: number } & (
  | { readonly kind: 'asked'; readonly step: LauncherStep }
  /** Asked for while one is under way, and so given that one. */
  | { readonly kind: 'joined'; readonly step: 'renew' }
  | { readonly kind: 'settled'; readonly step: LauncherStep; readonly outcome: unknown }
  | { readonly kind: 'failed'; readonly step: LauncherStep }
  | { readonly kind: 'end' }
  | { readonly kind: 'remove' }
  | { readonly kind: 'inputEnded' }
  | { readonly kind: 'signal'; readonly status: number }
  | { readonly kind: 'exit'; readonly result: LauncherResult }
);

type Happening = Entry extends infer E ? (E extends { readonly at: number } ? Omit<E, 'at'> : never) : never;

export interface Pending {
  readonly step: LauncherStep;
  readonly promise: Promise<unknown>;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: Error) => void;
}

export interface LauncherWorldOptions {
  readonly inspect?: (event: InspectionEvent) => void;
  /** Another way to put it together: a wrong one, to show that a test would see it. */
  readonly assemble?: typeof createLauncherRun;
  readonly watchFails?: boolean;
  readonly breaksTime?: boolean;
}

/** One whose timers of a minute cannot be set: the only way to break a chart whose guards and actions are total. */
class BrokenClock extends ManualClock {
  override setTimeout(run: () => void, delayMs: number): number {
    if (delayMs === TEST_DELAYS.renewalInterval) throw new Error('scripted failure');
    return super.setTimeout(run, delayMs);
  }
}

export class LauncherWorld {
  readonly clock: ManualClock;
  readonly log: Entry[] = [];
  /** Calls that have not settled, oldest first. */
  readonly calls: Pending[] = [];
  result: LauncherResult | undefined;
  readonly #run: LauncherRun;
  readonly #watchers = new Set<() => void>();

  constructor(options: LauncherWorldOptions = {}) {
    const { inspect, assemble = createLauncherRun, watchFails = false, breaksTime = false } = options;
    this.clock = breaksTime ? new BrokenClock() : new ManualClock();
    const steps = Object.fromEntries(STEPS.map((step) => [step, () => this.#ask(step)]));
    const port = {
      ...steps,
      watchInput: (onEnd: () => void) => {
        if (watchFails) throw new Error('scripted failure');
        this.#watchers.add(onEnd);
        return () => void this.#watchers.delete(onEnd);
      },
      end: () => this.#note({ kind: 'end' }),
      remove: () => this.#note({ kind: 'remove' }),
    } as unknown as LauncherPort;
    this.#run = assemble(port, { clock: this.clock, delays: TEST_DELAYS, ...(inspect && { inspect }) });
    void this.#run.start().then((result) => {
      this.result = result;
      this.#note({ kind: 'exit', result });
    });
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  count(kind: Entry['kind']): number {
    return this.log.filter((entry) => entry.kind === kind).length;
  }

  async signal(status: number): Promise<void> {
    this.#note({ kind: 'signal', status });
    this.#run.signal(status);
    await flush();
  }

  async endInput(): Promise<void> {
    this.#note({ kind: 'inputEnded' });
    for (const onEnd of [...this.#watchers]) onEnd();
    await flush();
  }

  /** @param step The newest call of it. */
  async settle(step: LauncherStep, outcome: unknown): Promise<void> {
    const call = this.#take(step);
    this.#note({ kind: 'settled', step, outcome });
    call.resolve(outcome);
    await flush();
  }

  async fail(step: LauncherStep): Promise<void> {
    const call = this.#take(step);
    this.#note({ kind: 'failed', step });
    call.reject(new Error('scripted rejection'));
    await flush();
  }

  /** The renewal whose start has gone on without it, while it is under way. */
  abandoned(): Pending | undefined {
    return this.log.some((entry) => 'step' in entry && entry.step === 'plan') ? this.#firstRenewal() : undefined;
  }

  async fire(delay: keyof LauncherDelays): Promise<void> {
    this.clock.fire(TEST_DELAYS[delay]);
    await flush();
  }

  #note(happening: Happening): void {
    this.log.push({ at: this.clock.now(), ...happening } as Entry);
  }

  #take(step: LauncherStep): Pending {
    const at = this.calls.findLastIndex((call) => call.step === step);
    const [call] = at < 0 ? [] : this.calls.splice(at, 1);
    if (!call) throw new Error(`no ${step} under way; under way: ${this.calls.map((each) => each.step).join(', ')}`);
    return call;
  }

  /** Under way since the start. */
  #firstRenewal(): Pending | undefined {
    const hasEnded = this.log.some(
      (entry) => (entry.kind === 'settled' || entry.kind === 'failed') && entry.step === 'renew',
    );
    return hasEnded ? undefined : this.calls.find(({ step }) => step === 'renew');
  }

  #ask(step: LauncherStep): Promise<unknown> {
    const underWay = step === 'renew' ? this.calls.find((call) => call.step === step) : undefined;
    if (underWay) {
      this.#note({ kind: 'joined', step: 'renew' });
      return underWay.promise;
    }
    this.#note({ kind: 'asked', step });
    const call = { step, ...Promise.withResolvers<unknown>() };
    this.calls.push(call);
    return call.promise;
  }
}
