/** Which transitions and states of which charts have really been taken, watched from inside running systems. */
import { type AnyStateMachine, type AnyStateNode, type InspectionEvent, isMachineSnapshot } from 'xstate';
import { lineage, nodesOf, transitionKey, transitionsOf } from './nodes.ts';

/** How often each was taken, by machine id. Plain data, so that runs can be merged through files. */
export type CoverageData = Readonly<Record<string, ChartHits>>;
interface ChartHits {
  readonly transitions: Readonly<Record<string, number>>;
  readonly states: Readonly<Record<string, number>>;
}

export interface ChartCoverage {
  readonly chart: string;
  readonly transitions: Tally;
  readonly states: Tally;
}
interface Tally {
  readonly total: number;
  readonly hit: number;
  readonly missing: readonly string[];
}

interface Counters {
  readonly transitions: Map<string, number>;
  readonly states: Map<string, number>;
}

/**
 * Give `coverage.inspect` to the root actor: it sees every actor of the system.
 * Charts are told apart by machine id, nodes and transitions by their place.
 */
export class Coverage {
  readonly #charts = new Map<string, Counters>();
  #blind = false;

  readonly inspect = (event: InspectionEvent): void => {
    if (event.type !== '@xstate.microstep' && event.type !== '@xstate.snapshot') return;
    if (!isMachineSnapshot(event.snapshot)) return;
    const counters = this.#counters(event.snapshot.machine.id);
    for (const node of event.snapshot._nodes) count(counters.states, node.id);
    if (event.type === '@xstate.snapshot') return;
    // Total on purpose: what an observer throws would surface inside the `send` of the system under test.
    if (!Array.isArray(event._transitions)) this.#blind = true;
    for (const transition of event._transitions ?? []) {
      count(counters.transitions, transitionKey(transition));
      // A state that an `always` leaves at once is in no snapshot; that it was left shows that it was there.
      for (const node of lineage(transition.source as AnyStateNode)) count(counters.states, node.id);
    }
  };

  merge(data: CoverageData): this {
    for (const [chart, hits] of Object.entries(data)) {
      const counters = this.#counters(chart);
      for (const [key, times] of Object.entries(hits.transitions)) count(counters.transitions, key, times);
      for (const [id, times] of Object.entries(hits.states)) count(counters.states, id, times);
    }
    return this;
  }

  tally(machine: AnyStateMachine): ChartCoverage {
    this.#assertSighted();
    const counters = this.#counters(machine.id);
    const nodes = nodesOf(machine);
    return {
      chart: machine.id,
      transitions: tally(nodes.flatMap(transitionsOf).map(transitionKey), counters.transitions),
      states: tally(
        nodes.filter(({ type }) => type !== 'history').map(({ id }) => id),
        counters.states,
      ),
    };
  }

  /** What of the chart no system has gone through yet; a gate expects `[]`. */
  missing(machine: AnyStateMachine): string[] {
    const { transitions, states } = this.tally(machine);
    return [...transitions.missing.map((key) => `transition ${key}`), ...states.missing.map((id) => `state ${id}`)];
  }

  toJSON(): CoverageData {
    this.#assertSighted();
    const entries = [...this.#charts].sort(([a], [b]) => a.localeCompare(b));
    return Object.fromEntries(
      entries.map(([chart, { transitions, states }]) => [
        chart,
        { transitions: Object.fromEntries(transitions), states: Object.fromEntries(states) },
      ]),
    );
  }

  #counters(chart: string): Counters {
    const known = this.#charts.get(chart) ?? { transitions: new Map(), states: new Map() };
    this.#charts.set(chart, known);
    return known;
  }

  #assertSighted(): void {
    if (this.#blind) throw new Error('xstate no longer tells its microsteps’ _transitions: coverage means nothing');
  }
}

function count(counters: Map<string, number>, key: string, times = 1): void {
  counters.set(key, (counters.get(key) ?? 0) + times);
}

function tally(all: readonly string[], hits: ReadonlyMap<string, number>): Tally {
  const missing = all.filter((key) => !hits.has(key));
  return { total: all.length, hit: all.length - missing.length, missing };
}
