/** What the package.json of a Pi extension has to say (docs/extensions.md). */
import { isObject, parseObject } from './json-object.ts';

export const MAX_MANIFEST_BYTES = 1_048_576;
const MAX_ENTRIES = 64;
/** Pi's manifest takes these as patterns, and Pi alone can expand them. */
const PATTERN = /^[!+-]|[*?]/;

export interface ExtensionManifest {
  readonly name: unknown;
  readonly version: unknown;
  /** `pi.extensions`, when it is a list of 1–64 strings. */
  readonly entries: readonly string[] | undefined;
}

/** `undefined` for what is no JSON object. */
export function parseExtensionManifest(bytes: Uint8Array): ExtensionManifest | undefined {
  const manifest = parseObject(bytes);
  if (manifest === undefined) return undefined;
  const { name, version, pi } = manifest;
  return { name, version, entries: entriesOf(isObject(pi) ? pi['extensions'] : undefined) };
}

export function isEntryPattern(entry: string): boolean {
  return PATTERN.test(entry);
}

function entriesOf(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ENTRIES) return undefined;
  const entries = value.filter((entry) => typeof entry === 'string');
  return entries.length === value.length ? entries : undefined;
}
