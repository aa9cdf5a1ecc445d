/** What the real clients print, cut down to what matters; written by hand from measurements. */
import type { CommandResult } from '../../../src/ports/setup/command.ts';
import type { IntendedEntry } from '../../../src/ports/setup/registration.ts';
import { ENTRY, exited } from './kit.ts';

export const CODEX_ABSENT = exited(1, '', "Error: No MCP server named 'pi-session-mcp' found.\n");
export const CLAUDE_ABSENT = exited(1, '', 'No MCP server named "pi-session-mcp". Run `claude mcp add` to add one.\n');

export function codexJson(entry: IntendedEntry = ENTRY): Record<string, unknown> {
  return {
    name: 'pi-session-mcp',
    enabled: true,
    disabled_reason: null,
    transport: {
      type: 'stdio',
      command: entry.command,
      args: entry.args,
      env: Object.keys(entry.env).length === 0 ? null : entry.env,
      env_vars: [],
      cwd: null,
    },
    enabled_tools: null,
    disabled_tools: null,
    startup_timeout_sec: null,
    tool_timeout_sec: null,
  };
}

export const codexShows = (json: unknown): CommandResult => exited(0, `${JSON.stringify(json, null, 2)}\n`);

const SCOPES = {
  user: 'User config (available in all your projects)',
  project: 'Project config (shared via .mcp.json)',
  local: 'Local config (private to you in this project)',
};

/** As the client does: what controls is a space, and nothing blank ends a line. */
const line = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ').trimEnd();

export function claudeText(
  entry: IntendedEntry = ENTRY,
  scope: keyof typeof SCOPES = 'user',
  status: readonly string[] = ['Status: ✔ Connected'],
): string {
  return [
    'pi-session-mcp:',
    ...[`Scope: ${SCOPES[scope]}`, ...status, 'Type: stdio'].map((field) => `  ${field}`),
    line(`  Command: ${entry.command}`),
    line(`  Args: ${entry.args.join(' ')}`),
    '  Environment:',
    ...Object.entries(entry.env).map(([name, value]) => line(`    ${name}=${value}`)),
    '',
    `To remove this server, run: claude mcp remove pi-session-mcp -s ${scope}`,
    '',
  ].join('\n');
}

export const claudeShows = (text: string): CommandResult => exited(0, text);
