/** What a good configuration becomes. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Configuration } from '../../src/config/configuration.ts';
import type { ConfigurationFiles } from '../../src/config/files.ts';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import {
  CONFIG_PATH,
  changed,
  configurationOf,
  DIRECTORY,
  diskOf,
  load,
  MODES_PATH,
  PACKAGE_ROOT,
  validDocument,
} from './kit.ts';

describe('values', () => {
  const configuration = configurationOf(load(validDocument()));

  test('paths resolve from the directory of the file', () => {
    expect(configuration.directory).toBe(DIRECTORY);
    expect(configuration.workspaces.project).toEqual({ alias: 'project', directory: '/srv/project', mode: 'unset' });
    expect(configuration.workspaces.other?.directory).toBe(`${DIRECTORY}/nested/other`);
    expect(configuration.defaultExecutionProfile).toBe('safe');
  });

  test('a full profile', () => {
    const { safe } = configuration.executionProfiles;
    expect(JSON.parse(JSON.stringify(safe))).toEqual({
      alias: 'safe',
      default: true,
      permissionProfile: 'read-only',
      provider: 'acme',
      model: 'acme-large',
      thinkingLevel: 'medium',
      extensions: ['npm:pi-lens@1.2.3'],
      grantedExtensionTools: ['lens_symbols'],
      skills: [
        { alias: 'review', path: `${PACKAGE_ROOT}/skills/pi-session-review/SKILL.md` },
        { alias: 'notes', path: `${DIRECTORY}/skills-local/notes/SKILL.md` },
      ],
      mcpServers: [
        {
          alias: 'search',
          command: '/usr/bin/search',
          args: ['--fast'],
          envFrom: { SEARCH_KEY: 'HOST_SEARCH_KEY' },
          tools: { find: { name: 'find.all', readOnly: true } },
        },
      ],
    });
  });

  test('a bare profile gets empty lists', () => {
    expect(configuration.executionProfiles.worker).toEqual({
      alias: 'worker',
      default: false,
      permissionProfile: 'coding',
      provider: 'acme',
      model: 'acme-large',
      thinkingLevel: 'high',
      extensions: [],
      grantedExtensionTools: [],
      skills: [],
      mcpServers: [],
    });
  });

  test('provider and model are trimmed', () => {
    const document = changed((d) => Object.assign(d.executionProfiles.safe, { provider: ' a b ', model: '\tm\n' }));
    expect(configurationOf(load(document)).executionProfiles.safe).toMatchObject({ provider: 'a b', model: 'm' });
  });
});

describe('library skills', () => {
  const override = `${DIRECTORY}/skills/pi-session-review/SKILL.md`;
  const shipped = `${PACKAGE_ROOT}/skills/pi-session-review/SKILL.md`;

  test.each([
    ['the override when there is one', { [override]: '', [shipped]: '' }, override],
    ['the override of a skill that is not shipped', { [override]: '' }, override],
    ['the shipped skill otherwise', { [shipped]: '' }, shipped],
    ['the shipped place when there is neither', {}, shipped],
  ])('%s', (_name, others, expected) => {
    const skills = configurationOf(load(validDocument(), others)).executionProfiles.safe?.skills;
    expect(skills?.[0]).toEqual({ alias: 'review', path: expected });
  });

  test('only selected entries are looked up, once each', () => {
    const document = changed((d) => {
      Object.assign(d.skillCatalog, { unused: 'builtin:unused' });
      Object.assign(d.executionProfiles.worker, { skills: ['review'] });
    });
    const asked: string[] = [];
    const files: ConfigurationFiles = {
      ...diskOf({ [CONFIG_PATH]: document }),
      exists: (path) => asked.push(path) < 0,
    };
    loadConfiguration({ env: { PI_SESSION_MCP_CONFIG: CONFIG_PATH }, packageRoot: PACKAGE_ROOT, files });
    expect(asked).toEqual([override]);
  });
});

describe('aliases that objects know', () => {
  const document = changed((d) => {
    Object.assign(d.workspaces, { constructor: '/c' });
    d.executionProfiles = { ...d.executionProfiles, constructor: { ...d.executionProfiles.worker } };
    Object.assign(d.skillCatalog, { constructor: 'c/SKILL.md' });
    d.executionProfiles.constructor.skills = ['constructor'];
    d.executionProfiles.constructor.mcpServers = {
      constructor: { command: '/c', tools: { constructor: { name: 'c', readOnly: true } } },
    };
  });

  test('are ordinary names when configured', () => {
    const { workspaces, executionProfiles } = configurationOf(load(document));
    expect(workspaces.constructor).toMatchObject({ alias: 'constructor', directory: '/c' });
    const profile = executionProfiles.constructor as unknown as Configuration['executionProfiles'][string];
    expect(profile?.skills).toEqual([{ alias: 'constructor', path: `${DIRECTORY}/c/SKILL.md` }]);
    expect(profile?.mcpServers[0]?.tools.constructor).toEqual({ name: 'c', readOnly: true });
  });

  test('are unknown when not', () => {
    const configuration = configurationOf(load(validDocument()));
    const server = configuration.executionProfiles.safe?.mcpServers[0];
    for (const record of [configuration.workspaces, configuration.executionProfiles, server?.envFrom, server?.tools]) {
      expect(record).toBeDefined();
      expect(Object.getPrototypeOf(record)).toBeNull();
      expect(record?.constructor).toBeUndefined();
    }
  });
});

describe('immutability', () => {
  const modes = { schemaVersion: 1, workspaces: { project: { mode: 'container', profiles: ['worker'] } } };
  const configuration = configurationOf(load(validDocument(), { [MODES_PATH]: modes }));

  test('no object in the tree takes a change', () => {
    let count = 0;
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      count += 1;
      expect(Reflect.set(value, 'added', 1)).toBe(false);
      for (const key of Reflect.ownKeys(value)) {
        expect(Reflect.set(value, key, 'changed')).toBe(false);
        expect(Reflect.deleteProperty(value, key) && key !== 'length').toBe(false);
        visit(Reflect.get(value, key));
      }
    };
    visit(configuration);
    // configuration, 2 workspaces with a container and its profiles, 2 profiles with all their lists: nothing skipped
    expect(count).toBeGreaterThan(20);
  });
});

test('the example that ships with the package is valid', () => {
  const example = readFileSync(fileURLToPath(new URL('../../pi-session-mcp.example.json', import.meta.url)));
  const configuration = configurationOf(load(example));
  expect(Object.keys(configuration.executionProfiles).length).toBeGreaterThan(1);
});

test('so are the examples of the operator guide', () => {
  const guide = readFileSync(fileURLToPath(new URL('../../docs/configuration.md', import.meta.url)), 'utf8');
  const [main, modes] = [...guide.matchAll(/```json\n([^`]*)```/g)].map((match) => match[1] ?? '');
  const configuration = configurationOf(load(main ?? '', { [MODES_PATH]: modes ?? '' }));
  expect(Object.values(configuration.workspaces).map(({ mode }) => mode)).toEqual(['container', 'host', 'read-only']);
});
