/** From a chart and its domain to paths and reachable triples. The only file that knows the path libraries. */
import { TestModel, type TestPath } from '@xstate/test';
import type {
  AnyEventObject,
  AnyMachineSnapshot,
  AnyStateMachine,
  ContextFrom,
  EventObject,
  InputFrom,
  SnapshotFrom,
} from 'xstate';
import { adjacencyMapToArray, getAdjacencyMap, type StatePath } from 'xstate/graph';
import { type AnyDomain, allEvents, type Domain, enabledEvents, ownEvents, strangers } from './domain.ts';
import { eventLabel } from './nodes.ts';

export interface ChartModelOptions<M extends AnyStateMachine> {
  readonly domain: Domain<M>;
  readonly input?: InputFrom<M>;
  /** What of the context tells two states apart; leave out what grows without bound (counters, times). */
  readonly project?: (context: ContextFrom<M>) => unknown;
  /** A guard against an unbounded context, not a way to truncate: reaching it is an error. */
  readonly limit?: number;
}

export interface Step<M extends AnyStateMachine> {
  readonly event: AnyEventObject;
  /** The state after the event. */
  readonly state: SnapshotFrom<M>;
}

export interface Triple<M extends AnyStateMachine> {
  readonly state: SnapshotFrom<M>;
  readonly event: AnyEventObject;
  readonly nextState: SnapshotFrom<M>;
}

/** What to do to a real system for each event type, and what to check in each state (`'*'`: in all others). */
export interface PathParams<M extends AnyStateMachine> {
  readonly events?: Readonly<Record<string, (step: Step<M>) => void | Promise<void>>>;
  readonly states?: Readonly<Record<string, (state: SnapshotFrom<M>) => void | Promise<void>>>;
}

export interface ChartPath<M extends AnyStateMachine> {
  /** Short and stable, for the name of a test. */
  readonly title: string;
  /** The first step is `xstate.init`. */
  readonly steps: readonly Step<M>[];
  readonly state: SnapshotFrom<M>;
  readonly test: (params: PathParams<M>) => Promise<unknown>;
}

type AnyPath = StatePath<AnyMachineSnapshot, AnyEventObject>;

const DEFAULT_LIMIT = 5_000;
const TITLE_LENGTH = 150;

/**
 * Actions do not run in a model, children never finish and time stands still;
 * guards and assigns do run. So invoked work and timers are events of the domain
 * like any other.
 */
export class ChartModel<M extends AnyStateMachine> {
  readonly machine: M;
  readonly #options: ChartModelOptions<M>;
  readonly #domain: AnyDomain;
  readonly #testModel: TestModel<AnyMachineSnapshot, EventObject, unknown>;

