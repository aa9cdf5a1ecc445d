/** The registration of Claude Code, in one of its three scopes (docs/clients.md). */
import type { Inspection, IntendedEntry, RegistrationClient } from '../../ports/setup/registration.ts';
import type { Scope } from '../../ports/setup/target.ts';
import { listsNothingOfOurs, looksLike, readClaudeEntry, type ShownEntry } from './claude-output.ts';
import { type Scratch, withScratch } from './claude-scratch.ts';
import { type CommandEnd, mutationOf, type RunClient, SAYS_NOTHING } from './client-commands.ts';
import { isPrintable } from './entry.ts';

export interface ClaudeCodePlace {
  readonly scope: Scope;
  /** Absolute; where the project and local scopes belong to. */
  readonly project: string;
  /** A private one of ours that is nobody's project; it has to be there. */
  readonly directory: string;
}

/** `get` starts the server that it shows. Whether it answers does not matter here, so it gets little time. */
const SERVER_START_MS = 2_000;

/** No update, no telemetry, no wait for a server. */
const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_TELEMETRY: '1',
  MCP_TIMEOUT: String(SERVER_START_MS),
};

export function claudeCodeRegistration(
  run: RunClient,
  alias: string,
  entry: IntendedEntry,
  { scope, project, directory }: ClaudeCodePlace,
): RegistrationClient {
  const mcp = (args: readonly string[], scratch: Scratch, signal: AbortSignal, env: Record<string, string> = {}) => {
    const cwd = scope === 'user' ? scratch.neutral : project;
    return run({ args: ['mcp', ...args], cwd, env: { ...QUIET, ...env } }, signal);
  };

  const mutate = async (args: readonly string[], signal: AbortSignal) => {
    const end = await withScratch<CommandEnd>(directory, (scratch) => mcp(args, scratch, signal));
    return mutationOf(end ?? SAYS_NOTHING);
  };

  const look = async (scratch: Scratch, signal: AbortSignal): Promise<Inspection> => {
    // An entry of the user or of the local scope hides a project's. Without the user's configuration there is none.
    const env: Record<string, string> = scope === 'project' ? { CLAUDE_CONFIG_DIR: scratch.emptyConfiguration } : {};
    const end = await mcp(['get', alias], scratch, signal, env);
    if (!end.ok) return end.inspection;
    const inspection = judge(readClaudeEntry(end.printed, alias), scope, entry);
    if (inspection !== 'absent' || scope !== 'project') return inspection;
    // It starts the user's servers in the other scopes; here nothing is approved, so nothing starts.
    const list = await mcp(['list'], scratch, signal, env);
    if (!list.ok) return list.inspection;
    return listsNothingOfOurs(list.printed, alias) ? 'absent' : 'unsupported';
  };

  return {
    async inspect(signal) {
      if (!isPrintable(entry)) return 'unsupported';
      return (await withScratch(directory, (scratch) => look(scratch, signal))) ?? 'failed';
    },
    async add(signal) {
      if (!isPrintable(entry)) return 'failed';
      // The option for variables takes every word up to the next option, so the name comes first.
      const variables = Object.entries(entry.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
      return mutate(['add', '-s', scope, alias, ...variables, '--', entry.command, ...entry.args], signal);
    },
    remove: (signal) => mutate(['remove', '-s', scope, alias], signal),
  };
}

function judge(shown: ShownEntry, scope: Scope, entry: IntendedEntry): Inspection {
  if (shown.kind === 'absent') return 'absent';
  if (shown.kind === 'unreadable') return 'unsupported';
  if (shown.scope === scope) return looksLike(shown, entry) ? 'equivalent' : 'divergent';
  // Nothing hides a local entry, so when another is shown there is none. Others may be hidden by what is shown.
  return scope === 'local' ? 'absent' : 'unsupported';
}
