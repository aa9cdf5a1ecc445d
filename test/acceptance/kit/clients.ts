/** Finds the real clients and runs them headless, in the stage's home, with nothing of our environment. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUILT_SERVER } from '../../../demo/scene.ts';
import type { Stage } from '../../e2e/kit/stage.ts';
import { QUIET } from './driving/headless.ts';

/** A directory whose `node_modules` holds the clients; they are no dependencies of ours. */
const CLIENTS = process.env['PI_SESSION_MCP_CLIENTS'];
const TIME_LIMIT_MS = 60_000;

export interface ClientRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Why the client cannot be tried here; undefined when it can. */
export function missing(client: 'claude' | 'codex'): string | undefined {
  if (!CLIENTS) return 'PI_SESSION_MCP_CLIENTS names no directory with the clients';
  return existsSync(binary(client)) ? undefined : `${client} is not in PI_SESSION_MCP_CLIENTS`;
}

function binary(client: string): string {
  return join(CLIENTS ?? '', 'node_modules', '.bin', client);
}

function run(client: string, args: readonly string[], env: Readonly<Record<string, string>>, cwd: string) {
  return new Promise<ClientRun>((resolve, reject) => {
    const child = spawn(binary(client), args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const limit = setTimeout(() => child.kill('SIGKILL'), TIME_LIMIT_MS);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(limit);
      resolve({ code, stdout, stderr });
    });
  });
}

/** What both get. PATH begins with the Node that runs us: Codex's launcher is a script. */
function environment(stage: Stage): Record<string, string> {
  const temporary = join(stage.root, 'tmp');
  mkdirSync(temporary, { recursive: true });
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  return { HOME: stage.home, PATH: path, TERM: 'dumb', LANG: 'C.UTF-8', TMPDIR: temporary };
}

export function runClaude(stage: Stage, origin: string, tools: readonly string[]): Promise<ClientRun> {
  const config = join(stage.root, 'mcp.json');
  const server = {
    command: process.execPath,
    args: [BUILT_SERVER],
    env: { PI_SESSION_MCP_CONFIG: stage.configuration },
  };
  writeFileSync(config, JSON.stringify({ mcpServers: { pi: server } }));
  const env = {
    ...environment(stage),
    ANTHROPIC_BASE_URL: origin,
    ANTHROPIC_API_KEY: 'dummy-key-not-real',
    CLAUDE_CODE_MAX_RETRIES: '0',
    ...QUIET,
  };
  const allowed = tools.map((tool) => `mcp__pi__${tool}`);
  const args = [
    '-p',
    'go',
    '--mcp-config',
    config,
    '--strict-mcp-config',
    '--tools',
    '',
    '--permission-mode',
    'dontAsk',
  ];
  const output = ['--output-format', 'stream-json', '--verbose', '--allowedTools', ...allowed];
  return run('claude', [...args, ...output], env, stage.home);
}

export function runCodex(stage: Stage, origin: string): Promise<ClientRun> {
  const home = join(stage.home, '.codex');
  mkdirSync(home, { recursive: true });
  const settings = {
    model_provider: 'scripted',
    model: 'scripted-model',
    'model_providers.scripted.name': 'scripted',
    'model_providers.scripted.base_url': `${origin}/v1`,
    'model_providers.scripted.wire_api': 'responses',
    'model_providers.scripted.env_key': 'DUMMY_LLM_KEY',
    'model_providers.scripted.request_max_retries': 0,
    'model_providers.scripted.stream_max_retries': 0,
    'mcp_servers.pi.command': process.execPath,
    'mcp_servers.pi.args': [BUILT_SERVER],
    'mcp_servers.pi.env.PI_SESSION_MCP_CONFIG': stage.configuration,
    // Two tools that change nothing run without; the others ask, and nobody is there to say yes.
    'mcp_servers.pi.default_tools_approval_mode': 'approve',
    'analytics.enabled': false,
  };
  const overrides = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${JSON.stringify(value)}`]);
  const args = [
    'exec',
    '--skip-git-repo-check',
    '-s',
    'read-only',
    ...overrides,
    '--disable',
    'plugins',
    '--json',
    'go',
  ];
  return run('codex', args, { ...environment(stage), CODEX_HOME: home, DUMMY_LLM_KEY: 'dummy' }, stage.home);
}
