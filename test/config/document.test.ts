/** What happens to the bytes before any field is looked at: location, encoding, syntax, duplicates, size. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import {
  CONFIG_PATH,
  configurationOf,
  diskOf,
  failureOf,
  load,
  MODES_PATH,
  PACKAGE_ROOT,
  validDocument,
} from './kit.ts';

const text = JSON.stringify(validDocument());

describe('location', () => {
  test.each([
    ['unset', undefined, 'is not set'],
    ['empty', '', 'is not set'],
    ['relative', 'pi-session-mcp.json', 'must be an absolute path'],
    ['dotted', './pi-session-mcp.json', 'must be an absolute path'],
    ['a tilde', '~/pi-session-mcp.json', 'must be an absolute path'],
    ['blank', ' ', 'must be an absolute path'],
  ])('%s: a path is required and nothing is read', (_name, value, problem) => {
    const files = diskOf({ [CONFIG_PATH]: text });
    const result = loadConfiguration({ env: { PI_SESSION_MCP_CONFIG: value }, packageRoot: PACKAGE_ROOT, files });
    expect(result).toEqual({
      ok: false,
      code: 'config_path_required',
      issues: [{ subject: 'configuration', field: 'PI_SESSION_MCP_CONFIG', problem }],
    });
    expect(files.reads).toEqual([]);
  });

  test('each file is read once', () => {
    const files = diskOf({ [CONFIG_PATH]: text });
    loadConfiguration({
      env: { PI_SESSION_MCP_CONFIG: `/etc/x/../pi/pi-session-mcp.json` },
      packageRoot: PACKAGE_ROOT,
      files,
    });
    expect(files.reads).toEqual([CONFIG_PATH, MODES_PATH]);
  });

  test.each(['missing', 'not_a_file', 'too_large', 'unreadable'] as const)('%s: unreadable', (reason) => {
    expect(load(reason)).toMatchObject({
      ok: false,
      code: 'config_unreadable',
      reason,
      issues: [{ field: 'document' }],
    });
  });
});

describe('encoding and syntax', () => {
  test.each<readonly [string, string | Uint8Array]>([
    ['empty', ''],
    ['blank', ' \n'],
    ['cut off', text.slice(0, -1)],
    ['followed by more', `${text} {}`],
    ['with a line comment', `// x\n${text}`],
    ['with a block comment', text.replace('{', '{/* x */')],
    ['with a trailing comma', text.replace(/}$/, ',}')],
    ['in single quotes', text.replaceAll('"', "'")],
    ['with a raw control character', text.replace('/srv', '/s\trv')],
    ['NaN', text.replace('true', 'NaN')],
    ['with two byte order marks', `\uFEFF\uFEFF${text}`],
    ['not UTF-8', Buffer.from(text.replace('/srv', '/s\xFFv'), 'latin1')],
    ['cut inside a character', Buffer.concat([Buffer.from(text), Buffer.from([0xe2, 0x82])])],
    [
      'an encoded surrogate',
      Buffer.from(text.replace('/srv', '/s\x01\x02\x03v'), 'latin1').map(
        (byte) => ({ 1: 0xed, 2: 0xa0, 3: 0x80 })[byte] ?? byte,
      ),
    ],
    ['in UTF-16', Buffer.from(`\uFEFF${text}`, 'utf16le')],
    ['half of a deep nest', '['.repeat(100_000)],
  ])('%s: not JSON', (_name, content) => {
    expect(failureOf(load(content))).toEqual({
      ok: false,
      code: 'config_not_json',
      issues: [{ subject: 'configuration', field: 'document', problem: 'is not JSON in UTF-8' }],
    });
  });

  test('one byte order mark is ignored, and counts for the fingerprint', () => {
    expect(configurationOf(load(`\uFEFF${text}`)).fingerprint).not.toBe(configurationOf(load(text)).fingerprint);
  });
});

describe('fingerprint', () => {
  test.each([text, `${text}\n`, JSON.stringify(validDocument(), null, 2), `\uFEFF ${text}`])(
    'covers the exact bytes',
    (content) => {
      const expected = `sha256:${createHash('sha256').update(Buffer.from(content)).digest('hex')}`;
      expect(configurationOf(load(content)).fingerprint).toBe(expected);
    },
  );
});

