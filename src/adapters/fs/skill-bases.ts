/**
 * Which shipped skill each of the operator's versions was copied from
 * (docs/skills.md). Only reads: the doctor uses it too.
 */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { IssueLog } from '../../config/issues.ts';
import { isSkillName } from '../../config/limits.ts';
import { parseStrictJson } from '../../config/strict-json.ts';
import type { ShippedSkill } from '../../ports/setup/customization.ts';
import { readRegularFile } from './regular-file.ts';
import { readSkill } from './skill-tree.ts';

const MAX_BASES_BYTES = 65_536;

export type SkillBases =
  | { readonly kind: 'none' }
  /** Skill name → SHA-256 in lower-case hex. */
  | { readonly kind: 'bases'; readonly bases: ReadonlyMap<string, string> }
  /** A link, not a file, too large, unreadable, or one byte not as it should be. */
  | { readonly kind: 'corrupt' };

const document = z.strictObject({
  schemaVersion: z.literal(1),
  bases: z.record(z.string().check(z.refine(isSkillName)), z.string().check(z.regex(/^[0-9a-f]{64}$/))),
});

/** The bases file in the directory of the operator's versions (absolute). */
export const basesFile = (overrides: string): string => join(overrides, '.pi-session-mcp-bases.json');

/** The recorded bases. Never throws. */
export function readBases(overrides: string): SkillBases {
  const file = readRegularFile(basesFile(overrides), MAX_BASES_BYTES);
  if (!file.ok) return { kind: file.reason === 'missing' ? 'none' : 'corrupt' };
  const bases = parseBases(file.bytes);
  return bases === undefined ? { kind: 'corrupt' } : { kind: 'bases', bases };
}

/** @returns `undefined` for anything but a valid bases file of at most 64 KiB. */
export function parseBases(bytes: Uint8Array): Map<string, string> | undefined {
  if (bytes.length > MAX_BASES_BYTES) return undefined;
  const json = parseStrictJson(bytes, new IssueLog('configuration'));
  const parsed = json.ok ? document.safeParse(json.value) : undefined;
  return parsed?.success ? new Map(Object.entries(parsed.data.bases)) : undefined;
}

/** The skill of this name among those that a package ships. Never throws. */
export function shippedSkill(packageRoot: string, name: string): ShippedSkill {
  const read = isSkillName(name) ? readSkill(join(packageRoot, 'skills', name)) : undefined;
  return read?.ok ? { ok: true, fingerprint: read.tree.fingerprint } : { ok: false };
}
