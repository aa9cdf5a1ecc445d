/** What the writer charts may ask of the world: one method a step, each of them durable when it resolves (docs/writers-git.md). */

/**
 * What is under way with a writer, as its journal says it. A phase is recorded
 * before its step is tried, and a step may be tried again: so every phase is a place
 * to start from. Only a `ready` writer may be started by a client.
 */
export type WriterPhase =
  | 'cloning'
  | 'preparing'
  | 'configuring'
  | 'wrapping'
  | 'registering'
  | 'controlling'
  | 'accepting'
  | 'ready'
  | 'resetting'
  | 'recreating'
  | 'unregistering'
  | 'removing';

/** Null: there is no such writer. Not ok: nobody can tell, and so nothing is done. */
export type JournalRead = { readonly ok: true; readonly phase: WriterPhase | null } | { readonly ok: false };

/** `busy`: a boundary of the writer runs, or another setup holds it. */
export type Fence = 'held' | 'busy' | 'unavailable';

/** `work`: something in the clone is neither of the baseline nor in the operator's checkout. */
export type Inspected = 'clean' | 'work' | 'unknown';

/** `incomplete`: what could come out is out, the rest is only in the clone. */
export type Collected = 'complete' | 'incomplete' | 'failed';

/** Does the client hold the entry that was registered? `unknown` also when it holds another one of the name. */
export type Consulted = 'present' | 'absent' | 'unknown';

export type StepOutcome = { readonly ok: boolean };

/**
 * One writer. No method rejects. An aborted one ends what it started before it
 * resolves, with whatever outcome; `quiesce` resolves when that has happened.
 */
export interface WriterPort {
  /** Keeps everybody else off: nothing of the writer runs, and nothing can be started, until `release`. */
  fence(signal: AbortSignal): Promise<Fence>;
  /** Also when nothing is held. */
  release(): Promise<void>;
  quiesce(): Promise<void>;
  read(signal: AbortSignal): Promise<JournalRead>;
  record(phase: WriterPhase, signal: AbortSignal): Promise<StepOutcome>;
  /** Drops the journal, the last thing that is left of a writer. */
  forget(signal: AbortSignal): Promise<StepOutcome>;
  clone(signal: AbortSignal): Promise<StepOutcome>;
  /** The writer's own state: agent directory, events, caches. */
  prepare(signal: AbortSignal): Promise<StepOutcome>;
  /** The contained server's configuration. */
  configure(signal: AbortSignal): Promise<StepOutcome>;
  wrap(signal: AbortSignal): Promise<StepOutcome>;
  /** Asks the client for what was registered; changes nothing. */
  consult(signal: AbortSignal): Promise<Consulted>;
  /** The wrapper as a server of a client. */
  register(signal: AbortSignal): Promise<StepOutcome>;
  /** Canaries on the host that the boundary has to keep out of reach. */
  control(signal: AbortSignal): Promise<StepOutcome>;
  /** Acceptance from inside, bound to wrapper, package, image, Podman, network and cache. */
  accept(signal: AbortSignal): Promise<StepOutcome>;
  inspect(signal: AbortSignal): Promise<Inspected>;
  collect(signal: AbortSignal): Promise<Collected>;
  reset(signal: AbortSignal): Promise<StepOutcome>;
  recreate(signal: AbortSignal): Promise<StepOutcome>;
  unregister(signal: AbortSignal): Promise<StepOutcome>;
  /** Deletes wrapper, configuration, state and clone. */
  dispose(signal: AbortSignal): Promise<StepOutcome>;
}

export type WriterOperation =
  | 'provision'
  | 'control'
  | 'accept'
  | 'collect'
  | 'finish'
  | 'reset'
  | 'recreate'
  | 'remove';

export type WriterStep = Exclude<keyof WriterPort, 'fence' | 'release' | 'quiesce' | 'read' | 'consult'>;

/** What an operation comes to. Nothing but this leaves the chart. */
export type WriterCode =
  | 'writer_provisioned'
  | 'writer_ready'
  /** It was made before; its client had lost it. */
  | 'writer_registered'
  | 'writer_collected'
  | 'writer_finished'
  | 'writer_reset'
  | 'writer_recreated'
  | 'writer_removed'
  /** There was nothing to do. */
  | 'writer_unchanged'
  | 'writer_absent'
  | 'writer_busy'
  | 'writer_not_provisioned'
  | 'writer_not_ready'
  | 'control_required'
  | 'collection_incomplete'
  /** Something would be lost, and nobody has said that it may be. */
  | 'work_left'
  | 'restart_unfinished'
  | 'removal_unfinished'
  | 'journal_unreadable'
  | 'fence_unavailable'
  | 'interrupted'
  | 'defect'
  | `${WriterStep}_failed`;

export interface WriterInput {
  readonly operation: WriterOperation;
  readonly lifecycle: 'persistent' | 'ephemeral';
  /** The operator has said, for this run, that what is only in the clone may be lost. */
  readonly discard: boolean;
}
