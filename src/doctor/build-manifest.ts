/** `dist/build.json`, which the build writes: what it made, and of which sources (docs/doctor.md). */
import * as z from 'zod/mini';
import { parseObject } from '../config/json-object.ts';

const DIGEST = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const FILE = z.string().check(z.regex(/^[\w-][\w.-]*$/));
const SOURCE = z.string().check(z.regex(/^src(?:\/[\w-][\w.-]*)+$/));

export type BuildManifest = NonNullable<ReturnType<typeof parseBuildManifest>>;

/** `files` lie in `dist/`, `sources` below the root; both map to SHA-256 in hex. `undefined` when it does not fit. */
export function parseBuildManifest(bytes: Uint8Array) {
  const schema = z.strictObject({
    schemaVersion: z.literal(1),
    version: z.string(),
    files: z.record(FILE, DIGEST),
    sources: z.record(SOURCE, DIGEST),
  });
  const result = schema.safeParse(parseObject(bytes));
  return result.success ? result.data : undefined;
}
