/** How the real clients are started without a screen, with the registration that setup has made, and the fewest rights that do. */
import type { ClientName } from './wire/wire.ts';

/** What is started, without the environment that the home gives. */
export interface Headless {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface HeadlessOptions {
  /** Under which name setup has registered the server. */
  readonly server: string;
  /** Of its model. */
  readonly origin: string;
  /** Stands in for a credential; no request leaves loopback. */
  readonly key: string;
  /** Claude Code only: what its shell may run, as its permission rules. */
  readonly shell: readonly string[];
  /** Claude Code only: more arguments. */
  readonly more?: readonly string[];
}

const PROMPT = 'Go.';

/** The four flags together keep Claude Code off the network. */
export const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
};

function claude({ server, origin, key, shell, more = [] }: HeadlessOptions): Headless {
  const allowed = [`mcp__${server}`, 'Skill', 'Read', ...shell.map((rule) => `Bash(${rule})`)];
  const args = [
    ...['-p', PROMPT, ...more, '--permission-mode', 'dontAsk'],
    ...['--output-format', 'stream-json', '--verbose', '--tools', 'Bash,Read,Skill'],
    ...['--allowedTools', ...allowed],
  ];
  const env = { ANTHROPIC_BASE_URL: origin, ANTHROPIC_API_KEY: key, CLAUDE_CODE_MAX_RETRIES: '0' };
  return { file: 'claude', args, env };
}

function codex({ server: name, origin, key }: HeadlessOptions): Headless {
  const server = `mcp_servers.${name}`;
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
  return { file: 'codex', args: [...args, PROMPT], env: { CONTROLLER_KEY: key } };
}

const COMMANDS: Readonly<Record<ClientName, (options: HeadlessOptions) => Headless>> = { 'claude-code': claude, codex };

export function headless(client: ClientName, options: HeadlessOptions): Headless {
  return COMMANDS[client](options);
}
