/** What `codex mcp get NAME --json` says, held against the intended entry. */
import * as z from 'zod/mini';
import { IssueLog } from '../../config/issues.ts';
import { parseStrictJson } from '../../config/strict-json.ts';
import type { Inspection, IntendedEntry } from '../../ports/setup/registration.ts';
import { lastLine, type Printed } from './client-commands.ts';
import { sameList, variableLines } from './entry.ts';

const filter = z.nullable(z.array(z.string()));

/** How the server is started has to be understood completely, so no unknown field is taken here. */
const stdio = z.strictObject({
  type: z.literal('stdio'),
  command: z.string(),
  args: z.array(z.string()),
  env: z.nullable(z.record(z.string(), z.string())),
  env_vars: z.array(z.unknown()),
  cwd: z.nullable(z.string()),
});

/** What else Codex has to say about an entry (time limits, approvals) is the user's own matter. */
const shown = z.object({
  name: z.string(),
  enabled: z.boolean(),
  transport: z.union([stdio, z.object({ type: z.string().check(z.refine((type) => type !== 'stdio')) })]),
  enabled_tools: filter,
  disabled_tools: filter,
});

type Shown = z.infer<typeof shown>;

export function readCodexEntry({ code, stdout, stderr }: Printed, alias: string, entry: IntendedEntry): Inspection {
  const absent = `Error: No MCP server named '${alias}' found.`;
  if (code === 1 && stdout.trim() === '' && lastLine(stderr) === absent) return 'absent';
  if (code !== 0) return 'unsupported';
  const json = parseStrictJson(Buffer.from(stdout), new IssueLog('configuration'));
  const parsed = json.ok ? shown.safeParse(json.value) : undefined;
  if (!parsed?.success || parsed.data.name !== alias) return 'unsupported';
  return startsTheSame(parsed.data.transport, entry) && isInEffect(parsed.data) ? 'equivalent' : 'divergent';
}

function startsTheSame(transport: Shown['transport'], entry: IntendedEntry): boolean {
  return (
    'command' in transport &&
    transport.command === entry.command &&
    sameList(transport.args, entry.args) &&
    sameList(variableLines(transport.env ?? {}), variableLines(entry.env)) &&
    transport.env_vars.length === 0 &&
    transport.cwd === null
  );
}

/** A server that is switched off, or shows a part of its tools, is not the one that was asked for. */
function isInEffect({ enabled, enabled_tools, disabled_tools }: Shown): boolean {
  return enabled && enabled_tools === null && (disabled_tools ?? []).length === 0;
}
