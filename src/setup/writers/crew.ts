/** The writers of one workspace, ready to be worked on. */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createRegistrationClient } from '../../adapters/clients/registration.ts';
import { configurationFiles } from '../../adapters/fs/configuration-files.ts';
import { ensurePrivateDirectory } from '../../adapters/fs/private-directory.ts';
import { repositoryRoot } from '../../adapters/fs/repository-root.ts';
import { removeTree } from '../../adapters/git/remove-tree.ts';
import { writerName } from '../../adapters/git/writer-journal.ts';
import { DEFAULT_IMAGE, type Workspace } from '../../config/configuration.ts';
import { MAX_FILE_BYTES, MAX_WRITERS } from '../../config/limits.ts';
import { loadConfiguration } from '../../config/load-configuration.ts';
import type { Fence } from '../../ports/setup/run.ts';
import type { Target } from '../../ports/setup/target.ts';
import type { BoundaryHost, ImageOutcome } from '../../ports/writers/boundary.ts';
import { placesOf } from '../../writers/places.ts';
import { readRecord } from '../../writers/record.ts';
import { type ClientOf, readRegistration } from '../../writers/registration.ts';
import { createStation, type Station, type StationParts } from '../../writers/station.ts';
import type { Places } from '../places.ts';
import { openFence } from '../run-fence.ts';

export interface StationOptions {
  /** The one that the operator has named. */
  readonly client?: Target | undefined;
  /** For a writer that no client knows yet. */
  readonly fallback?: Target | undefined;
  /** See `StationParts`. */
  readonly beside?: boolean;
}

export interface Crew {
  readonly workspace: Workspace;
  /** Lock and guardian of the whole run. */
  readonly fence: Fence;
  readonly clientOf: ClientOf;
  /** As configured, from 1. */
  readonly configured: readonly string[];
  /** The same, and what else of this workspace's is there. */
  readonly all: readonly string[];
  parts(name: string, options?: StationOptions): StationParts;
  station(name: string, options?: StationOptions): Station;
  /** What the writers' boxes have as their root; an image is unpacked if need be. Only with the fence held. */
  root(signal: AbortSignal): Promise<ImageOutcome>;
  /** Removes what no writer of any workspace needs any more. Only with the fence held. Never rejects. */
  forget(): Promise<void>;
}

export type CrewOutcome =
  | { readonly ok: true; readonly crew: Crew }
  | { readonly ok: false; readonly code: 'doctor_failed' | 'workspace_unknown' | 'operation_failed' };

/** @param agentDirectory Pi's own, absolute. */
export function openCrew(
  alias: string,
  configurationFile: string,
  places: Places,
  agentDirectory: string,
): CrewOutcome {
  const { home, packageRoot, stateDirectory } = places;
  const env = { PI_SESSION_MCP_CONFIG: configurationFile };
  const loaded = loadConfiguration({ env, packageRoot, files: configurationFiles });
  if (!loaded.ok) return { ok: false, code: 'doctor_failed' };
  const { configuration } = loaded;
  const workspace = Object.hasOwn(configuration.workspaces, alias) ? configuration.workspaces[alias] : undefined;
  if (!workspace) return { ok: false, code: 'workspace_unknown' };
  const state = writersDirectory(stateDirectory);
  if (state === undefined) return { ok: false, code: 'operation_failed' };
  const { fence, runner } = openFence(places);
  const clientOf: ClientOf = ({ target, project, entry }, name) => {
    const common = { runner, environment: process.env, directory: stateDirectory };
    return createRegistrationClient({ target, alias: name, entry, project, ...common });
  };
  const probe = probeOnce(state, recordedPodman(state, alias));
  const root = rootOnce(state, workspace.container?.image, probe);
  const request = { configuration, workspace, catalog: catalogOf(configurationFile) };
  const parts = (name: string, { client, fallback, beside = false }: StationOptions = {}): StationParts => {
    const place = placesOf(state, name);
    const entry = {
      command: process.execPath,
      args: [join(packageRoot, 'dist', 'writer.js'), place.directory],
      env: {},
    };
    const read = readRegistration(place, existsSync);
    const known = read.kind === 'known' ? read.registered : undefined;
    const target = client ?? known?.target ?? fallback;
    // Who registers it again does it where it was.
    const isThere = target && known?.target.client === target.client && known.target.scope === target.scope;
    const registered = target && { target, project: isThere ? known.project : projectOf(target, places), entry };
    const common = {
      state,
      home,
      packageRoot,
      agentDirectory,
      configurationFile,
      request,
      probe,
      root,
      clientOf,
      beside,
    };
    return { places: place, ...common, ...(registered && { registered }) };
  };
  const configured = namesUpTo(alias, workspace.container?.writers ?? 0);
  const present = namesUpTo(alias, MAX_WRITERS).filter((name) => existsSync(placesOf(state, name).directory));
  const all = namesUpTo(alias, MAX_WRITERS).filter((name) => configured.includes(name) || present.includes(name));
  const station = (name: string, options?: StationOptions) => createStation(parts(name, options));
  const forget = () => forgetUnusedImages(state);
  return { ok: true, crew: { workspace, fence, clientOf, configured, all, parts, station, root, forget } };
}

