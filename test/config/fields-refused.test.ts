/** Each field of section 2 on the wrong side of its limit; servers have a file of their own. */
import { describe, expect, test } from 'vitest';
import { type Refusal, safe, server, skillPath, worker } from './builders.ts';
import { changed, entries, failureOf, load, repeat } from './kit.ts';

const TOP: readonly Refusal[] = [
  ['an unknown section', (d) => Object.assign(d, { extra: 1 }), 'configuration', 'document'],
  ['no workspaces section', (d) => delete d.workspaces, 'configuration', 'workspaces'],
  ['workspaces as a list', (d) => Object.assign(d, { workspaces: ['/x'] }), 'configuration', 'workspaces'],
  ['no profiles section', (d) => delete d.executionProfiles, 'configuration', 'executionProfiles'],
  ['no profile', (d) => Object.assign(d, { executionProfiles: {} }), 'configuration', 'executionProfiles'],
  ['a null catalogue', (d) => Object.assign(d, { skillCatalog: null }), 'configuration', 'skillCatalog'],
  [
    '65 catalogue entries',
    (d) =>
      Object.assign(
        d.skillCatalog,
        entries(63, () => '/x/SKILL.md'),
      ),
    'configuration',
    'skillCatalog',
  ],
  ...['', 'A', 'aB', '0a', '-a', '_a', 'a.b', 'a b', 'é', `a${'b'.repeat(64)}`, 'a\n'].flatMap((alias): Refusal[] => [
    [
      `workspace ${JSON.stringify(alias)}`,
      (d) => Object.assign(d.workspaces, { [alias]: '/x' }),
      'configuration',
      'workspaces',
    ],
    [
      `profile ${JSON.stringify(alias)}`,
      (d) => Object.assign(d.executionProfiles, { [alias]: worker() }),
      'configuration',
      'executionProfiles',
    ],
    [
      `skill ${JSON.stringify(alias)}`,
      (d) => Object.assign(d.skillCatalog, { [alias]: '/x/SKILL.md' }),
      'configuration',
      'skillCatalog',
    ],
  ]),
  ...['', '~', '~/x', '/a/~/b', '/a~b', '/a\0b', 7, null, ['/x'], {}].map(
    (value): Refusal => [
      `workspace at ${JSON.stringify(value)}`,
      (d) => Object.assign(d.workspaces, { project: value }),
      'project',
      'workspaces',
    ],
  ),
];

const CATALOG: readonly Refusal[] = [
  ...['', '/x', '/x/', '/x/SKILL.md/', '/x/skill.md', 'xSKILL.md', '/x/SKILL.md.txt', skillPath(4097)],
  ...['builtin:', 'builtin:A', 'builtin:a--b', 'builtin:-a', 'builtin:a-', 'builtin:a_b', 'builtin:a/SKILL.md'],
  ...['builtin:../x', `builtin:${'a'.repeat(65)}`, 'builtin:a b', 'Builtin:a', ' builtin:a', 'builtin:a\n'],
  ...['https://x/SKILL.md', 'file:///x/SKILL.md', 'npm:p/SKILL.md', 'git+ssh:x/SKILL.md', 'C:/x/SKILL.md'],
  ...['git@host:x/SKILL.md', ':/SKILL.md', '~/SKILL.md', '/a~b/SKILL.md', '/a\\b/SKILL.md', '/a\0/SKILL.md'],
  ...['/*/SKILL.md', '/**/SKILL.md', '/a?/SKILL.md', '/[a]/SKILL.md', '/{a,b}/SKILL.md', 7, null, [], { path: '/x' }],
].map(
  (value): Refusal => [
    `catalogue value ${JSON.stringify(value).slice(0, 40)}`,
    (d) => Object.assign(d.skillCatalog, { review: value }),
    'review',
    'skillCatalog',
  ],
);

