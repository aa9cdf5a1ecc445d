/**
 * An image of the operator's own Podman, as a tree that boxes can have as their root. It is copied out of their store
 * once, because a box has none of the operator's Podman state and settings (docs/boundary.md). Never pulled.
 */
import { spawn } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import * as z from 'zod/mini';
import type { BoundaryHost, ImageOutcome } from '../../ports/writers/boundary.ts';
import { BOX } from './box-places.ts';
import { capture } from './capture.ts';
import { copyOut, ended, OperatorsStore } from './image-copy.ts';
import { makePlaces } from './image-places.ts';
import { openInstance } from './instance.ts';
import { thisProcess } from './owner.ts';
import { CREDENTIAL_NAME } from './root.ts';

const DIRECTORY = '.images';
const DRAFT = '.new-';
const ID = /^(?:sha256:)?([0-9a-f]{64})$/;
const TRIAL = { timeoutMs: 60_000, maxOutputBytes: 64 * 1024 };

/** Those of an image that would change what the server is and whom it talks to, or what its shell and Git do. */
const NOT_FOR_US = new RegExp(
  `^(?:${[
    ...['HOME', 'HOSTNAME', 'TERM', 'LANG', 'TMPDIR', 'LD_.*', 'NODE_.*', 'UV_.*', 'PI_.*', 'GIT_.*', '.*_PROXY'],
    ...['OPENSSL_CONF', 'SSLKEYLOGFILE', 'ENV', 'BASH_ENV', 'BASHOPTS', 'SHELLOPTS', 'PS4', 'IFS', 'CDPATH'],
  ].join('|')})$`,
  'i',
);
/** What the box's first process, the server's wrapper and a session cannot do without. */
const TOOLS = 'for tool in cat cp git mkfifo mv rm sleep; do command -v "$tool" >/dev/null || exit 1; done; node -e 0';

const described = z.tuple([
  z.object({
    Id: z.string().check(z.regex(ID)),
    Config: z.nullish(z.object({ Env: z.nullish(z.array(z.string())) })),
  }),
]);

interface FoundImage {
  /** 64 hexadecimal digits. */
  readonly id: string;
  readonly environment: Readonly<Record<string, string>>;
}

function environmentOf(entries: readonly string[]): Record<string, string> {
  const pairs = entries.map((entry) => [entry.split('=', 1)[0] ?? '', entry] as const);
  const usable = pairs.filter(
    ([name]) => /^[A-Za-z_]\w*$/.test(name) && !NOT_FOR_US.test(name) && !CREDENTIAL_NAME.test(name),
  );
  const all = Object.fromEntries(usable.map(([name, entry]) => [name, entry.slice(name.length + 1)]));
  // Any other part would mean the working tree.
  const path = all['PATH']?.split(':').filter(isAbsolute).join(':');
  return { ...all, ...(path !== undefined && { PATH: path }) };
}

async function find(store: OperatorsStore, reference: string, signal: AbortSignal): Promise<FoundImage | undefined> {
  const { code, stdout } = await store.call(['image', 'inspect', '--format=json', reference], { signal });
  if (code !== 0) return undefined;
  try {
    const [{ Id, Config }] = described.parse(JSON.parse(stdout));
    return { id: ID.exec(Id)?.[1] ?? '', environment: environmentOf(Config?.Env ?? []) };
  } catch {
    return undefined;
  }
}

/**
 * Is it there? Asks the operator's Podman only. Never rejects.
 * @param reference Name, tag, digest or id, as `image` in `execution-modes.json` may be.
 */
