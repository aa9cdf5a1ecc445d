/** What the client says is read strictly; and the real client, where it is installed. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CommandResult } from '../../../src/ports/setup/command.ts';
import { MARKETPLACE, PLUGIN } from '../../../src/wake/plugin-files.ts';
import { missing } from '../../acceptance/kit/clients.ts';
import { openPluginLab, scriptedRunner } from './claude-plugin-lab.ts';

const never = new AbortController().signal;
const ID = `${PLUGIN}@${MARKETPLACE}`;

const printed = (value: unknown, code = 0): CommandResult => ({
  kind: 'exited',
  code,
  stdout: typeof value === 'string' ? value : JSON.stringify(value),
  stderr: '',
});
const LIST = 'plugin list';
const MARKETS = 'plugin marketplace list';

describe('an inspection', () => {
  const market = (directory: string) => ({ name: MARKETPLACE, source: 'directory', path: directory });
  const plugin = (directory: string) => ({
    id: ID,
    scope: 'user',
    enabled: true,
    readFromFolder: join(directory, 'plugins', PLUGIN),
  });
  const builtin = { id: 'something@builtin', scope: 'user', enabled: true };

  test.each<[string, string, (directory: string) => [markets: unknown, plugins: unknown]]>([
    ['absent', 'nothing of ours', () => [[], [builtin]]],
    ['absent', 'another marketplace', () => [[{ name: 'other', source: 'directory', path: '/x' }], [builtin]]],
    ['outdated', 'ours without its files', (at) => [[market(at)], [builtin, plugin(at)]]],
    ['outdated', 'the marketplace alone', (at) => [[market(at)], []]],
    ['divergent', 'our name for another place', () => [[market('/x')], []]],
    ['divergent', 'our name for another kind', (at) => [[{ ...market(at), source: 'github' }], []]],
    ['outdated', 'the plugin without its marketplace', (at) => [[], [plugin(at)]]],
    ['divergent', 'a copy without a marketplace', (at) => [[], [{ ...plugin(at), readFromFolder: '/copy' }]]],
    ['disabled', 'the plugin switched off', (at) => [[market(at)], [{ ...plugin(at), enabled: false }]]],
    ['divergent', 'a copy switched off', (at) => [[market(at)], [{ ...plugin(at), enabled: false, scope: 'local' }]]],
    ['divergent', 'the plugin neither on nor off', (at) => [[market(at)], [{ ...plugin(at), enabled: 'x' }]]],
    ['divergent', 'the plugin in another scope', (at) => [[market(at)], [{ ...plugin(at), scope: 'project' }]]],
    ['divergent', 'the plugin twice', (at) => [[market(at)], [plugin(at), { ...plugin(at), scope: 'local' }]]],
    ['divergent', 'a copy of it', (at) => [[market(at)], [{ ...plugin(at), readFromFolder: '/copy' }]]],
    ['unsupported', 'no JSON', () => ['Plugins: none', []]],
    ['unsupported', 'an object', () => [[], { plugins: [] }]],
    ['unsupported', 'a list of words', () => [[], ['x']]],
  ])('is %s: %s', async (expected, _, lists) => {
    const answers: Record<string, CommandResult> = {};
    const lab = openPluginLab({ runner: scriptedRunner(answers) });
    const [markets, plugins] = lists(lab.directory);
    Object.assign(answers, { [MARKETS]: printed(markets), [LIST]: printed(plugins) });
    expect(await lab.plugin.inspect(never)).toBe(expected);
  });

  test.each<[string, CommandResult]>([
    ['unsupported', { kind: 'not_found' }],
    ['unsupported', printed([], 1)],
    ['failed', { kind: 'timed_out' }],
    ['failed', { kind: 'output_too_large' }],
    ['failed', { kind: 'interrupted' }],
    ['failed', { kind: 'retained' }],
  ])('is %s when a list comes to %j', async (expected, result) => {
    for (const list of [LIST, MARKETS]) {
      const { plugin: asked } = openPluginLab({ runner: scriptedRunner({ [list]: result }) });
      expect(await asked.inspect(never)).toBe(expected);
    }
  });
});

test('files with a half written one beside them are outdated', async () => {
  const answers: Record<string, CommandResult> = {};
  const { plugin, directory } = openPluginLab({ runner: scriptedRunner(answers) });
  const market = { name: MARKETPLACE, source: 'directory', path: directory };
  const folder = join(directory, 'plugins', PLUGIN);
  const installed = { id: ID, scope: 'user', enabled: true, readFromFolder: folder };
  await plugin.install(never);
  Object.assign(answers, { [MARKETS]: printed([market]), [LIST]: printed([installed]) });
  expect(await plugin.inspect(never)).toBe('equivalent');
  writeFileSync(join(folder, 'hooks', 'hooks.json.tmp'), '{');
  expect(await plugin.inspect(never)).toBe('outdated');
});

describe('a mutation', () => {
  test.each<[string, CommandResult]>([
    ['ended', printed('')],
    ['failed', printed('', 1)],
    ['failed', { kind: 'timed_out' }],
    ['retained', { kind: 'retained' }],
  ])('of the client is %s when it comes to %j', async (expected, result) => {
    const { plugin } = openPluginLab({ runner: scriptedRunner({ 'plugin install': result }) });
    expect(await plugin.install(never)).toBe(expected);
  });

  test('does not begin when its files cannot be written', async () => {
    const runner = scriptedRunner({});
    const { plugin, directory } = openPluginLab({ runner });
    writeFileSync(directory, 'in the way');
    expect(await plugin.install(never)).toBe('failed');
    expect(runner.asked).toEqual([]);
  });

  test('that removes goes on when half of it was gone, and stops when something may still run', async () => {
    const gone = scriptedRunner({ 'plugin uninstall': printed('', 1), 'plugin marketplace remove': printed('', 1) });
    const first = openPluginLab({ runner: gone });
    expect(await first.plugin.uninstall(never)).toBe('ended');
    const retained = scriptedRunner({ 'plugin uninstall': { kind: 'retained' } });
    const second = openPluginLab({ runner: retained });
    expect(await second.plugin.uninstall(never)).toBe('retained');
    expect(retained.asked).toHaveLength(1);
  });

  test('writes over and takes away what a killed run has left half written', async () => {
    const { plugin, directory } = openPluginLab({ runner: scriptedRunner({}) });
    const torn = join(directory, '.claude-plugin', 'marketplace.json.tmp');
    mkdirSync(join(directory, '.claude-plugin'), { recursive: true });
    writeFileSync(torn, '{');
    await plugin.install(never);
    expect(existsSync(torn)).toBe(false);
    writeFileSync(torn, '{');
    await plugin.uninstall(never);
    expect(existsSync(directory)).toBe(false);
  });

  test('removes nothing of anybody else', async () => {
    const { plugin, directory } = openPluginLab({ runner: scriptedRunner({}) });
    await plugin.install(never);
    mkdirSync(join(directory, 'plugins', 'theirs'));
    writeFileSync(join(directory, 'plugins', 'theirs', 'file'), 'theirs');
    await plugin.uninstall(never);
    expect(readFileSync(join(directory, 'plugins', 'theirs', 'file'), 'utf8')).toBe('theirs');
    expect(existsSync(join(directory, '.claude-plugin'))).toBe(false);
  });
});

const CLAUDE = missing('claude');
if (CLAUDE) console.warn(`SKIPPED, plugin of the real Claude Code: ${CLAUDE}`);

describe('the real Claude Code', () => {
  const bin = join(process.env['PI_SESSION_MCP_CLIENTS'] ?? '', 'node_modules', '.bin');

  test('takes, shows, updates and gives back the plugin', { timeout: 120_000 }, async (context) => {
    context.skip(CLAUDE !== undefined, CLAUDE);
    const { plugin, release, directory, root, env } = openPluginLab({ bin });
    const settings = () => JSON.parse(readFileSync(join(root, '.claude', 'settings.json'), 'utf8'));
    expect(await plugin.inspect(never)).toBe('absent');
    expect(await plugin.install(never)).toBe('ended');
    expect(await plugin.inspect(never)).toBe('equivalent');
    expect(execFileSync(join(bin, 'claude'), ['plugin', 'validate', directory], { env, encoding: 'utf8' })).toMatch(
      /Validation passed\n/,
    );
    expect(settings().enabledPlugins).toEqual({ [ID]: true });
    // Another release: other paths, in place.
    const next = release('1.0.1');
    expect(await next.inspect(never)).toBe('outdated');
    expect(await next.install(never)).toBe('ended');
    expect(await next.inspect(never)).toBe('equivalent');
    execFileSync(join(bin, 'claude'), ['plugin', 'disable', ID], { env });
    expect(await next.inspect(never)).toBe('disabled');
    expect(await next.uninstall(never)).toBe('ended');
    expect(await next.inspect(never)).toBe('absent');
    expect(existsSync(directory)).toBe(false);
    expect(settings()).toEqual({ enabledPlugins: {}, extraKnownMarketplaces: {} });
  });
});