const PROFILE: readonly Refusal[] = [
  ...(
    [
      ['default', undefined, null, 'true', 1],
      ['permissionProfile', undefined, null, 'readonly', 'Coding', ''],
      ['provider', undefined, null, '', '  ', 'p'.repeat(257), 5],
      ['model', undefined, null, '', '\t\n', 'm'.repeat(257), ['m']],
      ['thinkingLevel', undefined],
      ['extensions', null, 'npm:p@1.0.0', {}, repeat(9, (i) => `npm:p${i}@1.0.0`)],
      ['grantedExtensionTools', null, 'x', {}, repeat(33, (i) => `t${i}`)],
      ['skills', null, 'review', {}, repeat(17, (i) => `s${i}`)],
      ['mcpServers', null, [], 'x', entries(9, () => server())],
    ] as const
  ).flatMap(([field, ...values]) =>
    values.map(
      (value): Refusal => [
        `${field} ${JSON.stringify(value)?.slice(0, 30)}`,
        (d) => Object.assign(safe(d), { [field]: value }),
        'safe',
        field,
      ],
    ),
  ),
  ['an unknown profile field', (d) => Object.assign(safe(d), { extra: 1 }), 'safe', 'executionProfiles'],
  [
    'a profile that is no object',
    (d) => Object.assign(d.executionProfiles, { worker: 'x' }),
    'worker',
    'executionProfiles',
  ],
  ...[
    'p@1.0.0',
    'npm:p',
    'npm:p@',
    'npm:@1.0.0',
    'npm:p@latest',
    'npm:p@^1.0.0',
    'npm:p@~1.0.0',
    'npm:p@1',
    'npm:p@1.0',
    'npm:p@1.x.0',
  ]
    .concat([
      'npm:p@v1.0.0',
      'npm:p@01.0.0',
      'npm:p@1.0.0-01',
      'npm:p@1.0.0-',
      'npm:p@1.0.0+b',
      'npm:p@1.0.0 ',
      'npm:P@1.0.0',
      'npm:.p@1.0.0',
    ])
    .concat([
      'npm:../p@1.0.0',
      'npm:a/b@1.0.0',
      'npm:@a/b/c@1.0.0',
      'npm:@/b@1.0.0',
      'npm:p@>=1.0.0',
      'npm:p@1.0.0 || 2.0.0',
      'git:x@1.0.0',
    ])
    .concat([
      './p@1.0.0',
      'npm:p@npm:q@1.0.0',
      `npm:${'p'.repeat(215)}@1.0.0`,
      `npm:p@1.0.0-${'a'.repeat(251)}`,
      '',
      'NPM:p@1.0.0',
    ])
    .map(
      (spec): Refusal => [
        `extension ${spec.slice(0, 30)}`,
        (d) => Object.assign(safe(d), { extensions: [spec] }),
        'safe',
        'extensions[0]',
      ],
    ),
  ...[
    '',
    'A'.repeat(65),
    '-a',
    'a.b',
    'a b',
    'é',
    'a\n',
    'mcp__x',
    'mcp__',
    'list_mcp_resources',
    'list_mcp_resource_templates',
    'read_mcp_resource',
  ]
    .concat(['read', 'bash', 'edit', 'write', 'grep', 'find', 'ls'])
    .map(
      (name): Refusal => [
        `extension tool ${name.slice(0, 30)}`,
        (d) => Object.assign(safe(d), { grantedExtensionTools: ['x', name] }),
        'safe',
        'grantedExtensionTools[1]',
      ],
    ),
];

describe('refuses', () => {
  test.each([...TOP, ...CATALOG, ...PROFILE])('%s', (_name, change, subject, field) => {
    const failure = failureOf(load(changed(change)));
    expect(failure.code).toBe('invalid_execution_profile_config');
    expect(failure.issues[0]).toMatchObject({ subject, field });
  });

  test.each(['"x"', '[]', 'null', '7', '""'])('%s as the whole document', (text) => {
    expect(failureOf(load(text))).toMatchObject({
      code: 'invalid_execution_profile_config',
      issues: [{ subject: 'configuration', field: 'document' }],
    });
  });
});
