/** Is a writer still what the operator's files ask for? */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Configuration, ContainerSettings, ExecutionProfile } from '../../src/config/configuration.ts';
import type { BoundaryHost } from '../../src/ports/writers/boundary.ts';
import { type ContainedRequest, containedConfiguration } from '../../src/writers/contained-configuration.ts';
import { placesOf } from '../../src/writers/places.ts';
import { type BoundaryRecord, recordDocument } from '../../src/writers/record.ts';
import { changedSettings, isAsConfigured } from '../../src/writers/settings.ts';

const coder: ExecutionProfile = {
  ...{ alias: 'coder', default: false, permissionProfile: 'coding', provider: 'p', model: 'm', thinkingLevel: 'high' },
  ...{ extensions: [], grantedExtensionTools: [], skills: [], mcpServers: [] },
};
const settings: ContainerSettings = {
  ...{ writers: 1, lifecycle: 'persistent', profiles: ['coder'], image: 'node', network: 'pasta', cache: 'none' },
};
const host: BoundaryHost = {
  ...{ podman: '/usr/bin/podman', version: '4.3.1', runtime: 'runc', cgroupManager: 'cgroupfs' },
  ...{ seccompProfile: '/p.json', networks: ['none'], limits: { memory: false, cpu: false, processes: false } },
};
const record: BoundaryRecord = { host, root: { kind: 'host' }, network: 'pasta', limits: {} };
const image = { kind: 'tree', path: '/x/root', image: 'localhost/a:1', environment: {} } as const;

function requestOf(container: Partial<ContainerSettings>): ContainedRequest {
  const workspace = { alias: 'shop', directory: '/shop', mode: 'container', container: { ...settings, ...container } };
  const configuration: Configuration = {
    ...{ fingerprint: '', directory: '/host', workspaces: {}, defaultExecutionProfile: 'coder' },
    executionProfiles: { coder, other: { ...coder, alias: 'other' } },
  };
  return { configuration, workspace: workspace as ContainedRequest['workspace'], catalog: {} };
}

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'settings-'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** A writer that was made with the plain settings and this record. */
function writer(made: Partial<BoundaryRecord> = {}) {
  const places = placesOf(root, 'shop-1');
  const contained = containedConfiguration(requestOf({}));
  const files: [string, string][] = [
    [places.record, JSON.stringify(recordDocument({ ...record, ...made }))],
    [join(places.server, 'config.json'), contained?.configuration ?? ''],
    [join(places.server, 'execution-modes.json'), contained?.modes ?? ''],
  ];
  for (const [path, text] of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600 });
  }
  return places;
}

test.each([
  [{}, {}],
  [{ network: 'slirp4netns' }, {}],
  [{ network: 'slirp4netns' }, { network: 'slirp4netns' }],
  [{ root: image }, { image: 'localhost/a:1' }],
  [{ cache: 'go' }, { cache: 'go' }],
] as const)('made as %o, it is as %o asks for', (made, asked) => {
  expect(isAsConfigured(writer(made), requestOf(asked))).toBe(true);
});

test.each([
  [{}, { network: 'none' }, ['network']],
  [{}, { network: 'slirp4netns' }, ['network']],
  [{ network: 'none' }, {}, ['network']],
  [{}, { image: 'localhost/a:1' }, ['image']],
  [{ root: image }, {}, ['image']],
  [{ root: image }, { image: 'localhost/b:1' }, ['image']],
  [{}, { cache: 'go' }, ['cache']],
  [{ cache: 'go' }, {}, ['cache']],
  [{}, { profiles: ['other'] }, ['profiles']],
  [{}, { profiles: ['coder', 'other'] }, ['profiles']],
  [{}, { profiles: ['nobody'] }, ['profiles']],
  [{ root: image }, { network: 'none', cache: 'go', profiles: ['other'] }, ['profiles', 'image', 'network', 'cache']],
] as const)('made as %o, it is not as %o asks for: %j', (made, asked, names) => {
  const places = writer(made);
  expect(isAsConfigured(places, requestOf(asked))).toBe(false);
  expect(changedSettings(places, requestOf(asked))).toEqual(names);
});

test('what else its server was told is its configuration', () => {
  const { configuration, ...request } = requestOf({});
  const places = writer();
  const executionProfiles = { ...configuration.executionProfiles, coder: { ...coder, model: 'n' } };
  const remodelled = { ...request, configuration: { ...configuration, executionProfiles } };
  expect(changedSettings(places, remodelled)).toEqual(['configuration']);
  const woken = { ...request, configuration: { ...configuration, turnEvents: true as const } };
  expect(changedSettings(places, woken)).toEqual(['configuration']);
  rmSync(join(places.server, 'config.json'));
  expect(changedSettings(places, requestOf({}))).toContain('configuration');
});