describe('duplicate keys', () => {
  const profile = '"default":true,"permissionProfile":"read-only","provider":"p","model":"m","thinkingLevel":"off"';
  const wrap = (body: string): string => `{"workspaces":{},"executionProfiles":{"safe":{${profile}${body}}}}`;
  const server = (body: string): string =>
    wrap(`,"mcpServers":{"s":{"command":"/x","tools":{"t":{"name":"n","readOnly":true}}${body}}}`);

  test.each([
    ['a section', `{"workspaces":{},${wrap('').slice(1)}`, 'configuration', 'workspaces', 'is given more than once'],
    [
      'an unknown section',
      `{"x":1,"x":1,${wrap('').slice(1)}`,
      'configuration',
      'document',
      'has one key more than once',
    ],
    [
      'a workspace',
      wrap('').replace('{}', '{"a":"/x","b":"/y","a":"/x"}'),
      'a',
      'workspaces',
      'is given more than once',
    ],
    [
      'a malformed alias',
      wrap('').replace('{}', '{"A":"/x","A":"/x"}'),
      'configuration',
      'workspaces',
      'has one key more than once',
    ],
    [
      'a profile',
      wrap('').replace('}}}', `},"safe":{${profile}}}}`),
      'safe',
      'executionProfiles',
      'is given more than once',
    ],
    ['a profile field', wrap(',"model":"m"'), 'safe', 'model', 'is given more than once'],
    ['an escaped field', wrap(',"m\\u006fdel":"m"'), 'safe', 'model', 'is given more than once'],
    ['a server', wrap(',"mcpServers":{"s":{},"s":{}}'), 'safe', 'mcpServers.s', 'is given more than once'],
    ['a server field', server(',"command":"/y"'), 'safe', 'mcpServers.s.command', 'is given more than once'],
    [
      'a variable',
      server(',"envFrom":{"A":"B","A":"C"}'),
      'safe',
      'mcpServers.s.envFrom',
      'has one key more than once',
    ],
    ['a tool', server('').replace('"t":{', '"t":{},"t":{'), 'safe', 'mcpServers.s.tools.t', 'is given more than once'],
    [
      'a tool field',
      server('').replace('"name":"n"', '"name":"n","name":"n"'),
      'safe',
      'mcpServers.s.tools.t.name',
      'is given more than once',
    ],
    ['inside a list', wrap(',"skills":[{"a":1,"a":2}]'), 'safe', 'skills[0]', 'has one key more than once'],
    [
      'below an unknown field',
      wrap(',"x":[[{"y":{"z":1,"z":1}}]]'),
      'safe',
      'executionProfiles',
      'has one key more than once',
    ],
  ])('%s', (_name, content, subject, field, problem) => {
    expect(failureOf(load(content))).toEqual({
      ok: false,
      code: 'invalid_execution_profile_config',
      issues: [{ subject, field, problem }],
    });
  });

  test('equal keys of different objects are none', () => {
    expect(load(server(',"envFrom":{"A":"A","B":"A"}'))).toMatchObject({ ok: true });
  });
});

describe('hostile documents', () => {
  const invalid = { ok: false, code: 'invalid_execution_profile_config' };

  test.each([
    ['lists', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['hidden by a later key', `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)},"x":1}`],
    ['as a thinking level', text.replace('"medium"', `${'['.repeat(100_000)}${']'.repeat(100_000)}`)],
  ])('100,000 nested %s', (_name, content) => {
    expect(load(content)).toMatchObject(invalid);
  });

  test.each([
    ['top', (t: string) => t.replace('{', '{"__proto__":{},')],
    ['workspaces', (t: string) => t.replace('"project"', '"__proto__"')],
    ['profiles', (t: string) => t.replace('"worker"', '"__proto__"')],
    ['profile', (t: string) => t.replace('"skills"', '"__proto__":{"default":true},"skills"')],
    ['variables', (t: string) => t.replace('"SEARCH_KEY"', '"__proto__"')],
    ['tools', (t: string) => t.replace('"find"', '"__pr\\u006fto__"')],
  ])('__proto__ as a key in %s', (_name, change) => {
    const content = change(text);
    expect(content).not.toBe(text);
    expect(load(content)).toMatchObject(invalid);
    expect(Object.prototype).not.toHaveProperty('default');
  });

  test.each([
    ['a list of broken entries', text.replace('["review","notes"]', `[${'1,'.repeat(400_000)}1]`)],
    ['broken arguments', text.replace('["--fast"]', `[${'1,'.repeat(400_000)}1]`)],
    ['broken workspaces', JSON.stringify({ ...validDocument(), workspaces: wrongMap(100_000, 1) })],
    ['broken profiles', JSON.stringify({ ...validDocument(), executionProfiles: wrongMap(50_000, {}) })],
    ['unknown fields', JSON.stringify({ ...validDocument(), ...wrongMap(100_000, 1) })],
    ['broken skills', JSON.stringify({ ...validDocument(), skillCatalog: wrongMap(100_000, 1) })],
    ['duplicates', `{${'"A":1,'.repeat(150_000)}"A":1}`],
  ])('a megabyte of %s answers with few issues', (_name, content) => {
    const failure = failureOf(load(content));
    expect(failure).toMatchObject(invalid);
    expect(failure.issues.length).toBeGreaterThan(0);
    expect(failure.issues.length).toBeLessThanOrEqual(50);
  });

  test('of many different issues the first 50 are kept', () => {
    const document = validDocument();
    document.executionProfiles.safe.mcpServers.search.tools = wrongMap(64, {});
    expect(failureOf(load(document)).issues).toHaveLength(50);
  });
});

function wrongMap(count: number, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));
}