function writersDirectory(stateDirectory: string): string | undefined {
  const directory = join(stateDirectory, 'writers');
  try {
    return ensurePrivateDirectory(stateDirectory) && ensurePrivateDirectory(directory)
      ? realpathSync(directory)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Directories of the Podman that this workspace's writers were made with: it is good without `PATH`, too. */
function recordedPodman(state: string, alias: string): string[] {
  const known = namesUpTo(alias, MAX_WRITERS).map((name) => readRecord(placesOf(state, name).directory)?.host.podman);
  return [...new Set(known.flatMap((podman) => (podman === undefined ? [] : [dirname(podman)])))];
}

/** Trying takes seconds, and gives the same for every writer. */
function probeOnce(stateDirectory: string, recorded: readonly string[]): () => Promise<BoundaryHost | undefined> {
  let found: Promise<BoundaryHost | undefined> | undefined;
  const tryPodman = async () => {
    const { probe } = await import('../../adapters/podman/probe.ts');
    const path = [process.env['PATH'] ?? '', ...recorded].join(':');
    const outcome = await probe({ stateDirectory, path });
    return outcome.kind === 'usable' ? outcome.host : undefined;
  };
  return () => {
    found ??= tryPodman();
    return found;
  };
}

/** Unpacking takes its time, and gives the same for every writer. */
function rootOnce(stateDirectory: string, image = DEFAULT_IMAGE, probe: () => Promise<BoundaryHost | undefined>) {
  let found: Promise<ImageOutcome> | undefined;
  const provide = async (signal: AbortSignal): Promise<ImageOutcome> => {
    if (image === DEFAULT_IMAGE) return { kind: 'ready', root: { kind: 'host' } };
    const host = await probe();
    if (!host) return { kind: 'unusable' };
    const { provideImage } = await import('../../adapters/podman/image.ts');
    const common = { host, stateDirectory, reference: image, environment: process.env, removeTree };
    return provideImage({ ...common, nodePath: realpathSync(process.execPath) }, signal);
  };
  return (signal: AbortSignal) => {
    found ??= provide(signal);
    return found;
  };
}

async function forgetUnusedImages(stateDirectory: string): Promise<void> {
  const roots = readdirSync(stateDirectory).map((name) => readRecord(join(stateDirectory, name))?.writer.root);
  const used = new Set(roots.flatMap((root) => (root?.kind === 'tree' ? [root.path] : [])));
  const { forgetImages } = await import('../../adapters/podman/image.ts');
  await forgetImages(stateDirectory, used, removeTree);
}

/** Of a file that was loaded a moment ago, and so is sound. */
function catalogOf(configurationFile: string): Readonly<Record<string, unknown>> {
  const read = configurationFiles.read(configurationFile, MAX_FILE_BYTES);
  if (!read.ok) return {};
  try {
    const text = Buffer.from(read.bytes)
      .toString('utf8')
      .replace(/^\uFEFF/, '');
    return (JSON.parse(text) as { readonly skillCatalog?: Readonly<Record<string, unknown>> }).skillCatalog ?? {};
  } catch {
    return {};
  }
}

function projectOf({ scope }: Target, { project, home }: Places): string {
  return scope === 'local' ? repositoryRoot(project) : home;
}

function namesUpTo(alias: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => writerName(alias, index + 1)).filter((name) => name !== undefined);
}
