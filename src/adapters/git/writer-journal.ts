/**
 * What is under way with a writer, as a file in the writer's own directory
 * (`state.json`). Written whole or not at all; the writer itself never sees it.
 */
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ALIAS, MAX_WRITERS } from '../../config/limits.ts';
import type { JournalRead, StepOutcome, WriterPhase } from '../../ports/writers/lifecycle.ts';
import { syncDirectory } from './clone.ts';

const MAX_BYTES = 4_096;
const FILE = 'state.json';
/** What an interrupted write leaves behind. */
const NEXT = 'state.json.new';

/** `<alias>-<n>`, from 1; the alias is a configured one, and the name part of paths and refs. */
export function writerName(alias: string, index: number): string | undefined {
  const isIndex = Number.isInteger(index) && index >= 1 && index <= MAX_WRITERS;
  return isIndex && ALIAS.test(alias) ? `${alias}-${index}` : undefined;
}

const PHASES: Readonly<Record<WriterPhase, true>> = {
  cloning: true,
  preparing: true,
  configuring: true,
  wrapping: true,
  registering: true,
  controlling: true,
  accepting: true,
  ready: true,
  resetting: true,
  recreating: true,
  unregistering: true,
  removing: true,
};

export interface WriterJournal {
  read(): Promise<JournalRead>;
  record(phase: WriterPhase): Promise<StepOutcome>;
  forget(): Promise<StepOutcome>;
}

/**
 * @param directory The writer's own, absolute. No method rejects.
 * A directory that holds anything and no journal is nobody's to touch: it reads as not ok.
 */
export function createWriterJournal(directory: string, name: string): WriterJournal {
  const path = join(directory, FILE);
  return {
    async read() {
      try {
        return await readPhase(directory, path, name);
      } catch {
        return { ok: false };
      }
    },
    async record(phase) {
      try {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        const file = await open(join(directory, NEXT), 'w', 0o600);
        try {
          await file.writeFile(`${JSON.stringify({ schemaVersion: 1, name, phase })}\n`);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(join(directory, NEXT), path);
        await syncDirectory(directory);
        await syncDirectory(dirname(directory));
        return { ok: true };
      } catch {
        return { ok: false };
      }
    },
    async forget() {
      try {
        // While anything is left, somebody has to know of it.
        const entries = (await readdir(directory).catch(ignoreMissing)) ?? [];
        if (entries.some((entry) => entry !== FILE && entry !== NEXT)) return { ok: false };
        await unlink(path).catch(ignoreMissing);
        await unlink(join(directory, NEXT)).catch(ignoreMissing);
        await rmdir(directory).catch(ignoreMissing);
        await syncDirectory(dirname(directory));
        return { ok: true };
      } catch {
        return { ok: false };
      }
    },
  };
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

async function readPhase(directory: string, path: string, name: string): Promise<JournalRead> {
  const place = await lstat(directory).catch(ignoreMissing);
  if (!place) return { ok: true, phase: null };
  // Somebody else's, or open to others: nothing in it says anything.
  if (!place.isDirectory() || place.uid !== process.getuid?.() || (place.mode & 0o077) !== 0) return { ok: false };
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(ignoreMissing);
  if (!file) {
    const left = (await readdir(directory)).filter((entry) => entry !== NEXT);
    return left.length === 0 ? { ok: true, phase: null } : { ok: false };
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > MAX_BYTES) return { ok: false };
    return parse(await file.readFile('utf8'), name);
  } finally {
    await file.close();
  }
}

function parse(text: string, name: string): JournalRead {
  const record: unknown = JSON.parse(text);
  if (
    typeof record !== 'object' ||
    record === null ||
    Object.keys(record).sort().join() !== 'name,phase,schemaVersion'
  ) {
    return { ok: false };
  }
  const { schemaVersion, phase, name: recorded } = record as Record<string, unknown>;
  const isOurs = schemaVersion === 1 && recorded === name && typeof phase === 'string' && Object.hasOwn(PHASES, phase);
  return isOurs ? { ok: true, phase: phase as WriterPhase } : { ok: false };
}