export async function hasImage(
  host: BoundaryHost,
  reference: string,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<boolean> {
  return (await find(new OperatorsStore(host, environment), reference, signal)) !== undefined;
}

/** Deletes a tree, whatever rights it has, and follows no link. */
type RemoveTree = (path: string) => Promise<boolean>;

export interface ImageRequest {
  readonly host: BoundaryHost;
  /** The writers' common directory, absolute and free of links. */
  readonly stateDirectory: string;
  readonly reference: string;
  /** The Node that runs the server. */
  readonly nodePath: string;
  /** The operator's own. */
  readonly environment: NodeJS.ProcessEnv;
  readonly removeTree: RemoveTree;
}

/**
 * The image's tree, unpacked when it is not there yet: seconds to minutes. One call at a time for a
 * state directory: whoever calls holds setup's lock. Never rejects.
 */
export async function provideImage(request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
  const { host, stateDirectory, reference, environment, removeTree } = request;
  const store = new OperatorsStore(host, environment);
  const image = await find(store, reference, signal);
  if (!image) return { kind: 'missing' };
  const directory = join(stateDirectory, DIRECTORY);
  const place = join(directory, image.id);
  const root = { kind: 'tree', path: join(place, 'root'), image: reference, environment: image.environment } as const;
  try {
    if (isDirectory(root.path)) return { kind: 'ready', root };
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    await forgetDrafts(directory, removeTree);
    const draft = join(directory, DRAFT + crypto.randomUUID());
    const tree = join(draft, 'root');
    mkdirSync(tree, { recursive: true, mode: 0o700 });
    const isWhole = await fill(store, image, request, tree, signal).catch(() => false);
    if (isWhole) {
      // Half of one, whatever has become of the rest.
      await takeAway(place, directory, removeTree);
      renameSync(draft, place);
      return { kind: 'ready', root };
    }
    await removeTree(draft);
    return { kind: 'unusable' };
  } catch {
    return { kind: 'unusable' };
  }
}

/** Under its own name a tree is whole or not there, whenever we are killed. */
async function takeAway(place: string, directory: string, removeTree: RemoveTree): Promise<void> {
  if (!isDirectory(place)) return;
  const draft = join(directory, DRAFT + crypto.randomUUID());
  renameSync(place, draft);
  await removeTree(draft);
}

async function fill(
  store: OperatorsStore,
  { id, environment }: FoundImage,
  request: ImageRequest,
  tree: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(await copyOut(store, id, tree, signal))) return false;
  if (!makePlaces(tree) || !(await runs(request, tree, environment, signal))) return false;
  // The tree's name is its promise of being complete, also after a power failure.
  return ended(spawn('sync', ['--file-system', tree], { stdio: 'ignore', cwd: '/' }));
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

async function runs(
  { host, stateDirectory, nodePath }: ImageRequest,
  rootPath: string,
  rootEnvironment: FoundImage['environment'],
  signal: AbortSignal,
): Promise<boolean> {
  const opened = openInstance(stateDirectory, host.podman, host.seccompProfile);
  if (opened.kind === 'unusable') return false;
  const spec = {
    writer: 'image',
    owner: thisProcess(),
    network: 'none',
    rootPath,
    rootMounts: [],
    rootEnvironment,
  } as const;
  const mounts = [{ source: nodePath, destination: BOX.node }];
  const command = { argv: ['/bin/sh', '-c', TOOLS], mounts, ...TRIAL };
  const outcome = await capture(host, opened.instance, spec, command, signal);
  return outcome.kind === 'ended' && outcome.code === 0;
}

async function forgetDrafts(directory: string, removeTree: RemoveTree): Promise<void> {
  for (const name of readdirSync(directory)) if (name.startsWith(DRAFT)) await removeTree(join(directory, name));
}

/** Removes the trees that no writer has any more. For whoever holds setup's lock. Never rejects. */
export async function forgetImages(
  stateDirectory: string,
  used: ReadonlySet<string>,
  removeTree: RemoveTree,
): Promise<void> {
  const directory = join(stateDirectory, DIRECTORY);
  try {
    if (!isDirectory(directory)) return;
    for (const name of readdirSync(directory)) {
      const place = join(directory, name);
      if (name.startsWith(DRAFT)) await removeTree(place);
      else if (!used.has(join(place, 'root'))) await takeAway(place, directory, removeTree);
    }
  } catch {
    // It costs some disk.
  }
}
