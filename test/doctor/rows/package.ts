import { readFileSync } from 'node:fs';
import { SECRET } from '../lab.ts';
import type { Row } from './row.ts';

const BROKEN_MANIFEST = ['error package_metadata_unreadable package'];
const BROKEN_BUILD = ['error build_missing build'];
const MANIFEST = 'package/package.json';
const BUILD = 'package/dist/build.json';
const build = (files: object) => ({ schemaVersion: 1, version: '0.1.0', files, sources: {} });

export const packageRows: readonly Row[] = [
  { world: 'nothing is wrong', found: [] },
  { world: 'an old Node', input: () => ({ nodeVersion: '22.18.9' }), found: ['error node_version_unsupported node'] },
  { world: 'an older Node', input: () => ({ nodeVersion: '9.30.0' }), found: ['error node_version_unsupported node'] },
  { world: 'a newer Node', input: () => ({ nodeVersion: '24.0.0' }), found: [] },
  { world: 'no package.json', prepare: (lab) => lab.without(MANIFEST), found: BROKEN_MANIFEST },
  {
    world: 'the package.json of somebody else',
    prepare: (lab) => lab.write(MANIFEST, { name: SECRET, version: '0.1.0' }),
    found: BROKEN_MANIFEST,
  },
  {
    world: 'a version that is none',
    prepare: (lab) => lab.write(MANIFEST, { name: 'pi-session-mcp', version: `0.1.0 ${SECRET}` }),
    found: BROKEN_MANIFEST,
  },
  {
    world: 'another version than that of the build',
    prepare: (lab) => lab.write(MANIFEST, { name: 'pi-session-mcp', version: '9.9.9' }),
    found: ['error version_mismatch package'],
  },
  { world: 'no build', prepare: (lab) => lab.without('package/dist'), found: BROKEN_BUILD },
  { world: 'a build without its list', prepare: (lab) => lab.without(BUILD), found: BROKEN_BUILD },
  { world: 'a build that lacks a file', prepare: (lab) => lab.without('package/dist/reaper.js'), found: BROKEN_BUILD },
  {
    world: 'a build with a damaged file',
    prepare: (lab) => lab.write('package/dist/main.js', SECRET),
    found: BROKEN_BUILD,
  },
  { world: 'a list that names nothing', prepare: (lab) => lab.write(BUILD, build({})), found: BROKEN_BUILD },
  {
    world: 'a list that leads out of the build',
    prepare: (lab) => {
      const { files } = JSON.parse(readFileSync(lab.path(BUILD), 'utf8'));
      lab.write('package/main.js', 'main.js').write(BUILD, build({ ...files, '../main.js': files['main.js'] }));
    },
    found: BROKEN_BUILD,
  },
  {
    world: 'sources that the build was not made of',
    prepare: (lab) => lab.write('package/src/main.ts', SECRET),
    found: ['warning build_stale build'],
  },
  {
    world: 'sources that are gone',
    prepare: (lab) => lab.directory('package/src'),
    found: ['warning build_stale build'],
  },
];

const MISSING = ['error config_missing configuration'];
const UNREADABLE = ['error config_unreadable configuration'];
const FILE = 'config/server.json';

export const configurationRows: readonly Row[] = [
  { world: 'no variable', input: () => ({ env: { PI_SESSION_MCP_CONFIG: undefined } }), found: MISSING },
  { world: 'a relative path', input: () => ({ env: { PI_SESSION_MCP_CONFIG: `${SECRET}.json` } }), found: MISSING },
  { world: 'no file', prepare: (lab) => lab.without(FILE), found: MISSING },
  { world: 'a link to nowhere', prepare: (lab) => lab.without(FILE).link(FILE, SECRET), found: UNREADABLE },
  { world: 'a directory', prepare: (lab) => lab.without(FILE).directory(FILE), found: UNREADABLE },
  { world: 'a FIFO', prepare: (lab) => lab.without(FILE).fifo(FILE), found: UNREADABLE },
  { world: 'no JSON', prepare: (lab) => lab.write(FILE, SECRET), found: ['error config_invalid configuration'] },
  {
    world: 'fields that are refused',
    prepare: (lab) => lab.configure({ profile: { thinkingLevel: SECRET }, workspaces: { shop: `~/${SECRET}` } }),
    found: ['error config_invalid reader', 'error config_invalid shop'],
  },
  {
    world: 'modes that are refused',
    prepare: (lab) => lab.write('config/execution-modes.json', { schemaVersion: SECRET, workspaces: { [SECRET]: 1 } }),
    found: ['error config_invalid execution-modes'],
  },
];
