/** A writer port whose every call waits until the test settles it, and the run of the real assembly on it. */
import type { InspectionEvent } from 'xstate';
import { runWriter, type WriterRun } from '../../src/app/writer-run.ts';
import type { WriterCode, WriterInput, WriterPhase, WriterPort } from '../../src/ports/writers/lifecycle.ts';
import { ManualClock } from './manual-clock.ts';

export type WriterCall = keyof WriterPort;

interface Pending {
  readonly name: WriterCall;
  readonly input: WriterPhase | undefined;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: Error) => void;
}

const NAMES = [
  'fence',
  'release',
  'quiesce',
  'read',
  'record',
  'forget',
  'clone',
  'prepare',
  'configure',
  'wrap',
  'register',
  'control',
  'accept',
  'inspect',
  'consult',
  'collect',
  'reset',
  'recreate',
  'unregister',
  'dispose',
] as const satisfies readonly WriterCall[];

/** How each call goes well, but for the journal. */
const SUCCESS: Partial<Record<WriterCall, unknown>> = {
  fence: 'held',
  inspect: 'clean',
  consult: 'present',
  collect: 'complete',
};
export const successOf = (name: WriterCall): unknown =>
  name === 'release' || name === 'quiesce' ? undefined : (SUCCESS[name] ?? { ok: true });

export interface WriterWorldOptions {
  readonly inspect?: (event: InspectionEvent) => void;
  /** Another way to put the run together: a wrong one, to show that a test would see it. */
  readonly assemble?: typeof runWriter;
}

export class WriterWorld {
  /** Calls that have not settled, oldest first. */
  readonly calls: Pending[] = [];
  /** Everything that was ever asked, with the phase that was to be recorded. */
  readonly history: string[] = [];
  readonly clock = new ManualClock();
  readonly run: WriterRun;
  code: WriterCode | undefined;

  constructor(input: WriterInput, { inspect, assemble = runWriter }: WriterWorldOptions = {}) {
    const port = Object.fromEntries(NAMES.map((name) => [name, this.#method(name)])) as unknown as WriterPort;
    this.run = assemble(port, input, { clock: this.clock, ...(inspect && { inspect }) });
    void this.run.ended.then((code) => {
      this.code = code;
    });
  }

  /** Those that somebody still waits for. */
  get live(): readonly Pending[] {
    return this.calls.filter(({ signal }) => !signal?.aborted);
  }

  find(name: WriterCall): Pending {
    const call = this.live.findLast((each) => each.name === name);
    if (!call) throw new Error(`no live ${name}; live: ${this.live.map((each) => each.name).join(', ')}`);
    return call;
  }

  async settle(call: Pending, outcome: unknown): Promise<void> {
    this.calls.splice(this.calls.indexOf(call), 1);
    call.resolve(outcome);
    await this.flush();
  }

  async fail(call: Pending): Promise<void> {
    this.calls.splice(this.calls.indexOf(call), 1);
    call.reject(new Error('scripted rejection'));
    await this.flush();
  }

  async succeed(name: WriterCall, outcome: unknown = successOf(name)): Promise<void> {
    await this.settle(this.find(name), outcome);
  }

  async interrupt(): Promise<void> {
    this.run.interrupt();
    await this.flush();
  }

  flush(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  #method(name: WriterCall) {
    return (...args: readonly unknown[]) => {
      const signal = args.find((arg): arg is AbortSignal => arg instanceof AbortSignal);
      const [phase] = args.filter((arg): arg is WriterPhase => typeof arg === 'string');
      this.history.push(phase === undefined ? name : `${name} ${phase}`);
      return new Promise((resolve, reject) => this.calls.push({ name, input: phase, signal, resolve, reject }));
    };
  }
}
