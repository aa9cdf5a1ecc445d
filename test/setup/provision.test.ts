/** `--mode container` without Podman: what is refused before anything is recorded, and what is said. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ContainerSettings } from '../../src/config/configuration.ts';
import type { BoundaryHost } from '../../src/ports/writers/boundary.ts';
import { prepareMode } from '../../src/setup/modes/set-mode.ts';
import { openCrew } from '../../src/setup/writers/crew.ts';
import { matters } from '../../src/setup/writers/doctor.ts';
import { type ProvisionRequest, provisionWriters } from '../../src/setup/writers/provision.ts';
import { containedConfiguration } from '../../src/writers/contained-configuration.ts';
import { placesOf } from '../../src/writers/places.ts';
import { recordDocument } from '../../src/writers/record.ts';

let root: string;
let checkout: string;
let configuration: string;
let modes: string;
const git = (...args: string[]) => execFileSync('git', ['-C', checkout, ...args], { stdio: 'ignore' });
const profile = { provider: 'p', model: 'm', thinkingLevel: 'off', default: false, permissionProfile: 'coding' };

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'provision-')));
  checkout = join(root, 'shop');
  configuration = join(root, 'pi-session-mcp.json');
  modes = join(root, 'execution-modes.json');
  mkdirSync(checkout);
  git('init', '--quiet');
  writeFileSync(join(checkout, 'a'), 'a');
  git('add', '.');
  git('-c', 'user.name=o', '-c', 'user.email=o@o', 'commit', '--quiet', '-m', 'A');
  const reader = { ...profile, default: true, permissionProfile: 'read-only' };
  const executionProfiles = { reader, coder: profile, extended: { ...profile, extensions: ['npm:x@1.0.0'] } };
  writeFileSync(configuration, JSON.stringify({ workspaces: { shop: 'shop' }, executionProfiles }));
});
afterEach(() => rmSync(root, { recursive: true }));

const CLIENT = { client: 'codex', scope: 'user' } as const;
const places = () => ({
  ...{ home: root, stateDirectory: join(root, 'state'), project: checkout, packageRoot: join(root, 'package') },
});

/** Nothing stands in the way, unless it is said; Podman is never found. */
async function provision(
  settings: Partial<ContainerSettings>,
  { dryRun = false, ...more }: Partial<ProvisionRequest> = {},
) {
  const choice = {
    mode: 'container',
    acceptHostWrites: false,
    settings: { profiles: ['coder'], ...settings },
  } as const;
  const obstacle = async () => undefined;
  const common = { configuration, obstacle };
  const mode = await prepareMode({ workspace: 'shop', choice, packageRoot: root, ...common });
  if (!mode.ok || mode.container === undefined) throw new Error('not prepared');
  const { findings, code } = await provisionWriters({
    ...{ mode: { ...mode, container: mode.container }, client: CLIENT, dryRun, places: places(), ...common },
    ...{ probe: async () => undefined, doctor: async () => false, show: () => {}, goOn: () => {}, ...more },
  });
  const said = findings.map(({ target, status, code: word, settings: names }) =>
    [target.alias, status, word, ...(names ?? [])].join(' '),
  );
  return [...said, ...(code ? [code] : [])];
}

const NOT = 'shop unchanged mode_not_recorded';

test.each<[string, Partial<ContainerSettings>, Partial<ProvisionRequest>, string[]]>([
  ['no client', {}, { client: undefined }, [NOT, 'shop failed writer_client_required']],
  ['a profile that no box can have', { profiles: ['extended'] }, {}, [NOT, 'shop failed configure_failed']],
  ['what the doctor says', {}, { doctor: async () => true }, [NOT, 'doctor_failed']],
  [
    'an image that is not there',
    { image: 'localhost/a' },
    { obstacle: async () => 'image_missing' },
    ['shop failed image_missing'],
  ],
  ['no Podman', {}, { obstacle: async () => 'container_unusable' }, ['shop failed container_unusable']],
])('refused before the mode is recorded, and by the dry run too: %s', async (_what, settings, more, said) => {
  expect(await provision(settings, { ...more, dryRun: true })).toEqual(said);
  expect(await provision(settings, more)).toEqual(said);
  expect(existsSync(modes)).toBe(false);
});

test('refused as well: a checkout that cannot be cloned', async () => {
  rmSync(join(checkout, '.git'), { recursive: true });
  expect(await provision({}, { dryRun: true })).toEqual([NOT, 'shop failed clone_failed']);
  expect(await provision({})).toEqual([NOT, 'shop failed clone_failed']);
  expect(existsSync(modes)).toBe(false);
});

test('an image that cannot be used keeps the mode from being recorded; only the unpacking tells', async () => {
  const image = { image: 'localhost/a' };
  expect(await provision(image, { dryRun: true })).toEqual([
    'shop planned mode_planned',
    'shop-1 planned writer_planned',
  ]);
  expect(await provision(image)).toEqual([NOT, 'shop failed image_unusable']);
  expect(existsSync(modes)).toBe(false);
});

