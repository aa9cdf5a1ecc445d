/** A clock for charts under test: nothing happens until a test fires a timer, so no test waits and none is flaky. */
import type { ActorOptions, AnyActorLogic } from 'xstate';

type Clock = NonNullable<ActorOptions<AnyActorLogic>['clock']>;

interface Timer {
  readonly run: () => void;
  readonly delayMs: number;
  readonly dueMs: number;
}

/**
 * Real timers may be late by any amount, so every order of firing is legal and a
 * test may choose one. Time only moves forward: `fire` moves it to when the timer
 * was due, at the earliest, and `advance` moves it without firing anything.
 */
export class ManualClock implements Clock {
  readonly #timers = new Map<number, Timer>();
  #lastId = 0;
  #nowMs: number;

  constructor(startMs = 0) {
    this.#nowMs = startMs;
  }

  /** Bound, so that it can be handed over as a port. */
  readonly now = (): number => this.#nowMs;

  /** Moves time without firing: what a chart sees when its process was asleep. */
  advance(ms: number): void {
    if (!(ms >= 0)) throw new Error(`time does not go back: advance(${ms})`);
    this.#nowMs += ms;
  }

  setTimeout(run: () => void, delayMs: number): number {
    this.#lastId += 1;
    this.#timers.set(this.#lastId, { run, delayMs, dueMs: this.#nowMs + delayMs });
    return this.#lastId;
  }

  clearTimeout(id: number): void {
    this.#timers.delete(id);
  }

  get size(): number {
    return this.#timers.size;
  }

  /** Ids of the pending timers by their delay, oldest first. */
  pendingByDelay(): ReadonlyMap<number, readonly number[]> {
    const byDelay = new Map<number, number[]>();
    for (const [id, timer] of this.#timers) {
      const ids = byDelay.get(timer.delayMs) ?? [];
      ids.push(id);
      byDelay.set(timer.delayMs, ids);
    }
    return byDelay;
  }

  /** Fires the oldest pending timer of this delay. */
  fire(delayMs: number): void {
    const id = this.pendingByDelay().get(delayMs)?.[0];
    if (id === undefined) throw new Error(`no pending timer of ${delayMs} ms; pending: ${this.#describe()}`);
    this.fireAny(id);
  }

  /** Fires one pending timer, whatever its place in the queue. */
  fireAny(id: number): void {
    const timer = this.#timers.get(id);
    if (timer === undefined) throw new Error(`no pending timer with id ${id}; pending: ${this.#describe()}`);
    this.#timers.delete(id);
    this.#nowMs = Math.max(this.#nowMs, timer.dueMs);
    timer.run();
  }

  /** Lets time pass as a punctual clock would, timers started on the way included. */
  elapse(ms: number): void {
    const end = this.#nowMs + ms;
    for (let next = this.#nextDue(end); next !== undefined; next = this.#nextDue(end)) this.fireAny(next);
    this.#nowMs = Math.max(this.#nowMs, end);
  }

  assertEmpty(when = 'at the end'): void {
    if (this.#timers.size > 0) throw new Error(`timers still pending ${when}: ${this.#describe()}`);
  }

  #nextDue(endMs: number): number | undefined {
    const due = [...this.#timers].filter(([, timer]) => timer.dueMs <= endMs);
    return due.sort(([, a], [, b]) => a.dueMs - b.dueMs)[0]?.[0];
  }

  #describe(): string {
    const parts = [...this.pendingByDelay()].map(([delayMs, ids]) => `${delayMs} ms (${ids.join(', ')})`);
    return parts.join('; ') || 'none';
  }
}