  constructor(machine: M, options: ChartModelOptions<M>) {
    this.machine = machine;
    this.#options = options;
    this.#domain = options.domain as AnyDomain;
    // Not createTestModel(): it refuses charts with invoked work or timers.
    this.#testModel = new TestModel<AnyMachineSnapshot, EventObject, unknown>(machine, {
      serializeState: (snapshot: AnyMachineSnapshot) => JSON.stringify(snapshot.value),
      stateMatcher: (snapshot: AnyMachineSnapshot, state: string) => state !== '*' && snapshot.matches(state),
    });
  }

  /** Two snapshots with one key are one state to this model. */
  key(snapshot: SnapshotFrom<M>): string {
    return this.#key(snapshot as unknown as AnyMachineSnapshot);
  }

  /**
   * Every (state, event, next state) that the chart can go through. By default
   * the events that a state has a transition for, blocked guards included; with
   * `everywhere` each event of the domain in each state.
   */
  reachable({ everywhere = false } = {}): Triple<M>[] {
    const adjacency = this.#explore(everywhere ? allEvents : ownEvents);
    return adjacencyMapToArray(adjacency) as unknown as Triple<M>[];
  }

  /** Shortest paths that together take every reachable edge; a path inside a longer one is left out. */
  paths(): ChartPath<M>[] {
    const unknown = strangers(this.machine, this.#domain);
    if (unknown.length > 0) throw new Error(`chart "${this.machine.id}" has no transition for: ${unknown.join(', ')}`);
    return this.#testModel.getPaths(() => this.#edgePaths()).map((path) => this.#present(path));
  }

  /** One shortest path to each state: the places to try a negative probe from. */
  prefixes(): ChartPath<M>[] {
    const seen = new Set<string>();
    const firstOfItsState = ({ state }: AnyPath) => !seen.has(this.#key(state)) && seen.add(this.#key(state));
    return this.#edgePaths()
      .filter(firstOfItsState)
      .map((path) => this.#present(path));
  }

  #explore(events: typeof ownEvents) {
    const { input, limit = DEFAULT_LIMIT } = this.#options;
    return getAdjacencyMap<AnyMachineSnapshot, AnyEventObject, unknown>(this.machine, {
      input,
      limit,
      events: (snapshot) => {
        assertSound(snapshot);
        return snapshot.status === 'active' ? events(this.#domain, snapshot) : [];
      },
      serializeState: (snapshot) => this.#key(snapshot),
    });
  }

  /** One path per edge, shortest first: a state's first path leads to its source over the shortest way. */
  #edgePaths(): AnyPath[] {
    const vertices = Object.entries(this.#explore(enabledEvents));
    const edges = new Map(
      vertices.map(([key, { transitions }]) => [key, Object.values<Step<AnyStateMachine>>(transitions)]),
    );
    const [first] = vertices;
    if (!first) throw new Error(`chart "${this.machine.id}" has no initial state`);
    const [initialKey, { state: initial }] = first;
    const start: AnyPath = { state: initial, weight: 0, steps: [{ state: initial, event: { type: 'xstate.init' } }] };
    const paths = [start];
    const shortest = new Map([[initialKey, start]]);
    // A Map also yields what is added while it is walked, so it is the queue of the breadth-first search.
    for (const [key, path] of shortest) {
      for (const { event, state } of edges.get(key) ?? []) {
        const longer = { state, weight: path.weight + 1, steps: [...path.steps, { state, event }] };
        paths.push(longer);
        if (!shortest.has(this.#key(state))) shortest.set(this.#key(state), longer);
      }
    }
    return paths;
  }

  #key({ value, context, children, status, historyValue }: AnyMachineSnapshot): string {
    const history = Object.entries(historyValue as Record<string, { id: string }[]>);
    return JSON.stringify({
      value,
      context: this.#options.project ? this.#options.project(context) : context,
      children: Object.keys(children).sort(),
      status,
      history: history.map(([id, nodes]) => [id, nodes.map((node) => node.id)]),
    });
  }

  #present(path: AnyPath | TestPath<AnyMachineSnapshot, EventObject>): ChartPath<M> {
    const { steps, state } = path;
    const test = (params: object) => this.#testModel.testPath(path, params);
    return { title: titleOf(steps), steps, state, test } as unknown as ChartPath<M>;
  }
}

/** The model of a chart; see `ChartModel`. */
export function chartModel<M extends AnyStateMachine>(machine: M, options: ChartModelOptions<M>): ChartModel<M> {
  return new ChartModel(machine, options);
}

function assertSound({ status, machine, value, error, children }: AnyMachineSnapshot): void {
  if (status !== 'error') return;
  const hint = Object.keys(children).length === 0 ? ' (does it need an input?)' : '';
  throw new Error(`chart "${machine.id}" fails in ${JSON.stringify(value)}${hint}: ${error}`, { cause: error });
}

function titleOf(steps: readonly { readonly event: EventObject }[]): string {
  const events = steps.slice(1).map(({ event }) => {
    const { type, actorId: _, ...payload } = event as AnyEventObject;
    const detail = JSON.stringify(payload);
    return detail === '{}' ? eventLabel(type) : `${eventLabel(type)} ${detail}`;
  });
  const title = events.join(' → ') || 'start';
  return title.length > TITLE_LENGTH ? `…${title.slice(-TITLE_LENGTH)}` : title;
}
