/** What the looks at writers say: where one stands, whether its client knows it, and what comes of asking for it again. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { releaseFingerprint } from '../../src/adapters/fs/release-binding.ts';
import type { ExecutionProfile } from '../../src/config/configuration.ts';
import type { Inspection } from '../../src/ports/setup/registration.ts';
import type { Target } from '../../src/ports/setup/target.ts';
import type { BoundaryHost, BoxRoot } from '../../src/ports/writers/boundary.ts';
import type { Consulted, WriterOperation, WriterPhase } from '../../src/ports/writers/lifecycle.ts';
import type { Crew } from '../../src/setup/writers/crew.ts';
import { verifyWriter } from '../../src/setup/writers/verify.ts';
import { stateOf, work } from '../../src/setup/writers/work.ts';
import { bindingOf, writeAcceptance } from '../../src/writers/acceptance.ts';
import { type ContainedRequest, containedConfiguration } from '../../src/writers/contained-configuration.ts';
import { writeJson } from '../../src/writers/json-file.ts';
import { placesOf, type WriterPlaces } from '../../src/writers/places.ts';
import { recordDocument } from '../../src/writers/record.ts';
import type { Station, StationParts } from '../../src/writers/station.ts';

const NEVER = new AbortController().signal;
const host: BoundaryHost = {
  ...{ podman: '/usr/bin/podman', version: '4.3.1', runtime: 'runc', cgroupManager: 'cgroupfs' },
  ...{ seccompProfile: '/p.json', networks: ['none'], limits: { memory: false, cpu: false, processes: false } },
};

const coder: ExecutionProfile = {
  ...{ alias: 'coder', default: false, permissionProfile: 'coding', provider: 'p', model: 'm', thinkingLevel: 'high' },
  ...{ extensions: [], grantedExtensionTools: [], skills: [], mcpServers: [] },
};
const request = {
  configuration: { fingerprint: '', directory: '/', workspaces: {}, executionProfiles: { coder } },
  workspace: {
    ...{ alias: 'shop', directory: '/shop', mode: 'container' },
    container: {
      writers: 1,
      lifecycle: 'persistent',
      profiles: ['coder'],
      image: 'node',
      network: 'none',
      cache: 'none',
    },
  },
  catalog: {},
} as unknown as ContainedRequest;

let root: string;
let places: WriterPlaces;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'writers-'));
  places = placesOf(root, 'shop-1');
  for (const path of [places.directory, join(root, 'package', 'dist')]) mkdirSync(path, { recursive: true });
  writeFileSync(join(root, 'package', 'package.json'), '{}');
  writeFileSync(join(root, 'package', 'dist', 'main.js'), '');
  made({ kind: 'host' });
  const contained = containedConfiguration(request);
  mkdirSync(places.server);
  writeFileSync(join(places.server, 'config.json'), contained?.configuration ?? '');
  writeFileSync(join(places.server, 'execution-modes.json'), contained?.modes ?? '');
});
afterEach(() => rmSync(root, { recursive: true }));

/** Accepted, and registered with Claude Code. */
function made(box: BoxRoot): void {
  writeJson(places.record, recordDocument({ host, root: box, network: 'none', limits: {} }));
  writeAcceptance(places, bindingOf(places, releaseFingerprint(join(root, 'package'))) ?? '');
  const entry = { command: process.execPath, args: [join(root, 'no-launcher.js')] };
  writeJson(places.registration, { schemaVersion: 1, client: 'claude-code', scope: 'user', project: root, ...entry });
}

interface World {
  readonly phase?: WriterPhase | null;
  readonly found?: Inspection;
  readonly consulted?: Consulted;
  readonly image?: 'kept' | 'renewed';
  /** What is configured, where it is an image. */
  readonly tree?: string;
}

function imaged(image: string): object {
  const { container } = request.workspace;
  return { ...request, workspace: { ...request.workspace, container: { ...container, image } } };
}

