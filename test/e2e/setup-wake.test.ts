/** The wake hook, under the built setup: installed, checked and taken back with a registration, and never in its way. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { missing } from '../acceptance/kit/clients.ts';
import { processesOf } from './kit/processes.ts';
import { until } from './kit/until.ts';
import { codes, makeOperator, type Operator, runSetup, treeOf } from './setup-kit/operator.ts';

const root = mkdtempSync(join(tmpdir(), 'setup-wake-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
const fresh = () => {
  count += 1;
  return makeOperator(join(root, String(count)));
};
const target = (name: string) => ['--target', `${name}:pi-session-mcp`, '--json'];
const USER = target('claude-code:user');
const CODEX = target('codex:user');
const last = async (...args: Parameters<typeof runSetup>) => codes(await runSetup(...args)).at(-1);
const settled = ({ root: place }: Operator) => until('no process left', () => processesOf(place).length === 0);
const files = ({ state }: Operator) => join(state, 'claude-plugin');
const plugins = ({ home }: Operator) => JSON.parse(readFileSync(join(home, '.fake/claude-plugins.json'), 'utf8'));
const switchEventsOn = ({ configuration }: Operator) => {
  const modes = JSON.stringify({ schemaVersion: 1, workspaces: {}, turnEvents: true });
  writeFileSync(join(dirname(configuration), 'execution-modes.json'), modes, { mode: 0o600 });
};

test('from nothing to nothing, with private files in between', async () => {
  const operator = fresh();
  switchEventsOn(operator);
  expect(await last(operator, ['--dry-run', ...USER, '--wake'])).toBe('absent (wake_absent)');
  expect(existsSync(files(operator))).toBe(false);
  expect(await last(operator, ['--apply', ...USER, '--wake'])).toBe('ok (wake_installed)');
  expect(Object.values(treeOf(files(operator))).every((entry) => /^(file 600|directory 700)/.test(entry))).toBe(true);
  expect(Object.keys(plugins(operator).installed)).toEqual(['pi-session-mcp-wake@pi-session-mcp']);
  expect(await last(operator, ['--apply', ...USER, '--wake'])).toBe('unchanged (wake_already_equivalent)');
  const verified = await runSetup(operator, ['--verify', ...USER, '--wake']);
  expect([verified.code, codes(verified).at(-1)]).toEqual([0, 'ok (wake_verified)']);
  expect(await last(operator, ['--remove', ...USER])).toBe('ok (wake_removed)');
  expect(plugins(operator)).toEqual({ markets: {}, installed: {} });
  expect(existsSync(files(operator))).toBe(false);
});

test('another release of it is brought up to date', async () => {
  const operator = fresh();
  await runSetup(operator, ['--apply', ...USER, '--wake']);
  const hooks = join(files(operator), 'plugins/pi-session-mcp-wake/hooks/hooks.json');
  writeFileSync(hooks, '{}');
  expect(codes(await runSetup(operator, ['--dry-run', ...USER, '--wake']))).toContain('planned (wake_update_planned)');
  expect(codes(await runSetup(operator, ['--verify', ...USER, '--wake']))).toContain('failed (wake_not_equivalent)');
  expect(codes(await runSetup(operator, ['--apply', ...USER, '--wake']))).toContain('ok (wake_updated)');
  expect(readFileSync(hooks, 'utf8')).toContain('pi_session_prompt');
});

test('a plugin of this name from somebody else stays, and the registration is none the worse', async () => {
  const operator = fresh();
  const theirs = { markets: { 'pi-session-mcp': '/somewhere/else' }, installed: {} };
  writeFileSync(join(operator.home, '.fake/claude-plugins.json'), JSON.stringify(theirs));
  const run = await runSetup(operator, ['--apply', ...USER, '--wake']);
  expect(run.code).toBe(1);
  expect(codes(run).slice(0, 3)).toEqual(['ok (applied)', 'ok (skill_installed)', 'divergent (wake_divergent)']);
  expect(plugins(operator)).toEqual(theirs);
  expect(codes(await runSetup(operator, ['--remove', ...USER]))).toEqual(['ok (removed)', 'ok (skill_removed)']);
});

test('without turn events it is installed and does not pass a verification', async () => {
  const operator = fresh();
  const applied = await runSetup(operator, ['--apply', ...USER, '--wake']);
  expect([applied.code, ...codes(applied).slice(2)]).toEqual([0, 'ok (wake_installed)', 'unchanged (wake_events_off)']);
  const verified = await runSetup(operator, ['--verify', ...USER, '--wake']);
  expect([verified.code, codes(verified).at(-1)]).toEqual([1, 'failed (wake_events_off)']);
});

describe('Codex', () => {
  test('is left to its operator, and nothing has failed', async () => {
    const operator = fresh();
    switchEventsOn(operator);
    const run = await runSetup(operator, ['--apply', ...CODEX, '--wake']);
    expect([run.code, codes(run).at(-1)]).toEqual([0, 'unchanged (wake_manual)']);
    const told = await runSetup(operator, ['--apply', ...CODEX.slice(0, 2), '--wake']);
    expect(told.stdout).toContain('--print-codex-hook');
    expect(told.stdout).not.toContain(operator.root);
  });

  test('gets its hook printed, with the paths of this package', async () => {
    const operator = fresh();
    const run = await runSetup(operator, ['--print-codex-hook']);
    expect([run.code, run.stderr]).toEqual([0, '']);
    const wake = resolve(import.meta.dirname, '../../dist/wake.js');
    expect(run.stdout).toContain(`command = "exec '${process.execPath}' '${wake}' codex"`);
  });
});

describe('a client that misbehaves', () => {
  test.each([
    ['plugin-list:garbage', 'unsupported (wake_unsupported)'],
    ['marketplace-list:silent', 'unsupported (wake_unsupported)'],
    ['install:idle', 'failed (wake_failed)'],
    ['install:undone', 'failed (wake_failed)'],
    ['install:flood', 'failed (wake_failed)'],
    ['install:fork', 'ok (wake_installed)'],
  ])('installing: %s', async (mischief, expected) => {
    const operator = fresh();
    switchEventsOn(operator);
    const run = await runSetup(operator, ['--apply', ...USER, '--wake'], { FAKE_MISCHIEF: mischief });
    expect(codes(run)).toEqual(['ok (applied)', 'ok (skill_installed)', expected]);
    expect(run.stdout + run.stderr).not.toContain('SENTINEL');
    await settled(operator);
    expect((await runSetup(operator, ['--apply', ...USER, '--wake'])).code).toBe(0);
    expect(await last(operator, ['--remove', ...USER])).toBe('ok (wake_removed)');
  });

  test.each([
    ['uninstall:silent', 'failed (wake_failed)'],
    ['marketplace-remove:idle', 'failed (wake_failed)'],
    ['uninstall:fork', 'ok (wake_removed)'],
  ])('removing: %s', async (mischief, expected) => {
    const operator = fresh();
    await runSetup(operator, ['--apply', ...USER, '--wake']);
    const run = await runSetup(operator, ['--remove', ...USER], { FAKE_MISCHIEF: mischief });
    expect(codes(run).at(-1)).toBe(expected);
    await settled(operator);
    if (run.code !== 0) expect(await last(operator, ['--remove', ...USER])).toBe('ok (wake_removed)');
    expect(plugins(operator)).toEqual({ markets: {}, installed: {} });
    expect(existsSync(files(operator))).toBe(false);
  });
});

const CLAUDE = missing('claude');
if (CLAUDE) console.warn(`SKIPPED, setup of the wake hook with the real Claude Code: ${CLAUDE}`);

test('the real Claude Code takes it, and gives it back switched off', { timeout: 300_000 }, async (context) => {
  context.skip(CLAUDE !== undefined, CLAUDE);
  // Below the checkout: real clients keep away from temporary directories.
  const cache = resolve(import.meta.dirname, '../../.cache');
  mkdirSync(cache, { recursive: true });
  const place = mkdtempSync(join(cache, 'setup-wake-'));
  try {
    const operator = makeOperator(place);
    switchEventsOn(operator);
    const bin = join(process.env['PI_SESSION_MCP_CLIENTS'] ?? '', 'node_modules/.bin');
    mkdirSync(join(place, 'tmp'));
    const env = { PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`, TMPDIR: join(place, 'tmp') };
    const settings = () => JSON.parse(readFileSync(join(operator.home, '.claude/settings.json'), 'utf8'));
    expect(await last(operator, ['--apply', ...USER, '--wake'], env)).toBe('ok (wake_installed)');
    expect(settings().enabledPlugins).toEqual({ 'pi-session-mcp-wake@pi-session-mcp': true });
    expect(await last(operator, ['--verify', ...USER, '--wake'], env)).toBe('ok (wake_verified)');
    const off = { ...settings(), enabledPlugins: { 'pi-session-mcp-wake@pi-session-mcp': false } };
    writeFileSync(join(operator.home, '.claude/settings.json'), JSON.stringify(off));
    expect(await last(operator, ['--apply', ...USER, '--wake'], env)).toBe('unchanged (wake_disabled)');
    expect(await last(operator, ['--remove', ...USER], env)).toBe('ok (wake_removed)');
    expect(settings()).toEqual({ enabledPlugins: {}, extraKnownMarketplaces: {} });
    expect(existsSync(files(operator))).toBe(false);
    await settled(operator);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});
