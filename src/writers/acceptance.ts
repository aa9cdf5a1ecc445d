/** What a writer's acceptance was bound to: when one of these changes, it has to be accepted again. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { ReleaseFingerprint } from '../adapters/fs/release-binding.ts';
import { SERVER_VERSION } from '../version.ts';
import { readJson, writeJson } from './json-file.ts';
import type { WriterPlaces } from './places.ts';
import { readRecord } from './record.ts';

/** @returns `undefined` when the product or the record cannot be read. */
export function bindingOf(places: WriterPlaces, release: ReleaseFingerprint): string | undefined {
  // Podman and its version, the network, the root, the limits: all of them are in the record.
  const record = readJson(places.record);
  if (!release.ok || record === undefined) return undefined;
  const parts = [release.fingerprint, SERVER_VERSION, process.execPath, record];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

export function writeAcceptance(places: WriterPlaces, binding: string): boolean {
  return writeJson(places.acceptance, { schemaVersion: 1, binding });
}

/** Also: is the tree of its image still where the record says? Without it no box starts. */
export function isAccepted(places: WriterPlaces, release: ReleaseFingerprint): boolean {
  const root = readRecord(places.directory)?.writer.root;
  if (root?.kind === 'tree' && !existsSync(root.path)) return false;
  const { schemaVersion, binding } = readJson(places.acceptance) ?? {};
  return schemaVersion === 1 && binding !== undefined && binding === bindingOf(places, release);
}
