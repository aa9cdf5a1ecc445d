/** One writer for real: its steps over the box, git, the clients and the disk (docs/writers.md). */
import { existsSync, mkdirSync } from 'node:fs';
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../adapters/fs/durable-file.ts';
import { releaseFingerprint } from '../adapters/fs/release-binding.ts';
import { createHostGit } from '../adapters/git/host-git.ts';
import { removeTree } from '../adapters/git/remove-tree.ts';
import { createWriterGit } from '../adapters/git/writer-git.ts';
import { createWriterJournal } from '../adapters/git/writer-journal.ts';
import { openBoundary } from '../adapters/podman/boundary.ts';
import { createKernelLock } from '../adapters/process/kernel-lock.ts';
import type { HeldLock } from '../ports/setup/command.ts';
import type {
  BoundaryHost,
  BoxRoot,
  ImageOutcome,
  NetworkKind,
  WriterBoundary,
  WriterBox,
} from '../ports/writers/boundary.ts';
import type {
  CloneOutcome,
  Collection,
  InsideResult,
  RunInside,
  StatusOutcome,
  WriterGit,
} from '../ports/writers/git.ts';
import type { Fence, Inspected, StepOutcome, WriterPort } from '../ports/writers/lifecycle.ts';
import { bindingOf, writeAcceptance } from './acceptance.ts';
import { attempt, held, stateOf } from './attempts.ts';
import {
  type ContainedConfiguration,
  type ContainedRequest,
  containedConfiguration,
} from './contained-configuration.ts';
import { shakeHands } from './contained-handshake.ts';
import { controlIsolation } from './control.ts';
import { copyCredentials } from './credentials.ts';
import { dropHold, takeHold } from './hold.ts';
import { runInside } from './inside.ts';
import { writeJson } from './json-file.ts';
import { INSIDE, type WriterPlaces } from './places.ts';
import { readRecord, recordDocument } from './record.ts';
import { type ClientOf, consult, type RegisteredWriter, register, unregister } from './registration.ts';
import { writeSource } from './renewal.ts';
import { serverCommand } from './server-command.ts';
import { suitableNetworks } from './settings.ts';

const REVISION = 'HEAD';
const LOCK_WAIT_SECONDS = 2;
const PRIVATE_FILE = 0o600;
/** Against runaway forks; a build and its tests need hundreds. Asked for where this machine enforces it. */
const LIMITS = { processes: 4096 };

export interface StationParts {
  readonly places: WriterPlaces;
  /** The writers' common directory: the boundary's own. */
  readonly state: string;
  readonly home: string;
  readonly packageRoot: string;
  /** Pi's agent directory. */
  readonly agentDirectory: string;
  /** Absolute path of the operator's configuration. */
  readonly configurationFile: string;
  readonly request: ContainedRequest;
  /** How Podman works here; tried at most once a run. */
  readonly probe: () => Promise<BoundaryHost | undefined>;
  /** The root that is configured now; found at most once a run. */
  readonly root: (signal: AbortSignal) => Promise<ImageOutcome>;
  readonly clientOf: ClientOf;
  /** The operation leaves the clone's mounts as they are, so an idle server may go on running. */
  readonly beside: boolean;
  /** Where a new registration goes; undefined when it is not known, and then none is made. */
  readonly registered?: RegisteredWriter;
}

export interface Station extends WriterPort {
  /** Git's word on the clone, without the fence. */
  status(signal: AbortSignal): Promise<StatusOutcome>;
  /** Of the last collection, if there was one. */
  readonly collection: () => Collection | undefined;
  /**
   * Of the last acceptance: `kept` when the operator's Podman no longer has the image of the box,
   * `renewed` when it has another build of it, which the box has now.
   */
  readonly image: () => 'kept' | 'renewed' | undefined;
}

const OK: StepOutcome = { ok: true };
const FAILED: StepOutcome = { ok: false };
const stepOf = (ok: boolean): StepOutcome => (ok ? OK : FAILED);

/** The first that does what is wanted and works here. */
function networkOf(wanted: NetworkKind, host: BoundaryHost): NetworkKind | undefined {
  return suitableNetworks(wanted).find((kind) => host.networks.includes(kind));
}

