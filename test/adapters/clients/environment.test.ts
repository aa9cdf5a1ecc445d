/** Which environment, directory and bounds a command of a client gets. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { createRegistrationClient } from '../../../src/adapters/clients/registration.ts';
import type { ClientCommand } from '../../../src/ports/setup/command.ts';
import type { Target } from '../../../src/ports/setup/target.ts';
import { CLAUDE, CODEX, ENTRY, exited, LOCAL, never, PROJECT, scripted, temporary } from './kit.ts';
import { CLAUDE_ABSENT, CODEX_ABSENT } from './transcripts.ts';

const OPERATOR = {
  PATH: '/bin',
  HOME: '/home/me',
  CODEX_HOME: '/codex',
  CLAUDE_CONFIG_DIR: '/claude',
  HTTPS_PROXY: 'http://proxy',
  LANG: 'de_AT.UTF-8',
};
const OURS = { PI_SESSION_MCP_SCOPE: 's1', PI_SESSION_MCP_CONFIG: '/c.json', FORCE_COLOR: '3', COLORTERM: 'truecolor' };

test('Codex gets the environment of the operator, without our variables and without colours', async () => {
  const { client, commands } = scripted(CODEX, [CODEX_ABSENT], ENTRY, { ...OPERATOR, ...OURS, UNSET: undefined });
  await client.inspect(never());
  expect(commands[0]?.env).toEqual({ ...OPERATOR, NO_COLOR: '1', TERM: 'dumb' });
  expect(commands[0]?.timeoutMs).toBe(30_000);
  expect(commands[0]?.maxOutputBytes).toBe(262_144);
});

test('Claude Code is kept quiet as well, and waits for no server', async () => {
  const { client, commands } = scripted(CLAUDE, [CLAUDE_ABSENT], ENTRY, { ...OPERATOR, ...OURS, MCP_TIMEOUT: '60000' });
  await client.inspect(never());
  expect(commands[0]?.env).toEqual({
    ...OPERATOR,
    NO_COLOR: '1',
    TERM: 'dumb',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
    MCP_TIMEOUT: '2000',
  });
});

/** What the command saw of its surroundings while it ran. */
async function surroundings(target: Target, use: 'inspect' | 'add' | 'remove') {
  const directory = temporary();
  const seen: { command: ClientCommand; repository: boolean; mode: number; empty: boolean | undefined }[] = [];
  const client = createRegistrationClient({
    target,
    entry: ENTRY,
    environment: OPERATOR,
    project: '/the/project',
    directory,
    runner: {
      async run(command) {
        const configuration = command.env['CLAUDE_CONFIG_DIR'] ?? '';
        const place = command.cwd.startsWith(directory) ? command.cwd : configuration;
        seen.push({
          command,
          repository: existsSync(`${command.cwd}/.git`),
          mode: statSync(dirname(place), { throwIfNoEntry: false })?.mode ?? 0,
          empty: configuration.startsWith(directory) ? readdirSync(configuration).length === 0 : undefined,
        });
        return CLAUDE_ABSENT;
      },
      close: async () => 'released',
    },
  });
  await client[use](never());
  return { seen, left: readdirSync(directory), directory };
}

test.each(['inspect', 'add', 'remove'] as const)('user scope, %s: away from every project', async (use) => {
  const { seen, left, directory } = await surroundings(CLAUDE, use);
  expect(seen).toHaveLength(1);
  expect(seen[0]?.command.cwd.startsWith(directory)).toBe(true);
  expect(seen[0]).toMatchObject({ repository: true, empty: undefined });
  expect((seen[0]?.mode ?? 0) & 0o777).toBe(0o700);
  expect(left).toEqual([]);
});

test('project scope: only the project counts, and nothing of the look stays', async () => {
  const { seen, left } = await surroundings(PROJECT, 'inspect');
  // The second command asks whether the absence is one.
  expect(seen.map(({ command }) => command.args)).toEqual([
    ['mcp', 'get', 'pi-session-mcp'],
    ['mcp', 'list'],
  ]);
  for (const look of seen) {
    expect(look.command.cwd).toBe('/the/project');
    expect(look.empty).toBe(true);
    expect(look.mode & 0o777).toBe(0o700);
  }
  expect(left).toEqual([]);
});

test.each([
  [PROJECT, 'add'],
  [PROJECT, 'remove'],
  [LOCAL, 'inspect'],
  [LOCAL, 'add'],
  [LOCAL, 'remove'],
] as const)('%o, %s: in the project, with the configuration of the operator', async (target, use) => {
  const { seen } = await surroundings(target, use);
  expect(seen).toHaveLength(1);
  expect(seen[0]?.command.cwd).toBe('/the/project');
  expect(seen[0]?.command.env['CLAUDE_CONFIG_DIR']).toBe('/claude');
});

test('without a private directory nothing is started', async () => {
  const run = async () => exited(0);
  const runner = { run, close: async () => 'released' as const };
  const place = { project: '/', directory: '/nonexistent' };
  const client = createRegistrationClient({ target: CLAUDE, entry: ENTRY, runner, environment: OPERATOR, ...place });
  expect([await client.inspect(never()), await client.add(never()), await client.remove(never())]).toEqual([
    'failed',
    'failed',
    'failed',
  ]);
});
