/** The writers of one workspace, ready to be worked on. */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { createRegistrationClient } from '../../adapters/clients/registration.ts';
import { configurationFiles } from '../../adapters/fs/configuration-files.ts';
import { ensurePrivateDirectory } from '../../adapters/fs/private-directory.ts';
import { repositoryRoot } from '../../adapters/fs/repository-root.ts';
import { removeTree } from '../../adapters/git/remove-tree.ts';
import { removeInstances } from '../../adapters/podman/instance-end.ts';
import { DEFAULT_IMAGE, type Workspace } from '../../config/configuration.ts';
import type { ConfigurationFiles } from '../../config/files.ts';
import { MAX_FILE_BYTES, MAX_WRITERS } from '../../config/limits.ts';
import { loadConfiguration } from '../../config/load-configuration.ts';
import type { Fence } from '../../ports/setup/run.ts';
import type { Target } from '../../ports/setup/target.ts';
import type { ImageOutcome } from '../../ports/writers/boundary.ts';
import { placesOf } from '../../writers/places.ts';
import { readRecord } from '../../writers/record.ts';
import { type ClientOf, readRegistration } from '../../writers/registration.ts';
import { createStation, type Station, type StationParts } from '../../writers/station.ts';
import type { Places } from '../places.ts';
import { openFence } from '../run-fence.ts';
import { namesUpTo, presentWriters } from './present.ts';
import { type ProbeOnce, probeOnce } from './probe.ts';

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

/** What is known better than the disk and this machine could tell now. */
export interface CrewKnowledge {
  /** With the modes that are to be recorded. */
  readonly files?: ConfigurationFiles;
  readonly probe?: ProbeOnce;
}

/** @param agentDirectory Pi's own, absolute. */
export function openCrew(
  alias: string,
  configurationFile: string,
  places: Places,
  agentDirectory: string,
  known: CrewKnowledge = {},
): CrewOutcome {
  const { home, packageRoot, stateDirectory } = places;
  const env = { PI_SESSION_MCP_CONFIG: configurationFile };
  const loaded = loadConfiguration({ env, packageRoot, files: known.files ?? configurationFiles });
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
  const probe = known.probe ?? probeOnce(state, alias);
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
  const present = presentWriters(state, alias);
  const all = namesUpTo(alias, MAX_WRITERS).filter((name) => configured.includes(name) || present.includes(name));
  const station = (name: string, options?: StationOptions) => createStation(parts(name, options));
  const forget = () => forgetUnused(state);
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

/** Unpacking takes its time, and gives the same for every writer. */
function rootOnce(stateDirectory: string, image = DEFAULT_IMAGE, probe: ProbeOnce) {
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

async function forgetUnused(stateDirectory: string): Promise<void> {
  const writers = readdirSync(stateDirectory).filter((name) => !name.startsWith('.'));
  const roots = writers.map((name) => readRecord(join(stateDirectory, name))?.writer.root);
  const used = new Set(roots.flatMap((root) => (root?.kind === 'tree' ? [root.path] : [])));
  const { forgetImages } = await import('../../adapters/podman/image.ts');
  await forgetImages(stateDirectory, used, removeTree);
  // The first box of another writer makes it again.
  if (writers.length === 0) removeInstances(stateDirectory);
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