function crewOf({ phase = 'ready', found = 'equivalent', consulted = 'present', image, tree }: World): Crew {
  const ok = async () => ({ ok: true });
  const station = {
    ...{ fence: async () => 'held', release: async () => {}, quiesce: async () => {} },
    ...{ read: async () => ({ ok: true, phase }), record: ok, accept: ok, register: ok },
    ...{ consult: async () => consulted, inspect: async () => 'clean' },
    ...{ collection: () => undefined, image: () => image },
  } as unknown as Station;
  const parts = { places, packageRoot: join(root, 'package'), request: tree ? imaged(tree) : request };
  const client = { inspect: async () => found, add: async () => 'ended', remove: async () => 'ended' };
  const crew = { workspace: { alias: 'shop' }, clientOf: () => client, parts: () => parts as unknown as StationParts };
  return { ...crew, station: () => station } as unknown as Crew;
}

async function verify(world: World): Promise<string> {
  const end = async (server: { kill(): Promise<unknown> }) => void (await server.kill());
  const { status, code } = await verifyWriter(crewOf(world), 'shop-1', { home: root, end, signal: NEVER } as never);
  return `${status} ${code}`;
}

test.each<[string, World]>([
  ['absent writer_absent', { phase: null }],
  ['failed writer_not_provisioned', { phase: 'registering' }],
  ['failed control_required', { phase: 'controlling' }],
  ['failed acceptance_required', { phase: 'accepting' }],
  ['failed restart_unfinished', { phase: 'resetting' }],
  ['failed registration_absent', { found: 'absent' }],
  ['divergent registration_foreign', { found: 'divergent' }],
  ['unsupported client_unsupported', { found: 'unsupported' }],
  ['failed inspect_failed', { found: 'failed' }],
  ['failed writer_server_failed', {}],
])('verify: %s', async (said, world) => {
  expect(await verify(world)).toBe(said);
});

test('verify of a writer whose record of a registration is gone', async () => {
  rmSync(places.registration);
  expect(await verify({})).toBe('failed registration_absent');
});

test('an acceptance holds as long as what it was bound to, and the tree of its image is there', async () => {
  const tree = join(root, 'tree');
  mkdirSync(tree);
  made({ kind: 'tree', path: tree, image: 'localhost/a:1', environment: {} });
  const crew = crewOf({ tree: 'localhost/a:1' });
  const state = () => stateOf(crew.station('shop-1'), crew.parts('shop-1'), NEVER);
  expect(await state()).toBe('writer_ready');
  rmSync(tree, { recursive: true });
  expect(await state()).toBe('acceptance_outdated');
  expect(await verify({ tree: 'localhost/a:1' })).toBe('failed acceptance_outdated');
});

async function run(operation: WriterOperation, world: World, more: { dryRun?: boolean; client?: Target } = {}) {
  const crew = crewOf(world);
  const request = { crew, operation, names: ['shop-1'], discard: false, dryRun: false, announce: () => {}, ...more };
  const { findings } = await work({ ...request, onInterrupt: () => () => {} });
  return findings.map(({ status, code }) => `${status} ${code}`);
}

test.each<[string, World]>([
  ['planned registration_absent', { consulted: 'absent' }],
  ['failed register_failed', { consulted: 'unknown' }],
])('a made writer, planned: %s', async (said, world) => {
  expect(await run('provision', world, { dryRun: true })).toEqual([said]);
});

test('a lost registration is made again', async () => {
  expect(await run('provision', { consulted: 'absent' })).toEqual(['ok writer_registered']);
});

test.each([true, false])('another client than the one that has it is told (dry run: %s)', async (dryRun) => {
  const client = { client: 'codex', scope: 'user' } as const;
  expect(await run('provision', {}, { client, dryRun })).toEqual(['divergent writer_settings_changed']);
});

test.each([true, false])('the same is nothing to do (dry run: %s)', async (dryRun) => {
  const client = { client: 'claude-code', scope: 'user' } as const;
  expect(await run('provision', {}, { client, dryRun })).toEqual(['unchanged writer_unchanged']);
  expect(await run('provision', {}, { dryRun })).toEqual(['unchanged writer_unchanged']);
});

test('what is not there is not unchanged', async () => {
  expect(await run('remove', { phase: null })).toEqual(['unchanged writer_gone']);
});

test.each([
  ['kept', 'ok image_kept'],
  ['renewed', 'ok image_renewed'],
] as const)('an acceptance that has %s its image says so', async (image, said) => {
  expect(await run('accept', { image })).toEqual(['ok writer_ready', said]);
});
