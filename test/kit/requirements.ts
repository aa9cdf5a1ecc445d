/** Questions about everything a chart can do: the oracle that, unlike a path, can see that the chart itself is wrong. */
import type { AnyMachineSnapshot, AnyStateMachine, SnapshotFrom } from 'xstate';
import type { ChartModel, Triple } from './chart-model.ts';
import { eventLabel } from './nodes.ts';

export type Along<M extends AnyStateMachine> = (triple: Triple<M>) => boolean;
export type Goal<M extends AnyStateMachine> = (state: SnapshotFrom<M>) => boolean;

/** All states and triples of a chart, with the walks between them. */
export class Reachable<M extends AnyStateMachine> {
  readonly triples: readonly Triple<M>[];
  readonly states: readonly SnapshotFrom<M>[];
  readonly #key: (state: SnapshotFrom<M>) => string;
  readonly #outgoing = new Map<string, Triple<M>[]>();

  constructor(model: ChartModel<M>, options: { readonly everywhere?: boolean } = {}) {
    this.#key = (state) => model.key(state);
    this.triples = model.reachable(options);
    const states = new Map<string, SnapshotFrom<M>>();
    for (const triple of this.triples) {
      const key = this.#key(triple.state);
      states.set(key, triple.state);
      states.set(this.#key(triple.nextState), triple.nextState);
      this.#outgoing.set(key, [...(this.#outgoing.get(key) ?? []), triple]);
    }
    this.states = [...states.values()];
  }

  /** Those states that are not over yet. */
  active(): SnapshotFrom<M>[] {
    return this.states.filter((state) => statusOf(state) === 'active');
  }

  /** Every state that a walk from here can come to over the triples allowed, the start included. */
  follow(from: SnapshotFrom<M>, along: Along<M> = () => true): SnapshotFrom<M>[] {
    const seen = new Map([[this.#key(from), from]]);
    for (const [key] of seen) {
      for (const triple of this.#outgoing.get(key) ?? []) {
        const next = this.#key(triple.nextState);
        if (along(triple) && !seen.has(next)) seen.set(next, triple.nextState);
      }
    }
    return [...seen.values()];
  }

  canReach(from: SnapshotFrom<M>, goal: Goal<M>, along?: Along<M>): boolean {
    return this.follow(from, along).some(goal);
  }

  /** The active states from which no walk over the triples allowed ever comes to the goal. */
  stuck(goal: Goal<M>, along?: Along<M>): SnapshotFrom<M>[] {
    return this.active().filter((state) => !this.canReach(state, goal, along));
  }

  /**
   * The active states from which *some* walk over the triples allowed never
   * comes to the goal: it stops short of it or goes round for ever. Stricter than
   * `stuck`: use it where nothing may be left to luck.
   */
  avoiding(goal: Goal<M>, along: Along<M> = () => true): SnapshotFrom<M>[] {
    const certain = new Set(this.states.filter(goal).map(this.#key));
    const isCertain = (state: SnapshotFrom<M>) => {
      const next = (this.#outgoing.get(this.#key(state)) ?? []).filter(along);
      return next.length > 0 && next.every(({ nextState }) => certain.has(this.#key(nextState)));
    };
    for (let before = -1; before !== certain.size; ) {
      before = certain.size;
      for (const state of this.states) if (isCertain(state)) certain.add(this.#key(state));
    }
    return this.active().filter((state) => !certain.has(this.#key(state)));
  }
}

/** How a requirement names a state in its finding: short and stable. */
export function describeState(state: unknown): string {
  const { value, status } = state as AnyMachineSnapshot;
  const where = JSON.stringify(value).replaceAll('"', '');
  return status === 'active' ? where : `${where} (${status})`;
}

export function describeTriple<M extends AnyStateMachine>({ state, event, nextState }: Triple<M>): string {
  return `${describeState(state)} —${eventLabel(event.type)}→ ${describeState(nextState)}`;
}

export const isTimer = ({ event }: { readonly event: { readonly type: string } }): boolean =>
  event.type.startsWith('xstate.after.');

/** An actor's end, good or bad: what stays away when the adapters are silent. */
export const isSettlement = ({ event }: { readonly event: { readonly type: string } }): boolean =>
  /^xstate\.(done|error)\.actor\./.test(event.type);

export const statusOf = (state: unknown): AnyMachineSnapshot['status'] => (state as AnyMachineSnapshot).status;
