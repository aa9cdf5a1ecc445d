import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { ModeChoice } from '../../src/setup/arguments.ts';
import { type SetModeInput, setMode } from '../../src/setup/modes/set-mode.ts';

const root = mkdtempSync(join(tmpdir(), 'modes-'));
afterAll(() => rmSync(root, { recursive: true }));
const configuration = join(root, 'pi-session-mcp.json');
const modes = join(root, 'execution-modes.json');

const profile = { provider: 'p', model: 'm', thinkingLevel: 'off', default: false, permissionProfile: 'coding' };
beforeEach(() => {
  rmSync(modes, { force: true });
  const reader = { ...profile, default: true, permissionProfile: 'read-only' };
  const extended = { ...profile, extensions: ['npm:x@1.0.0'] };
  const executionProfiles = { reader, coder: profile, extended, cursor: { ...profile, provider: 'Cursor' } };
  writeFileSync(configuration, JSON.stringify({ workspaces: { shop: '.', other: '.' }, executionProfiles }));
});

const HOST: ModeChoice = { mode: 'host', acceptHostWrites: true, settings: {} };
const container = (settings: ModeChoice['settings']): ModeChoice => ({
  mode: 'container',
  acceptHostWrites: false,
  settings,
});

async function set(choice: ModeChoice, more: Partial<SetModeInput> = {}) {
  const obstacle = async () => undefined;
  const input = { workspace: 'shop', choice, dryRun: false, configuration, packageRoot: root, obstacle, ...more };
  const { status, code } = await setMode(input);
  return `${status} (${code})`;
}
const written = () => JSON.parse(readFileSync(modes, 'utf8'));
const without = { obstacle: async () => 'container_unusable' as const };

test('a first mode is written for the owner alone', async () => {
  expect(await set(HOST)).toBe('ok (mode_applied)');
  expect(written()).toEqual({ schemaVersion: 1, workspaces: { shop: { mode: 'host', acceptHostWrites: true } } });
  expect(statSync(modes).mode & 0o777).toBe(0o600);
  expect(await set(HOST)).toBe('unchanged (mode_unchanged)');
});

test('every other entry stays as it is', async () => {
  const other = { mode: 'container', profiles: ['coder'] };
  writeFileSync(modes, JSON.stringify({ schemaVersion: 1, workspaces: { other } }));
  expect(await set({ mode: 'read-only', acceptHostWrites: false, settings: {} })).toBe('ok (mode_applied)');
  expect(written().workspaces).toEqual({ other, shop: { mode: 'read-only' } });
});

test('a plan writes nothing', async () => {
  expect(await set(HOST, { dryRun: true })).toBe('planned (mode_planned)');
  expect(() => statSync(modes)).toThrow();
});

test('without a choice a container is taken where it works, with the profiles that can live in one', async () => {
  const open: ModeChoice = { acceptHostWrites: false, settings: {} };
  expect(await set(open, without)).toBe('failed (mode_required)');
  expect(await set(open)).toBe('ok (mode_applied)');
  expect(written().workspaces.shop).toEqual({ mode: 'container', profiles: ['coder'] });
});

test('an explicit container is refused where it does not work, never weakened', async () => {
  expect(await set(container({ profiles: ['coder'] }), without)).toBe('failed (container_unusable)');
  expect(() => statSync(modes)).toThrow();
});

test.each([
  ['a profile that is none', container({ profiles: ['nobody'] }), {}, 'mode_settings_invalid'],
  ['a profile that only reads', container({ profiles: ['reader'] }), {}, 'mode_settings_invalid'],
  ['too many writers', container({ profiles: ['coder'], writers: 17 }), {}, 'mode_settings_invalid'],
  ['an unknown workspace', HOST, { workspace: '/etc' }, 'workspace_unknown'],
  ['a name of every object', HOST, { workspace: 'constructor' }, 'workspace_unknown'],
  ['no word for it', { ...HOST, acceptHostWrites: false }, {}, 'host_writes_not_accepted'],
])('refused: %s', async (_what, choice, more, code) => {
  expect(await set(choice as ModeChoice, more)).toBe(`failed (${code})`);
  expect(() => statSync(modes)).toThrow();
});

test('a file that cannot be used is left alone', async () => {
  writeFileSync(modes, '{"schemaVersion":2}');
  expect(await set(HOST)).toBe('failed (modes_invalid)');
  expect(readFileSync(modes, 'utf8')).toBe('{"schemaVersion":2}');
});
