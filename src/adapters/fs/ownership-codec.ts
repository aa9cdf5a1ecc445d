/** The text of `ownership.json` (docs/setup.md): strict both ways, so that what is written can always be read. */
import * as z from 'zod/mini';
import { IssueLog } from '../../config/issues.ts';
import { parseStrictJson } from '../../config/strict-json.ts';
import type { OwnershipRecord, RecordKey } from '../../ports/setup/ownership.ts';

export const MAX_OWNERSHIP_BYTES = 65_536;
const MAX_RECORDS = 128;

const REGISTRATION = /^pi-session-mcp(@[0-9a-f]{16})?$/;
const WAKE = 'wake:pi-session-mcp';
const SKILL = /^skill:pi-session-orchestration(@[0-9a-f]{16})?$/;

const fingerprint = z.string().check(z.regex(/^[0-9a-f]{64}$/));

const record = z
  .strictObject({
    client: z.enum(['codex', 'claude-code']),
    scope: z.enum(['user', 'project', 'local']),
    alias: z.string().check(z.maxLength(64)),
    phase: z.enum(['pending', 'owned']),
    fingerprint,
    release: z.optional(fingerprint),
    replaces: z.optional(fingerprint),
  })
  .check(z.refine(fits));

const document = z.strictObject({
  schemaVersion: z.literal(1),
  records: z.array(record).check(z.maxLength(MAX_RECORDS), z.refine(isUnique)),
});

/** One text for one key; keys are compared by it. */
export function keyOf({ client, scope, alias }: RecordKey): string {
  return `${client} ${scope} ${alias}`;
}

/** The records of a state file, or nothing if one byte of it is not as it should be. Never throws. */
export function parseOwnership(bytes: Uint8Array): OwnershipRecord[] | undefined {
  if (bytes.length > MAX_OWNERSHIP_BYTES) return undefined;
  const json = parseStrictJson(bytes, new IssueLog('configuration'));
  const parsed = json.ok ? document.safeParse(json.value) : undefined;
  return parsed?.success ? (parsed.data.records as OwnershipRecord[]) : undefined;
}

/** The bytes of a state file, or nothing if `parseOwnership` would refuse them. Never throws. */
export function formatOwnership(records: readonly OwnershipRecord[]): Uint8Array | undefined {
  const bytes = Buffer.from(`${JSON.stringify({ schemaVersion: 1, records }, null, 2)}\n`);
  return parseOwnership(bytes) === undefined ? undefined : bytes;
}

function isUnique(records: readonly RecordKey[]): boolean {
  return new Set(records.map(keyOf)).size === records.length;
}

/** Rules over more than one field of a record (src/ports/setup/ownership.ts). */
function fits({ client, scope, alias, phase, release, replaces }: z.infer<typeof record>): boolean {
  const isPlain = release === undefined && replaces === undefined;
  if (alias === WAKE) return client === 'claude-code' && scope === 'user' && isPlain;
  const [whole, project] = SKILL.exec(alias) ?? REGISTRATION.exec(alias) ?? [];
  if (whole === undefined || (client === 'codex' && scope !== 'user')) return false;
  if (scope === 'user' ? project !== undefined : project === undefined) return false;
  if (!SKILL.test(alias)) return release !== undefined && replaces === undefined;
  // The home slot of Claude Code is one, whatever the scope of the registration.
  return scope !== 'local' && release === undefined && (replaces === undefined || phase === 'pending');
}
