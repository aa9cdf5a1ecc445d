/** `execution-modes.json` (docs/configuration.md). */
import { describe, expect, test } from 'vitest';
import {
  type Content,
  changed,
  configurationOf,
  entries,
  failureOf,
  type Json,
  load,
  MODES_PATH,
  repeat,
  validDocument,
} from './kit.ts';

const document = changed((d) => {
  d.executionProfiles.cursor = { ...d.executionProfiles.worker, provider: 'Cursor' };
});
const withModes = (modes: Content) => load(document, { [MODES_PATH]: modes });
const entry = (project: Json) => withModes({ schemaVersion: 1, workspaces: { project } });
const defaults = {
  writers: 1,
  lifecycle: 'persistent',
  profiles: ['worker'],
  image: 'node',
  network: 'pasta',
  cache: 'none',
};
const container = (fields: Json = {}) => entry({ mode: 'container', profiles: ['worker'], ...fields });

describe('accepts', () => {
  test('no file: every workspace is unset', () => {
    const { workspaces } = configurationOf(load(document));
    expect(Object.values(workspaces).map(({ mode }) => mode)).toEqual(['unset', 'unset']);
  });

  test('no entry: unset, next to one that is set', () => {
    const { workspaces } = configurationOf(entry({ mode: 'read-only' }));
    expect(workspaces.project).toEqual({ alias: 'project', directory: '/srv/project', mode: 'read-only' });
    expect(workspaces.other?.mode).toBe('unset');
  });

  test('host with its acknowledgment', () => {
    const { project } = configurationOf(entry({ mode: 'host', acceptHostWrites: true })).workspaces;
    expect(project).toEqual({ alias: 'project', directory: '/srv/project', mode: 'host' });
  });

  test('container with defaults', () => {
    const { project } = configurationOf(container()).workspaces;
    expect(project).toEqual({ alias: 'project', directory: '/srv/project', mode: 'container', container: defaults });
  });

  test.each([
    [{ writers: 16 }],
    [{ lifecycle: 'ephemeral' }],
    [{ network: 'none' }],
    [{ network: 'slirp4netns' }],
    [{ cache: 'go' }],
    [{ image: 'sha256:0123abcdef' }],
    [{ image: 'registry.example:5000/a/b_c@sha256:00' }],
    [{ image: 'a'.repeat(256) }],
  ])('container with %j', (fields) => {
    expect(configurationOf(container(fields)).workspaces.project?.container).toEqual({ ...defaults, ...fields });
  });

  test('a byte order mark and no workspaces at all', () => {
    expect(withModes('\uFEFF{"schemaVersion":1,"workspaces":{}}')).toMatchObject({ ok: true });
  });
});

describe('refuses the document', () => {
  test.each<readonly [string, Content]>([
    ['unreadable', 'unreadable'],
    ['not a file', 'not_a_file'],
    ['too large', 'too_large'],
    ['empty', ''],
    ['not JSON', '{'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a list', '[]'],
    ['deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['a duplicate key', '{"schemaVersion":1,"schemaVersion":1,"workspaces":{}}'],
    ['a prototype key', '{"schemaVersion":1,"workspaces":{"__proto__":{"mode":"read-only"}}}'],
    ['no version', { workspaces: {} }],
    ['another version', { schemaVersion: 2, workspaces: {} }],
    ['a version as text', { schemaVersion: '1', workspaces: {} }],
    ['no workspaces', { schemaVersion: 1 }],
    ['an unknown field', { schemaVersion: 1, workspaces: {}, extra: 1 }],
    ['a megabyte of unknown workspaces', { schemaVersion: 1, workspaces: entries(90_000, () => 1) }],
  ])('%s', (_name, modes) => {
    const failure = failureOf(withModes(modes));
    expect(failure.code).toBe('invalid_execution_modes');
    expect(failure.issues.length).toBeGreaterThan(0);
  });
});

describe('refuses an entry', () => {
  test.each<readonly [Json, string]>([
    [null, 'mode'],
    ['host', 'mode'],
    [{}, 'mode'],
    [{ mode: 'unset' }, 'mode'],
    [{ mode: 'Host', acceptHostWrites: true }, 'mode'],
    [{ mode: ['host'] }, 'mode'],
    [{ mode: 'host' }, 'acceptHostWrites'],
    [{ mode: 'host', acceptHostWrites: false }, 'acceptHostWrites'],
    [{ mode: 'host', acceptHostWrites: 'true' }, 'acceptHostWrites'],
    [{ mode: 'host', acceptHostWrites: true, writers: 1 }, 'workspaces'],
    [{ mode: 'read-only', acceptHostWrites: true }, 'workspaces'],
    [{ mode: 'container', profiles: ['worker'], acceptHostWrites: true }, 'workspaces'],
    [{ mode: 'container' }, 'profiles'],
  ])('%j', (value, field) => {
    const failure = failureOf(entry(value));
    expect(failure.code).toBe('invalid_execution_modes');
    expect(failure.issues[0]).toMatchObject({ subject: 'project', field });
  });

  test.each<readonly [Json, string]>([
    [{ writers: 0 }, 'writers'],
    [{ writers: 17 }, 'writers'],
    [{ writers: 1.5 }, 'writers'],
    [{ writers: '2' }, 'writers'],
    [{ writers: null }, 'writers'],
    [{ lifecycle: 'forever' }, 'lifecycle'],
    [{ network: 'host' }, 'network'],
    [{ cache: 'npm' }, 'cache'],
    [{ image: '' }, 'image'],
    [{ image: '--privileged' }, 'image'],
    [{ image: 'a b' }, 'image'],
    [{ image: 'a\n' }, 'image'],
    [{ image: 'a'.repeat(257) }, 'image'],
    [{ profiles: [] }, 'profiles'],
    [{ profiles: 'worker' }, 'profiles'],
    [{ profiles: repeat(65, () => 'worker') }, 'profiles'],
    [{ profiles: [1] }, 'profiles[0]'],
    [{ profiles: ['worker', 'ghost'] }, 'profiles[1]'],
    [{ profiles: ['constructor'] }, 'profiles[0]'],
    [{ profiles: ['safe'] }, 'profiles[0]'],
    [{ profiles: ['cursor'] }, 'profiles[0]'],
    [{ profiles: ['worker', 'worker'] }, 'profiles[1]'],
    [{ extra: 1 }, 'workspaces'],
  ])('container with %j', (fields, field) => {
    const failure = failureOf(container(fields));
    expect(failure.code).toBe('invalid_execution_modes');
    expect(failure.issues[0]).toMatchObject({ subject: 'project', field });
  });

  test.each([
    ['ghost', 'ghost'],
    ['constructor', 'constructor'],
    ['Bad Alias', 'execution-modes'],
  ])('for the workspace %s, which is not configured', (alias, subject) => {
    const failure = failureOf(withModes({ schemaVersion: 1, workspaces: { [alias]: { mode: 'read-only' } } }));
    expect(failure).toMatchObject({ code: 'invalid_execution_modes', issues: [{ subject, field: 'workspaces' }] });
  });

  test('after the configuration itself: its own trouble comes first', () => {
    const broken = changed((d) => Object.assign(d, { extra: 1 }));
    expect(failureOf(load(broken, { [MODES_PATH]: '{' })).code).toBe('invalid_execution_profile_config');
    expect(load(validDocument(), { [MODES_PATH]: '{' })).toMatchObject({ code: 'invalid_execution_modes' });
  });
});
