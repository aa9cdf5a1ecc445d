/**
 * The real Claude Code and Codex, in disposable homes. They are installed apart
 * from us and only tried when PI_SESSION_MCP_CLIENTS says where.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createRegistrationClient } from '../../../src/adapters/clients/registration.ts';
import type { IntendedEntry, RegistrationClient } from '../../../src/ports/setup/registration.ts';
import type { Target } from '../../../src/ports/setup/target.ts';
import { missing } from '../../acceptance/kit/clients.ts';
import { CLAUDE, CODEX, LOCAL, never, PROJECT, spawningRunner, temporary } from './kit.ts';

const SERVER = join(import.meta.dirname, 'fixtures/verifier-server.mjs');
const reasons = { claude: missing('claude'), codex: missing('codex') };
// The reporter tells how many were skipped, and not why.
for (const reason of new Set(Object.values(reasons))) if (reason) console.warn(`SKIPPED, real clients: ${reason}`);

interface World {
  readonly home: string;
  readonly project: string;
  /** What `codex` and `claude` are run with. */
  readonly env: Record<string, string>;
  readonly entry: IntendedEntry;
  client(target: Target, entry?: IntendedEntry): RegistrationClient;
}

/** The home is a repository, our private directory lies in it, and every path has something to stumble over. */
function world(): World {
  const root = temporary();
  const home = join(root, 'höme "x"');
  const project = join(home, "my 'project'");
  const directory = join(home, '.local', 'state', 'ours');
  const temporaries = join(root, 'tmp');
  for (const path of [join(home, '.git'), project, directory, temporaries]) mkdirSync(path, { recursive: true });
  const bin = join(process.env['PI_SESSION_MCP_CLIENTS'] ?? '', 'node_modules', '.bin');
  // Codex's launcher is a script for Node.
  const path = `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`;
  const env = { HOME: home, PATH: path, LANG: 'C.UTF-8', TMPDIR: temporaries, FORCE_COLOR: '3' };
  const configuration = join(home, "pi  'ü' =x.json");
  const entry = { command: process.execPath, args: [SERVER], env: { PI_SESSION_MCP_CONFIG: configuration } };
  onTestFinished(() => expect(readdirSync(directory)).toEqual([]));
  const client = (target: Target, other = entry) =>
    createRegistrationClient({ target, entry: other, runner: spawningRunner(), environment: env, project, directory });
  return { home, project, env, entry, client };
}

const ADVERSE: readonly [what: string, change: Partial<IntendedEntry>][] = [
  ['our usual entry', {}],
  [
    'an entry full of traps',
    {
      command: '/nowhere/my  "no\'de" $HOME --x=\\n%s',
      args: ['--dashed entry', '-e', '--', 'ü😀', 'K=V'],
      env: { A: '-e B=2', B: '', C_1: '=;"\'\\ $X `x`', PI_SESSION_MCP_CONFIG: '/c d/é.json' },
    },
  ],
];

async function lifecycle({ client, entry }: World, target: Target): Promise<void> {
  const ours = client(target, entry);
  const other = client(target, { ...entry, env: { ...entry.env, MORE: 'x' } });
  expect(await ours.inspect(never())).toBe('absent');
  expect(await ours.add(never())).toBe('ended');
  expect(await ours.inspect(never())).toBe('equivalent');
  expect(await other.inspect(never())).toBe('divergent');
  // Neither client is brought to replace what is there.
  expect(await other.add(never())).toBe('failed');
  expect(await ours.inspect(never())).toBe('equivalent');
  expect(await ours.remove(never())).toBe('ended');
  expect(await ours.inspect(never())).toBe('absent');
}

const SLOW = { timeout: 120_000 };