class RealStation implements Station {
  readonly #parts: StationParts;
  readonly #journal;
  #lock: HeldLock | undefined;
  /** Held without the lock, beside a running box. */
  #isBeside = false;
  #collection: Collection | undefined;
  #image: 'kept' | 'renewed' | undefined;
  /** The step that was begun last. */
  #step: Promise<unknown> = Promise.resolve();

  constructor(parts: StationParts) {
    this.#parts = parts;
    this.#journal = createWriterJournal(parts.places.directory, parts.places.name);
  }

  collection = (): Collection | undefined => this.#collection;
  image = (): 'kept' | 'renewed' | undefined => this.#image;

  async fence(signal: AbortSignal): Promise<Fence> {
    return this.#track(async () => {
      const { places, beside } = this.#parts;
      const outcome = await createKernelLock({ directory: places.lock, waitSeconds: LOCK_WAIT_SECONDS }).acquire(
        signal,
      );
      if (outcome.kind === 'unavailable') return 'unavailable';
      if (outcome.kind === 'busy') {
        // A launcher runs. Its server may stay for what leaves the mounts as they are.
        this.#isBeside = beside && takeHold(places);
        return this.#isBeside ? 'held' : 'busy';
      }
      this.#lock = outcome.lock;
      dropHold(places);
      const boundary = await this.#boundary();
      if (!boundary) return 'unavailable';
      return (await boundary.reap()).left === 0 ? 'held' : 'busy';
    }, 'unavailable');
  }

  async release(): Promise<void> {
    if (this.#isBeside) dropHold(this.#parts.places);
    this.#isBeside = false;
    this.#lock?.release();
    this.#lock = undefined;
  }

  async quiesce(): Promise<void> {
    await this.#step;
  }

  read: WriterPort['read'] = () => this.#journal.read();
  record: WriterPort['record'] = (phase) => this.#shared(() => this.#journal.record(phase));
  forget: WriterPort['forget'] = () => this.#held(() => this.#journal.forget());

  clone: WriterPort['clone'] = (signal) => this.#baseline((git) => git.clone(REVISION, signal));
  reset: WriterPort['reset'] = (signal) => this.#baseline((git) => git.reset(REVISION, signal), this.#isBeside);
  recreate: WriterPort['recreate'] = (signal) => this.#baseline((git) => git.clone(REVISION, signal));

  prepare: WriterPort['prepare'] = () =>
    this.#held(async () => {
      const { places, agentDirectory, request } = this.#parts;
      const boundary = await this.#boundary();
      if (boundary?.create({ directory: places.directory }).kind !== 'ready') return FAILED;
      const { executionProfiles } = request.configuration;
      const selected = (request.workspace.container?.profiles ?? []).flatMap((alias) => executionProfiles[alias] ?? []);
      const selections = selected.map(({ provider, model }) => ({ provider, model }));
      const providers = [...new Set(selections.map(({ provider }) => provider))];
      if (!writeSource(places, { agentDirectory, selections })) return FAILED;
      return stepOf(copyCredentials({ from: agentDirectory, to: places.agent, providers }));
    });

  configure: WriterPort['configure'] = () =>
    this.#held(async () => {
      const made = containedConfiguration(this.#parts.request);
      return stepOf(made !== undefined && (await this.#writeConfiguration(made)));
    });

  wrap: WriterPort['wrap'] = (signal) => this.#held(() => this.#writeRecord(signal));

  consult: WriterPort['consult'] = (signal) =>
    this.#track(() => consult(this.#parts.places, this.#parts.clientOf, existsSync, signal), 'unknown');

  register: WriterPort['register'] = (signal) =>
    this.#held(async () => {
      const { places, registered, clientOf } = this.#parts;
      return stepOf(registered !== undefined && (await register(places, registered, clientOf, existsSync, signal)));
    });

  unregister: WriterPort['unregister'] = (signal) =>
    this.#held(async () => stepOf(await unregister(this.#parts.places, this.#parts.clientOf, existsSync, signal)));

  control: WriterPort['control'] = (signal) =>
    this.#held(async () => {
      const { home } = this.#parts;
      const [boundary, writer, command] = [await this.#boundary(), this.#box(), this.#command()];
      if (!boundary || !writer || !command) return FAILED;
      return stepOf(await controlIsolation({ home, boundary, writer, mounts: command.mounts }, signal));
    });

  accept: WriterPort['accept'] = (signal) =>
    this.#held(async () => {
      // Podman, or the product, may be another one than when the writer was made.
      if (!(await this.#writeRecord(signal)).ok) return FAILED;
      const { places, packageRoot, request } = this.#parts;
      const [boundary, writer, command] = [await this.#boundary(), this.#box(), this.#command()];
      if (!boundary || !writer || !command) return FAILED;
      const expected = { workspace: request.workspace.alias, profiles: request.workspace.container?.profiles ?? [] };
      if (!(await shakeHands(boundary, writer, command, expected, signal))) return FAILED;
      if (!(await this.#holds(boundary, writer, command.mounts, signal))) return FAILED;
      const binding = bindingOf(places, releaseFingerprint(packageRoot));
      return stepOf(binding !== undefined && writeAcceptance(places, binding));
    });

  inspect: WriterPort['inspect'] = (signal) =>
    this.#track(async (): Promise<Inspected> => {
      const found = await (await this.#git())?.hasWork(signal);
      return found?.ok ? (found.work ? 'work' : 'clean') : 'unknown';
    }, 'unknown');

  collect: WriterPort['collect'] = (signal) =>
    this.#track(async () => {
      const collected = await (await this.#git())?.collect(signal);
      if (!collected?.ok) return 'failed';
      this.#collection = collected.collection;
      return Object.keys(collected.collection.incomplete).length > 0 ? 'incomplete' : 'complete';
    }, 'failed');

  dispose: WriterPort['dispose'] = () =>
    this.#held(async () => {
      const { directory } = this.#parts.places;
      const git = await this.#git();
      if (git && !(await git.remove()).ok) return FAILED;
      const journal = new Set(['state.json', 'state.json.new']);
      const left = (await readdir(directory)).filter((entry) => !journal.has(entry));
      for (const entry of left) if (!(await removeTree(join(directory, entry)))) return FAILED;
      return OK;
    });

  async status(signal: AbortSignal): Promise<StatusOutcome> {
    return (await this.#git())?.status(signal) ?? { ok: false };
  }

  /** A step is awaited by `quiesce`, and its throwing is its failure. */
  #track<T>(work: () => Promise<T>, failure: T): Promise<T> {
    const step = work().catch(() => failure);
    this.#step = step;
    return step;
  }

  /** Nothing of the writer is changed by somebody who has lost the lock. */
  #held(work: () => Promise<StepOutcome>): Promise<StepOutcome> {
    return this.#track(async () => (this.#lock?.intact() ? work() : FAILED), FAILED);
  }

  /** The same for what may be done beside a running box. */
  #shared(work: () => Promise<StepOutcome>): Promise<StepOutcome> {
    return this.#track(async () => (this.#isBeside || this.#lock?.intact() ? work() : FAILED), FAILED);
  }

  async #boundary(): Promise<WriterBoundary | undefined> {
    const { places, probe, state } = this.#parts;
    const host = readRecord(places.directory)?.host ?? (await probe());
    const opened = host && openBoundary(host, state);
    return opened?.kind === 'ready' ? opened.boundary : undefined;
  }

  #box(): WriterBox | undefined {
    return readRecord(this.#parts.places.directory)?.writer;
  }

  #command() {
    return serverCommand(join(this.#parts.packageRoot, 'dist', 'writer.js'), process.execPath);
  }

  async #git(): Promise<WriterGit | undefined> {
    const { places, request } = this.#parts;
    const { name, directory } = places;
    const boundary = await this.#boundary();
    if (!boundary) return undefined;
    // This machine's Git, whatever an image calls by that name.
    const raw = runInside(boundary, { name, directory, root: { kind: 'host' } });
    // What was left undone by a crash is made up for before anything starts.
    const inside: RunInside = async (command, signal): Promise<InsideResult> => {
      const { kind } = boundary.create({ directory });
      return kind === 'ready' ? raw(command, signal) : { kind: 'failed' };
    };
    return createWriterGit({
      git: createHostGit(),
      writer: name,
      checkout: request.workspace.directory,
      directory,
      inside,
    });
  }

  #baseline(make: (git: WriterGit) => Promise<CloneOutcome>, isBeside = false): Promise<StepOutcome> {
    return (isBeside ? this.#shared : this.#held).call(this, async () => {
      const { places } = this.#parts;
      const git = await this.#git();
      const made = git && (await make(git));
      if (!made?.ok) return FAILED;
      mkdirSync(places.server, { recursive: true, mode: 0o700 });
      return stepOf(writeJson(places.baseline, { schemaVersion: 1, ...made.baseline }));
    });
  }

  async #writeConfiguration({ configuration, modes, skills }: ContainedConfiguration): Promise<boolean> {
    const { places, configurationFile } = this.#parts;
    const own = join(configurationFile, '..', 'skills');
    const copies = join(places.server, 'skills');
    if (!(await removeTree(copies))) return false;
    for (const name of skills) {
      if (existsSync(join(own, name)))
        await cp(join(own, name), join(copies, name), { recursive: true, dereference: true });
    }
    const put = (name: string, text: string) => replaceFile(join(places.server, name), Buffer.from(text), PRIVATE_FILE);
    return put('execution-modes.json', modes) && put('config.json', configuration);
  }

  async #writeRecord(signal: AbortSignal): Promise<StepOutcome> {
    const { places, probe, request } = this.#parts;
    const { network: wanted = 'none', cache = 'none' } = request.workspace.container ?? {};
    const host = await probe();
    const network = host && networkOf(wanted, host);
    const root = host && (await this.#root(signal));
    if (!host || !network || !root) return FAILED;
    if (cache !== 'none') mkdirSync(places.cache, { recursive: true, mode: 0o700 });
    const record = { host, root, network, limits: LIMITS, ...(cache !== 'none' && { cache }) };
    return stepOf(writeJson(places.record, recordDocument(record)));
  }

  /** Of an image that the operator has deleted, the tree that this writer has is as good as ever. */
  async #root(signal: AbortSignal): Promise<BoxRoot | undefined> {
    const found = await this.#parts.root(signal);
    const before = this.#box()?.root;
    const isSame = before?.kind === 'tree' && before.image === this.#parts.request.workspace.container?.image;
    if (found.kind === 'ready') {
      const isRenewed = isSame && found.root.kind === 'tree' && found.root.path !== before.path;
      this.#image = isRenewed ? 'renewed' : undefined;
      return found.root;
    }
    if (!isSame || !existsSync(before.path)) return undefined;
    this.#image = 'kept';
    return before;
  }

  async #holds(
    boundary: WriterBoundary,
    writer: WriterBox,
    mounts: Parameters<typeof attempt>[2],
    signal: AbortSignal,
  ) {
    const { home, agentDirectory, configurationFile, request, packageRoot, state } = this.#parts;
    const checkout = request.workspace.directory;
    const onHost = [
      ...[home, join(home, '.ssh'), join(home, '.gitconfig'), join(home, '.config'), join(home, '.profile')],
      ...[checkout, join(checkout, '.git'), join(checkout, '.git', 'hooks'), join(checkout, '.git', 'config')],
      ...[agentDirectory, join(agentDirectory, 'auth.json'), join(agentDirectory, 'extensions'), configurationFile],
      ...[state, this.#parts.places.record, join(packageRoot, 'dist', 'main.js')],
    ];
    const git = `${INSIDE.work}/.git`;
    const inBox = [`${git}/hooks`, `${git}/config`, `${git}/commondir`, INSIDE.agent, `${INSIDE.agent}/auth.json`];
    const system = [INSIDE.server, INSIDE.configuration, INSIDE.product, INSIDE.program, INSIDE.node];
    const before = stateOf(onHost.filter((path) => path !== state));
    const attempted = await attempt(
      boundary,
      writer,
      mounts,
      {
        forbidden: [...onHost, ...inBox, ...system, '/usr', '/usr/bin/git', '/etc', '/'],
        hidden: [home, agentDirectory, configurationFile, state, join(home, '.ssh')],
        allowed: [INSIDE.work, git, '/tmp', INSIDE.events, ...(writer.cache ? [INSIDE.cache] : [])],
      },
      signal,
    );
    const isUnchanged = stateOf(onHost.filter((path) => path !== state)) === before;
    return attempted !== undefined && held(attempted) && isUnchanged;
  }
}

export function createStation(parts: StationParts): Station {
  return new RealStation(parts);
}
