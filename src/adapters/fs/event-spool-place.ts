/** Where turn events and claims lie, and which directories may be trusted (docs/turn-events.md). */
import { lstat, mkdir, opendir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';

const OTHERS = 0o077;
const PRODUCT = 'pi-session-mcp';
/** More writers than anybody has; a longer list is not read to its end. */
const MAX_WRITERS = 64;
const WRITER = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export interface SpoolWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute directory of the operator. */
  readonly home: string;
}

/** A real directory, ours, closed to everybody else. */
export async function isPrivateDirectory(path: string): Promise<boolean> {
  try {
    const stat = await lstat(path);
    return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & OTHERS) === 0;
  } catch {
    return false;
  }
}

/** Makes each of the directories unless it is there. @returns the last one; undefined when one is not to be trusted. */
export async function makePrivate(base: string, ...names: readonly string[]): Promise<string | undefined> {
  let path = base;
  for (const name of names) {
    path = join(path, name);
    try {
      await mkdir(path, { mode: 0o700 });
    } catch {
      // It is there, or it cannot be made: the look at it tells.
    }
    if (!(await isPrivateDirectory(path))) return undefined;
  }
  return path;
}

/** The runtime directory of the operator's login; some clients keep its name from their servers. */
async function runtimeDirectory({ env }: SpoolWorld): Promise<string | undefined> {
  const named = env['XDG_RUNTIME_DIR'];
  return named !== undefined && isAbsolute(named) && (await isPrivateDirectory(named)) ? named : undefined;
}

function stateDirectory({ home }: SpoolWorld): string {
  return join(home, '.local', 'state', PRODUCT);
}

/** @returns the private directory `name` of the product; undefined where none can be had. */
export async function openPlace(world: SpoolWorld, name: 'events' | 'claims'): Promise<string | undefined> {
  const runtime = await runtimeDirectory(world);
  const first = runtime && (await makePrivate(runtime, PRODUCT, name));
  if (first) return first;
  if (!isAbsolute(world.home)) return undefined;
  try {
    await mkdir(join(world.home, '.local', 'state'), { recursive: true, mode: 0o700 });
  } catch {
    return undefined;
  }
  return makePrivate(join(world.home, '.local', 'state'), PRODUCT, name);
}

/**
 * The server's own spool. A writer's server is told where it is, and takes no
 * other place: nobody outside its boundary would look there.
 */
export async function openEventPlace(world: SpoolWorld): Promise<string | undefined> {
  const told = world.env['PI_SESSION_MCP_EVENTS'];
  if (told === undefined) return openPlace(world, 'events');
  return isAbsolute(told) && (await isPrivateDirectory(told)) ? told : undefined;
}

/** Every sound spool that a server of this operator may deliver to; makes none. */
export async function eventPlaces(world: SpoolWorld): Promise<readonly string[]> {
  const runtime = await runtimeDirectory(world);
  const places = runtime === undefined ? [] : [join(runtime, PRODUCT, 'events')];
  if (isAbsolute(world.home)) places.push(join(stateDirectory(world), 'events'), ...(await writerPlaces(world)));
  return privateOnes(places);
}

async function writerPlaces(world: SpoolWorld): Promise<string[]> {
  const writers = join(stateDirectory(world), 'writers');
  if (!(await isPrivateDirectory(writers))) return [];
  const names = (await entriesOf(writers, MAX_WRITERS)).filter((name) => WRITER.test(name));
  const directories = await privateOnes(names.map((name) => join(writers, name)));
  return directories.map((directory) => join(directory, 'events'));
}

async function privateOnes(paths: readonly string[]): Promise<string[]> {
  const sound = await Promise.all(paths.map(isPrivateDirectory));
  return paths.filter((_, index) => sound[index]);
}

/** The first entries of a directory, however many there are; none when it cannot be read. */
export async function entriesOf(path: string, most: number): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of await opendir(path, { bufferSize: 64 })) {
      names.push(name);
      if (names.length >= most) break;
    }
  } catch {
    // What was read is what there is.
  }
  return names;
}
