/** Calls of a scripted port that wait until the test settles them. */
export interface PendingCall {
  readonly operation: string;
  readonly input: unknown;
}

interface Waiting extends PendingCall {
  readonly resolve: (outcome: never) => void;
  readonly reject: (error: Error) => void;
}

export class PendingCalls {
  /** Every call ever made, in order. */
  readonly history: PendingCall[] = [];
  readonly #waiting: Waiting[] = [];

  call<T>(operation: string, input?: unknown): Promise<T> {
    this.history.push({ operation, input });
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ operation, input, resolve: resolve as (outcome: never) => void, reject });
    });
  }

  get live(): readonly PendingCall[] {
    return this.#waiting;
  }

  settle(outcome: unknown): void {
    this.#oldest().resolve(outcome as never);
  }

  fail(): void {
    this.#oldest().reject(new Error('scripted rejection'));
  }

  #oldest(): Waiting {
    const call = this.#waiting.shift();
    if (!call) throw new Error('no call to settle');
    return call;
  }
}

/** Lets every promise that can settle do so; nothing here waits for time. */
export function flush(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
