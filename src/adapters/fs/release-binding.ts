/** What a registration is bound to: the entry itself, and the bytes that it starts (docs/setup.md). Only reads. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { IntendedEntry } from '../../ports/setup/registration.ts';
import { readTree, type TreeFile, type TreeLimits } from './bounded-tree.ts';
import { readRegularFile } from './regular-file.ts';
import { fingerprintOf } from './skill-tree.ts';

export type ReleaseFingerprint = { readonly ok: true; readonly fingerprint: string } | { readonly ok: false };

const FRAME = 'pi-session-mcp release 1';
const MANIFEST = 'package.json';
const LOCKFILES = ['npm-shrinkwrap.json', 'package-lock.json'];
const MAX_FILE_BYTES = 16_777_216;

const DIST: TreeLimits = {
  files: 512,
  bytes: MAX_FILE_BYTES,
  levels: 8,
  entries: 2048,
  wanted: (name) => /\.(?:[cm]?js|json|node|wasm)$/.test(name),
};

/** SHA-256 in lower-case hex over command, arguments in their order and environment by name. Total. */
export function registrationFingerprint({ command, args, env }: IntendedEntry): string {
  const variables = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  // JSON of text escapes what is not well-formed, so different entries stay different.
  return createHash('sha256')
    .update(JSON.stringify({ command, args, env: variables }))
    .digest('hex');
}

/**
 * SHA-256 in lower-case hex over package.json, the lockfiles if there are any, and every
 * module in dist/. Not ok: one of them is missing, unreadable, too large or a link, or a link lies among them. Never throws.
 *
 * @param packageRoot Absolute, as Node resolved it.
 */
export function releaseFingerprint(packageRoot: string): ReleaseFingerprint {
  const dist = readTree(join(packageRoot, 'dist'), DIST);
  if (!dist.ok || dist.tree.files.length === 0) return { ok: false };
  const files: TreeFile[] = [];
  for (const path of [MANIFEST, ...LOCKFILES]) {
    const read = readRegularFile(join(packageRoot, path), MAX_FILE_BYTES);
    if (read.ok) files.push({ path, bytes: read.bytes });
    else if (read.reason !== 'missing' || path === MANIFEST) return { ok: false };
  }
  files.push(...dist.tree.files.map(({ path, bytes }) => ({ path: `dist/${path}`, bytes })));
  return { ok: true, fingerprint: fingerprintOf(files, FRAME) };
}
