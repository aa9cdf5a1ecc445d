/**
 * Pi's file tools, on regular files only. Opening a FIFO blocks a thread of
 * Node's pool until somebody opens its other end: four of them stop every file
 * operation of the process, and one alone keeps it from ever exiting.
 */
import { constants, access as fsAccess, mkdir, open, readFile, stat, writeFile } from 'node:fs/promises';
import type { Sdk, ToolDefinition } from './sdk.ts';

/** A directory passes: opening one fails at once, with an error that the model understands. */
async function requireOrdinary(path: string): Promise<void> {
  const stats = await stat(path);
  if (!stats.isFile() && !stats.isDirectory()) throw new Error('Not a regular file');
}

async function access(path: string, mode: number): Promise<void> {
  await fsAccess(path, mode);
  await requireOrdinary(path);
}

/** Up to its size when opened, so that a growing file ends; a file of `/proc` says 0 and is read to its end. */
async function* chunksOf(path: string): AsyncIterable<Uint8Array> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    yield* handle.createReadStream({ autoClose: false, ...(size > 0 && { end: size - 1 }) });
  } finally {
    await handle.close();
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

async function write(path: string, content: string): Promise<void> {
  await requireOrdinary(path).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  await writeFile(path, content, 'utf-8');
}

/**
 * The built-in tools of a session as custom tools: these stand above what an
 * extension registers, so that no later registration can take their place.
 * `bash` has operations of its own and is not among them.
 */
export function builtInTools(sdk: Sdk, directory: string, names: readonly string[]): ToolDefinition[] {
  const read = {
    access: (path: string) => access(path, constants.R_OK),
    readFile: (path: string) => readFile(path),
    createReadStream: chunksOf,
    detectImageMimeType: sdk.detectSupportedImageMimeTypeFromFile,
  };
  const edit = {
    access: (path: string) => access(path, constants.R_OK | constants.W_OK),
    readFile: read.readFile,
    writeFile: write,
  };
  const makeDirectory = async (path: string) => void (await mkdir(path, { recursive: true }));
  const definitions = {
    read: () => sdk.createReadToolDefinition(directory, { operations: read }),
    edit: () => sdk.createEditToolDefinition(directory, { operations: edit }),
    write: () => sdk.createWriteToolDefinition(directory, { operations: { writeFile: write, mkdir: makeDirectory } }),
    grep: () => sdk.createGrepToolDefinition(directory),
    find: () => sdk.createFindToolDefinition(directory),
    ls: () => sdk.createLsToolDefinition(directory),
  };
  const chosen = Object.entries(definitions).filter(([name]) => names.includes(name));
  // The definitions' parameter types are more exact than the list's.
  return chosen.map(([, create]) => create() as unknown as ToolDefinition);
}