describe('Claude Code', SLOW, () => {
  test.beforeEach((context) => context.skip(reasons.claude !== undefined, reasons.claude));

  for (const target of [CLAUDE, PROJECT, LOCAL]) {
    test.each(ADVERSE)(`${target.scope} scope: %s comes and goes`, async (_, change) => {
      const made = world();
      await lifecycle({ ...made, entry: { ...made.entry, ...change } }, target);
    });
  }

  test('an entry of one scope is none of another, however they hide each other', async () => {
    const { client, entry } = world();
    const others = [CLAUDE, PROJECT, LOCAL].map((target) => client(target, { ...entry, args: ['/other'] }));
    for (const other of others) expect(await other.add(never())).toBe('ended');
    for (const other of others) expect(await other.inspect(never())).toBe('equivalent');
    // One after the other goes, the one that hides the rest last.
    for (const [index, other] of others.entries()) {
      expect(await other.remove(never())).toBe('ended');
      const left = await Promise.all(others.map((each) => each.inspect(never())));
      expect(left).toEqual(others.map((_, at) => (at <= index ? 'absent' : 'equivalent')));
    }
  });

  test('an approved entry above our directory hides the entry of the user', async () => {
    const { client, home, entry } = world();
    const text = JSON.stringify({ mcpServers: { 'pi-session-mcp': { command: '/bin/false' } } });
    writeFileSync(join(home, '.mcp.json'), text);
    expect(await client(CLAUDE).add(never())).toBe('ended');
    expect(await client(CLAUDE).inspect(never())).toBe('equivalent');
    writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify({ enableAllProjectMcpServers: true }));
    expect(await client(CLAUDE, entry).inspect(never())).toBe('unsupported');
  });

  test.each([
    ['no JSON', '{', 'unsupported'],
    ['of another shape', '{"mcpServers":[]}', 'unsupported'],
    ['with a malformed entry of ours', '{"mcpServers":{"pi-session-mcp":{"command":5}}}', 'unsupported'],
    ['with a malformed other entry', '{"mcpServers":{"other":{"command":5}}}', 'absent'],
    ['without entries', '{"mcpServers":{}}', 'absent'],
  ])("a project's file that is %s", async (_, text, inspection) => {
    const { client, project } = world();
    writeFileSync(join(project, '.mcp.json'), text);
    expect(await client(PROJECT).inspect(never())).toBe(inspection);
    expect(readFileSync(join(project, '.mcp.json'), 'utf8')).toBe(text);
  });

  test('a configuration that cannot be read', async () => {
    const { client, home } = world();
    writeFileSync(join(home, '.claude.json'), '{');
    expect(await client(CLAUDE).inspect(never())).toBe('unsupported');
    expect(await client(CLAUDE).add(never())).toBe('failed');
    expect(readFileSync(join(home, '.claude.json'), 'utf8')).toBe('{');
  });

  test('an entry of the user that it skips cannot be seen, but is not replaced', async () => {
    const { client, home } = world();
    const text = JSON.stringify({ mcpServers: { 'pi-session-mcp': { command: 5 } } });
    writeFileSync(join(home, '.claude.json'), text);
    expect(await client(CLAUDE).inspect(never())).toBe('absent');
    expect(await client(CLAUDE).add(never())).toBe('failed');
    expect(JSON.parse(readFileSync(join(home, '.claude.json'), 'utf8')).mcpServers['pi-session-mcp'].command).toBe(5);
  });

  test('a server that never answers', async () => {
    const { client, entry } = world();
    const silent = client(CLAUDE, { ...entry, args: [SERVER, 'silent'] });
    await silent.add(never());
    expect(await silent.inspect(never())).toBe('equivalent');
  });
});

describe('Codex', SLOW, () => {
  test.beforeEach((context) => context.skip(reasons.codex !== undefined, reasons.codex));

  test.each(ADVERSE)('%s comes and goes', async (_, change) => {
    const made = world();
    await lifecycle({ ...made, entry: { ...made.entry, ...change } }, CODEX);
  });

  test('control characters are no trouble', async () => {
    const made = world();
    await lifecycle({ ...made, entry: { ...made.entry, args: ['', ' a\n', '\u001b\t'], env: { A: ' x\ny ' } } }, CODEX);
  });

  const settings = (home: string) => join(home, '.codex', 'config.toml');

  test("a trusted project around our directory does not hide the user's entry", async () => {
    const { client, home, env } = world();
    const elsewhere = join(home, 'codex home');
    mkdirSync(elsewhere);
    mkdirSync(join(home, '.codex'));
    writeFileSync(settings(home), '[mcp_servers.pi-session-mcp]\ncommand = "/of/the/project"\n');
    const trust = `[projects.${JSON.stringify(home)}]\ntrust_level = "trusted"\n`;
    writeFileSync(join(elsewhere, 'config.toml'), trust);
    env['CODEX_HOME'] = elsewhere;
    const ours = client(CODEX);
    expect(await ours.inspect(never())).toBe('absent');
    expect(await ours.add(never())).toBe('ended');
    expect(await ours.inspect(never())).toBe('equivalent');
    expect(await ours.remove(never())).toBe('ended');
    expect(readFileSync(join(elsewhere, 'config.toml'), 'utf8').trim()).toBe(trust.trim());
    expect(readFileSync(settings(home), 'utf8')).toContain('/of/the/project');
  });

  test('settings of the user on our entry', async () => {
    const { client, home } = world();
    const ours = client(CODEX);
    await ours.add(never());
    const registered = readFileSync(settings(home), 'utf8');
    const [head, ...tables] = registered.split('\n\n');
    const extend = (lines: string) => writeFileSync(settings(home), [`${head}\n${lines}`, ...tables].join('\n\n'));
    extend('startup_timeout_sec = 20\nrequired = true\ndefault_tools_approval_mode = "approve"');
    expect(await ours.inspect(never())).toBe('equivalent');
    const before = readFileSync(settings(home), 'utf8');
    expect(await ours.add(never())).toBe('failed');
    expect(readFileSync(settings(home), 'utf8')).toBe(before);
    extend('enabled = false');
    expect(await ours.inspect(never())).toBe('divergent');
    extend('disabled_tools = ["pi_turn_get"]');
    expect(await ours.inspect(never())).toBe('divergent');
  });

  test('a configuration that cannot be read, and a home that is not there', async () => {
    const { client, home, env } = world();
    mkdirSync(join(home, '.codex'));
    writeFileSync(settings(home), 'x = [');
    expect(await client(CODEX).inspect(never())).toBe('unsupported');
    expect(await client(CODEX).add(never())).toBe('failed');
    expect(readFileSync(settings(home), 'utf8')).toBe('x = [');
    env['CODEX_HOME'] = join(home, 'nowhere');
    expect(await client(CODEX).inspect(never())).toBe('unsupported');
  });
});
