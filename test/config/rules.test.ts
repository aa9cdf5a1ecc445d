/** Each rule over several fields, broken once, and the code that thinking levels have to themselves. */
import { describe, expect, test } from 'vitest';
import { aliased, bare, manyLevels, type Refusal, safe, sameSkill, search, server, worker } from './builders.ts';
import { changed, failureOf, type Json, load } from './kit.ts';

const RULES: readonly Refusal[] = [
  ['no default', (d) => Object.assign(safe(d), { default: false }), 'configuration', 'executionProfiles'],
  [
    'two defaults',
    (d) => Object.assign(d.executionProfiles, { third: { ...bare(), default: true } }),
    'third',
    'default',
  ],
  [
    'a default that can write',
    (d) => Object.assign(d, { executionProfiles: { w: { ...worker(), default: true } } }),
    'w',
    'permissionProfile',
  ],
  [
    'one package twice',
    (d) => Object.assign(safe(d), { extensions: ['npm:p@1.0.0', 'npm:p@2.0.0'] }),
    'safe',
    'extensions[1]',
  ],
  [
    'a grant on a coding profile',
    (d) => Object.assign(d.executionProfiles.worker, { extensions: ['npm:p@1.0.0'], grantedExtensionTools: [] }),
    'worker',
    'grantedExtensionTools',
  ],
  ['a grant without extensions', (d) => Object.assign(safe(d), { extensions: [] }), 'safe', 'grantedExtensionTools'],
  [
    'a grant twice',
    (d) => Object.assign(safe(d), { grantedExtensionTools: ['x', 'y', 'x'] }),
    'safe',
    'grantedExtensionTools[2]',
  ],
  ['a skill twice', (d) => Object.assign(safe(d), { skills: ['review', 'review'] }), 'safe', 'skills[1]'],
  ['a skill of no catalogue', (d) => delete d.skillCatalog, 'safe', 'skills[0]'],
  ['a skill that is not listed', (d) => Object.assign(safe(d), { skills: ['review', 'ghost'] }), 'safe', 'skills[1]'],
  ['a skill named like a method', (d) => Object.assign(safe(d), { skills: ['constructor'] }), 'safe', 'skills[0]'],
  ['two aliases of one library skill', (d) => sameSkill(d, 'builtin:x', 'builtin:x'), 'safe', 'skills[1]'],
  ['two spellings of one path', (d) => sameSkill(d, 'a/SKILL.md', '/etc/pi/b/.././a/SKILL.md'), 'safe', 'skills[1]'],
  [
    'a library skill by its path',
    (d) => sameSkill(d, 'builtin:x', '/opt/package/skills/x/SKILL.md'),
    'safe',
    'skills[1]',
  ],
  [
    'a writing tool in read-only',
    (d) => Object.assign(search(d).tools.find, { readOnly: false }),
    'safe',
    'mcpServers.search.tools.find.readOnly',
  ],
  [
    '65 tools over two servers',
    (d) => Object.assign(safe(d), { mcpServers: { a: server(40), b: server(25) } }),
    'safe',
    'mcpServers',
  ],
  [
    'one composite name twice',
    (d) => Object.assign(safe(d), { mcpServers: { ...aliased('a_b', 'c'), ...aliased('a', 'b_c') } }),
    'safe',
    'mcpServers.a.tools.b_c',
  ],
];

describe('refuses', () => {
  test.each(RULES)('%s', (_name, change, subject, field) => {
    const failure = failureOf(load(changed(change)));
    expect(failure.code).toBe('invalid_execution_profile_config');
    expect(failure.issues[0]).toMatchObject({ subject, field });
  });
});

test('a skill that is selected twice is one issue, not one about paths', () => {
  const failure = failureOf(load(changed((d) => Object.assign(safe(d), { skills: ['review', 'review'] }))));
  expect(failure.issues).toEqual([
    { subject: 'safe', field: 'skills[1]', problem: 'selects a skill that is already selected' },
  ]);
});

test('a missing level is a missing field', () => {
  const failure = failureOf(load(changed((d) => delete safe(d).thinkingLevel)));
  expect(failure.issues).toEqual([{ subject: 'safe', field: 'thinkingLevel', problem: 'is required' }]);
});

describe('thinking levels', () => {
  test.each([['Off'], [''], [5], [null], [{}], ['constructor']])('%j has its own code', (level) => {
    const failure = failureOf(load(changed((d) => Object.assign(safe(d), { thinkingLevel: level }))));
    expect(failure.code).toBe('invalid_thinking_level');
    expect(failure.issues).toEqual([
      {
        subject: 'safe',
        field: 'thinkingLevel',
        problem: 'must be one of off, minimal, low, medium, high, xhigh, max',
      },
    ]);
  });

  test.each<readonly [string, (document: Json) => void]>([
    ['a broken field elsewhere', (d) => Object.assign(d.executionProfiles.worker, { model: '' })],
    ['a broken field in the same profile', (d) => Object.assign(safe(d), { provider: '' })],
    ['a broken workspace', (d) => Object.assign(d.workspaces, { project: '~' })],
    ['a broken rule', (d) => Object.assign(safe(d), { skills: ['ghost'] })],
    ['a missing default', (d) => Object.assign(safe(d), { default: false })],
    ['a missing level elsewhere', (d) => delete d.executionProfiles.worker.thinkingLevel],
    ['sixty other wrong levels first', (d) => manyLevels(d)],
  ])('%s outranks a wrong level', (_name, change) => {
    const document = changed((d) => {
      Object.assign(safe(d), { thinkingLevel: 'huge' });
      change(d);
    });
    expect(failureOf(load(document)).code).toBe('invalid_execution_profile_config');
  });
});
