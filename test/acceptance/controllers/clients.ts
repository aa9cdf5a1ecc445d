/** Starts the real clients headless, with what setup registered and nothing of our environment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { ClientName, Stage } from './stage.ts';

const TIME_LIMIT_MS = 240_000;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly pid: number;
  readonly ended: Promise<Ended>;
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

function ended(child: ChildProcess): Promise<Ended> {
  const limit = setTimeout(() => child.kill('SIGKILL'), TIME_LIMIT_MS);
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(limit);
      resolve({ code, stdout: stdout(), stderr: stderr() });
    });
  });
}

/** Runs a command in the controller's directory. The first is found in the stage's PATH. */
export function start(stage: Stage, file: string, args: readonly string[], env: object = {}): Running {
  const child = spawn(file, args, {
    env: { ...stage.env, ...env },
    cwd: stage.project,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { pid: child.pid ?? 0, ended: ended(child) };
}

/** The fewest rights that do: our tools, reading, and commands that check. */
const CLAUDE_ALLOWED = ['mcp__pi-session-mcp', 'Skill', 'Read', 'Bash(git -C:*)', 'Bash(node --test:*)'];

function startClaude(stage: Stage, origin: string): Running {
  const args = [
    ...['-p', 'Go.', '--mcp-config', join(stage.project, '.mcp.json'), '--strict-mcp-config'],
    ...['--setting-sources', 'project,local', '--permission-mode', 'dontAsk'],
    ...['--output-format', 'stream-json', '--verbose', '--tools', 'Bash,Read,Skill'],
    ...['--allowedTools', ...CLAUDE_ALLOWED],
  ];
  const key = stage.env['CONTROLLER_KEY'] ?? '';
  const env = { ANTHROPIC_BASE_URL: origin, ANTHROPIC_API_KEY: key, CLAUDE_CODE_MAX_RETRIES: '0' };
  return start(stage, 'claude', args, env);
}

function startCodex(stage: Stage, origin: string): Running {
  const server = 'mcp_servers.pi-session-mcp';
  const settings = {
    model_provider: 'scripted',
    model: 'scripted-model',
    'model_providers.scripted.name': 'scripted',
    'model_providers.scripted.base_url': `${origin}/v1`,
    'model_providers.scripted.wire_api': 'responses',
    'model_providers.scripted.env_key': 'CONTROLLER_KEY',
    'model_providers.scripted.request_max_retries': 0,
    'model_providers.scripted.stream_max_retries': 0,
    // Codex does not wait for a server that is slow to start, unless told so.
    [`${server}.required`]: true,
    [`${server}.tools.pi_session_prompt.approval_mode`]: 'approve',
    [`${server}.tools.pi_session_abort.approval_mode`]: 'approve',
    [`${server}.tools.pi_session_close.approval_mode`]: 'approve',
    'analytics.enabled': false,
  };
  const overrides = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${JSON.stringify(value)}`]);
  const args = ['exec', '--skip-git-repo-check', '-s', 'read-only', ...overrides, '--disable', 'plugins', '--json'];
  return start(stage, 'codex', [...args, 'Go.']);
}

const START: Readonly<Record<ClientName, (stage: Stage, origin: string) => Running>> = {
  'claude-code': startClaude,
  codex: startCodex,
};

/** Starts the stage's client with its model at the origin. */
export function startController(stage: Stage, origin: string): Running {
  return START[stage.client](stage, origin);
}
