/** Both clients in a terminal, with the hook installed the way that an operator does it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUILT_SERVER } from '../../../demo/scene.ts';
import { claudePlugin } from '../../../src/adapters/clients/claude-plugin.ts';
import { codexSnippet, MARKETPLACE, PLUGIN, pluginFiles } from '../../../src/wake/plugin-files.ts';
import { plainRunner } from '../../adapters/clients/claude-plugin-lab.ts';
import type { Stage } from '../../e2e/kit/stage.ts';
import { QUIET } from './driving/headless.ts';
import { openTerminal, type Terminal } from './terminal.ts';

const CLIENTS = join(process.env['PI_SESSION_MCP_CLIENTS'] ?? '', 'node_modules', '.bin');
const WAKE = join(dirname(BUILT_SERVER), 'wake.js');
const KEY = 'dummy-key-not-real';
const TOOLS = ['pi_session_start', 'pi_session_prompt', 'pi_turn_get'];

function environment(stage: Stage): Record<string, string> {
  const temporary = join(stage.root, 'tmp');
  const runtime = join(stage.root, 'run');
  for (const directory of [temporary, runtime]) mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = [CLIENTS, dirname(process.execPath), '/usr/bin', '/bin'].join(':');
  return { HOME: stage.home, PATH: path, LANG: 'C.UTF-8', TMPDIR: temporary, XDG_RUNTIME_DIR: runtime };
}

export function claudeEnvironment(stage: Stage, origin: string): Record<string, string> {
  return {
    ...environment(stage),
    ANTHROPIC_BASE_URL: origin,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_MAX_RETRIES: '0',
    ...QUIET,
  };
}

/** Installs the plugin, and answers what Claude Code asks a new user. @returns the command line. */
export async function prepareClaude(stage: Stage): Promise<string[]> {
  const project = stage.path('app');
  const answers = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
    projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  };
  writeFileSync(join(stage.home, '.claude.json'), JSON.stringify(answers));
  const state = join(stage.home, '.local', 'state', 'pi-session-mcp');
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const plugin = claudePlugin({
    runner: plainRunner(),
    env: environment(stage),
    directory: join(state, 'claude-plugin'),
    files: pluginFiles({ node: process.execPath, wake: WAKE, version: '0.0.1' }),
    marketplace: MARKETPLACE,
    plugin: PLUGIN,
  });
  const outcome = await plugin.install(new AbortController().signal);
  if (outcome !== 'ended') throw new Error(`the plugin was not installed: ${outcome}`);
  const server = {
    command: process.execPath,
    args: [BUILT_SERVER],
    env: { PI_SESSION_MCP_CONFIG: stage.configuration },
  };
  const config = join(stage.root, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { pi: server } }));
  const allowed = TOOLS.map((tool) => `mcp__pi__${tool}`);
  return [join(CLIENTS, 'claude'), '--mcp-config', config, '--strict-mcp-config', '--allowedTools', ...allowed];
}

export async function openClaude(stage: Stage, origin: string): Promise<Terminal> {
  return openTerminal(await prepareClaude(stage), claudeEnvironment(stage, origin), stage.path('app'));
}

/** With the snippet that the documents print; the trust that a person gives is given by an option. */
export function openCodex(stage: Stage, origin: string): Terminal {
  const home = join(stage.home, '.codex');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const words = (values: Readonly<Record<string, unknown>>) =>
    Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  const lines = [
    ...words({ model_provider: 'scripted', model: 'scripted-model', check_for_update_on_startup: false }),
    '[model_providers.scripted]',
    ...words({ name: 'scripted', base_url: `${origin}/v1`, wire_api: 'responses', env_key: 'DUMMY_LLM_KEY' }),
    ...words({ request_max_retries: 0, stream_max_retries: 0 }),
    '[mcp_servers.pi]',
    ...words({ command: process.execPath, args: [BUILT_SERVER], default_tools_approval_mode: 'approve' }),
    '[mcp_servers.pi.env]',
    ...words({ PI_SESSION_MCP_CONFIG: stage.configuration }),
    '[analytics]',
    'enabled = false',
    '[features]',
    // A daemon would stay for good.
    ...words({ daemon_auto_start: false, plugins: false }),
    `[projects.${JSON.stringify(stage.path('app'))}]`,
    ...words({ trust_level: 'trusted' }),
    codexSnippet({ node: process.execPath, wake: WAKE }),
  ];
  writeFileSync(join(home, 'config.toml'), lines.join('\n'));
  const command = [join(CLIENTS, 'codex'), '--dangerously-bypass-hook-trust', '-s', 'read-only'];
  const env = { ...environment(stage), CODEX_HOME: home, DUMMY_LLM_KEY: 'dummy' };
  return openTerminal(command, env, stage.path('app'));
}