test('a mode that is recorded is said to be, whatever becomes of the writers then', async () => {
  expect(await provision({})).toEqual(['shop ok mode_applied', 'shop-1 failed fence_unavailable']);
  expect(JSON.parse(readFileSync(modes, 'utf8')).workspaces.shop).toEqual({ mode: 'container', profiles: ['coder'] });
  expect(await provision({}, { client: undefined })).toEqual([
    'shop unchanged mode_unchanged',
    'shop failed writer_client_required',
  ]);
});

test('what of the checkout is not in the clone', async () => {
  writeFileSync(join(checkout, '.gitmodules'), '');
  git('add', '.');
  git('-c', 'user.name=o', '-c', 'user.email=o@o', 'commit', '--quiet', '-m', 'B');
  expect(await provision({}, { dryRun: true })).toContain('shop ok submodules_empty');
  writeFileSync(join(checkout, 'a'), 'bb');
  expect((await provision({}, { dryRun: true })).slice(2)).toEqual([
    'shop ok checkout_has_changes',
    'shop ok submodules_empty',
  ]);
});

const host: BoundaryHost = {
  ...{ podman: '/usr/bin/podman', version: '4.3.1', runtime: 'runc', cgroupManager: 'cgroupfs' },
  ...{ seccompProfile: '/p.json', networks: ['none'], limits: { memory: false, cpu: false, processes: false } },
};

/** As `--mode container --profiles coder` makes it. */
function made(name: string) {
  writeFileSync(
    modes,
    JSON.stringify({ schemaVersion: 1, workspaces: { shop: { mode: 'container', profiles: ['coder'] } } }),
  );
  const opened = openCrew('shop', configuration, places(), root);
  const contained = opened.ok ? containedConfiguration(opened.crew.parts(name).request) : undefined;
  const at = placesOf(join(root, 'state', 'writers'), name);
  const record = recordDocument({ host, root: { kind: 'host' }, network: 'pasta', limits: {} });
  const files = {
    [join(at.directory, 'state.json')]: JSON.stringify({ schemaVersion: 1, name, phase: 'controlling' }),
    [at.record]: JSON.stringify(record),
    [join(at.server, 'config.json')]: contained?.configuration ?? '',
    [join(at.server, 'execution-modes.json')]: contained?.modes ?? '',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600 });
  }
}

test('a dry run, too, tells a writer that was made with other settings, and which', async () => {
  made('shop-1');
  expect(await provision({}, { dryRun: true })).toEqual([
    'shop unchanged mode_unchanged',
    // As it was made; only, no client has it.
    'shop-1 planned registration_absent',
  ]);
  const others = { cache: 'go', network: 'none' } as const;
  const different = 'shop-1 divergent writer_settings_changed network cache';
  // Nothing is to be made, so neither a client nor the checkout is asked for.
  expect(await provision(others, { dryRun: true, client: undefined })).toEqual([
    'shop planned mode_planned network cache',
    different,
  ]);
});

test('a writer that nothing can be done with keeps a mode from being recorded', async () => {
  made('shop-1');
  rmSync(modes);
  writeFileSync(join(root, 'state', 'writers', 'shop-1', 'state.json'), '{}');
  const said = [NOT, 'shop-1 failed journal_unreadable'];
  expect(await provision({}, { dryRun: true })).toEqual(said);
  expect(await provision({})).toEqual(said);
  expect(existsSync(modes)).toBe(false);
});

test('a writer that the mode does not ask for is told', async () => {
  made('shop-1');
  made('shop-3');
  expect((await provision({}, { dryRun: true })).slice(1)).toEqual([
    'shop-1 planned registration_absent',
    'shop-3 ok writer_outlives_mode',
  ]);
});

test.each([
  ['workspace_missing', 'other', false],
  ['workspace_missing', 'shop', true],
  ['podman_missing', 'other', false],
  ['extension_missing', 'extended:x', false],
  ['skill_missing', 'coder:review', true],
  ['skill_missing', 'reader:review', false],
  ['skill_override_outdated', 'skill:bases', true],
  ['build_missing', 'build', true],
] as const)('does %s of %s matter to shop?', (id, subject, does) => {
  const container: ContainerSettings = {
    ...{ writers: 1, lifecycle: 'persistent', profiles: ['coder'], image: 'node', network: 'pasta', cache: 'none' },
  };
  const shop = { alias: 'shop', directory: '/shop', mode: 'container', container } as const;
  expect(matters({ id, subject }, shop)).toBe(does);
});

test('a mode without containers names the writers that it leaves', () => {
  const state = join(root, '.local', 'state', 'pi-session-mcp', 'writers');
  mkdirSync(join(state, 'shop-2'), { recursive: true });
  const main = join(import.meta.dirname, '../../src/setup/main.ts');
  const args = [main, '--json', '--config', configuration, '--repo', 'shop', '--mode', 'read-only', '--apply'];
  const report = JSON.parse(execFileSync(process.execPath, args, { env: { HOME: root }, encoding: 'utf8' }));
  expect(report).toMatchObject({
    status: 'ok',
    findings: [
      { status: 'ok', code: 'mode_applied', mode: 'read-only' },
      { target: { client: 'writer', scope: 'shop', alias: 'shop-2' }, status: 'ok', code: 'writer_outlives_mode' },
    ],
  });
});
