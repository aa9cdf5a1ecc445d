/** The durable state of setup, `ownership.json` (docs/setup.md). Whoever writes holds the kernel lock. */
import type { BigIntStats } from 'node:fs';
import { join } from 'node:path';
import type {
  OwnershipRead,
  OwnershipRecord,
  OwnershipStore,
  RecordKey,
  WriteOutcome,
} from '../../ports/setup/ownership.ts';
import { replaceFile, sweepTemporaries } from './durable-file.ts';
import { formatOwnership, keyOf, MAX_OWNERSHIP_BYTES, parseOwnership } from './ownership-codec.ts';
import { ensurePrivateDirectory, isOursAlone, privateDirectory } from './private-directory.ts';
import { readRegularFile } from './regular-file.ts';

const FILE_NAME = 'ownership.json';
const FILE_MODE = 0o600;

/**
 * The store in `directory` (absolute), which must be ours alone (0700) and is created
 * when the first record is written. The file is 0600, ours, and neither a link nor hard-linked.
 */
export function ownershipStore(directory: string): OwnershipStore {
  const path = join(directory, FILE_NAME);

  function read(): OwnershipRead {
    const place = privateDirectory(directory);
    if (place === 'missing') return { ok: true, records: [] };
    if (place === 'refused') return { ok: false };
    const file = readRegularFile(path, MAX_OWNERSHIP_BYTES, isTrusted);
    if (!file.ok) return file.reason === 'missing' ? { ok: true, records: [] } : { ok: false };
    const records = parseOwnership(file.bytes);
    return records === undefined ? { ok: false } : { ok: true, records };
  }

  function write(records: readonly OwnershipRecord[]): WriteOutcome {
    const bytes = formatOwnership(records);
    if (bytes === undefined || !ensurePrivateDirectory(directory)) return { ok: false };
    sweepTemporaries(path);
    return { ok: replaceFile(path, bytes, FILE_MODE) };
  }

  return {
    read: async () => read(),
    put: async (record) => {
      const old = read();
      return old.ok ? write(withRecord(old.records, record)) : { ok: false };
    },
    drop: async (key) => {
      const old = read();
      if (!old.ok) return { ok: false };
      const kept = old.records.filter((record) => keyOf(record) !== keyOf(key));
      return kept.length === old.records.length ? { ok: true } : write(kept);
    },
  };
}

function isTrusted(stat: BigIntStats): boolean {
  return stat.nlink === 1n && isOursAlone(stat);
}

/** In the place of the one with its key, so that the file's order tells what came first. */
function withRecord(records: readonly OwnershipRecord[], record: OwnershipRecord): OwnershipRecord[] {
  const index = records.findIndex((other: RecordKey) => keyOf(other) === keyOf(record));
  return index < 0 ? [...records, record] : records.with(index, record);
}
