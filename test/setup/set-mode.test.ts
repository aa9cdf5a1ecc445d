import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { ModeChoice } from '../../src/setup/arguments.ts';
import { prepareMode, type SetModeInput } from '../../src/setup/modes/set-mode.ts';

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

const prepare = (choice: ModeChoice, more: Partial<SetModeInput> = {}) =>
  prepareMode({
    ...{ workspace: 'shop', choice, configuration, packageRoot: root, obstacle: async () => undefined },
    ...more,
  });

async function set(choice: ModeChoice, more: Partial<SetModeInput> = {}) {
  const prepared = await prepare(choice, more);
  if (prepared.ok && !prepared.isChanged) return 'as recorded';
  const { status, code } = prepared.ok ? prepared.record() : prepared.finding;
  return `${status} (${code})`;
}
const written = () => JSON.parse(readFileSync(modes, 'utf8'));
const without = { obstacle: async () => 'container_unusable' as const };

test('a first mode is written for the owner alone', async () => {
  expect(await set(HOST)).toBe('ok (mode_applied)');
  expect(written()).toEqual({ schemaVersion: 1, workspaces: { shop: { mode: 'host', acceptHostWrites: true } } });
  expect(statSync(modes).mode & 0o777).toBe(0o600);
  expect(await set(HOST)).toBe('as recorded');
});

test('every other entry stays as it is', async () => {
  const other = { mode: 'container', profiles: ['coder'] };
  writeFileSync(modes, JSON.stringify({ schemaVersion: 1, workspaces: { other } }));
  expect(await set({ mode: 'read-only', acceptHostWrites: false, settings: {} })).toBe('ok (mode_applied)');
  expect(written().workspaces).toEqual({ other, shop: { mode: 'read-only' } });
});

test('it is written when it is recorded, not before; what has become of the other entries meanwhile stays', async () => {
  const prepared = await prepare(HOST);
  expect(() => statSync(modes)).toThrow();
  writeFileSync(modes, JSON.stringify({ schemaVersion: 1, workspaces: { other: { mode: 'read-only' } } }));
  expect(prepared.ok && prepared.record()).toMatchObject({ status: 'ok', code: 'mode_applied', mode: 'host' });
  expect(Object.keys(written().workspaces)).toEqual(['other', 'shop']);
  writeFileSync(modes, '{');
  expect(prepared.ok && prepared.record()).toMatchObject({ status: 'failed', code: 'mode_write_failed' });
});

test('which mode it would be, and what of a recorded container would be another', async () => {
  const before = { mode: 'container', profiles: ['coder'], image: 'localhost/a', cache: 'go', writers: 2 };
  writeFileSync(modes, JSON.stringify({ schemaVersion: 1, workspaces: { shop: before } }));
  const planned = async (choice: ModeChoice) => {
    const prepared = await prepare(choice);
    return prepared.ok ? prepared.finding('planned', 'mode_planned') : undefined;
  };
  expect(await planned(container({ profiles: ['coder'], image: 'localhost/a', cache: 'go' }))).toMatchObject({
    ...{ mode: 'container', settings: ['writers'] },
  });
  // Without any option, too, all that is left out takes its default.
  expect(await planned({ acceptHostWrites: false, settings: {} })).toMatchObject({
    ...{ mode: 'container', settings: ['writers', 'image', 'cache'] },
  });
  const host = await planned(HOST);
  expect(host).toMatchObject({ mode: 'host' });
  expect(host).not.toHaveProperty('settings');
});

test('without a choice a container is taken where it works, with the profiles that can live in one', async () => {
  const open: ModeChoice = { acceptHostWrites: false, settings: {} };
  expect(await set(open, without)).toBe('failed (mode_required)');
  expect(await set(open)).toBe('ok (mode_applied)');
  expect(written().workspaces.shop).toEqual({ mode: 'container', profiles: ['coder'] });
});

test('without a choice no container is taken when no profile can live in one', async () => {
  const executionProfiles = { reader: { ...profile, default: true, permissionProfile: 'read-only' } };
  writeFileSync(configuration, JSON.stringify({ workspaces: { shop: '.' }, executionProfiles }));
  expect(await set({ acceptHostWrites: false, settings: {} })).toBe('failed (mode_required)');
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
