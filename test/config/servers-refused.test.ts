/** Each field below `mcpServers` on the wrong side of its limit. */
import { describe, expect, test } from 'vitest';
import { path, type Refusal, safe, search, server, tool } from './builders.ts';
import { changed, entries, failureOf, load } from './kit.ts';

const SERVER: readonly Refusal[] = [
  ...(
    [
      ['command', undefined, 'search', './x', '~/x', '', '/a\0', path(4097), 1],
      ['args', null, 'x', Array(129).fill('a')],
      ['envFrom', null, [], entries(65, () => 'X', 'A')],
      ['envFrom', { a: 'A' }, { '1A': 'A' }, { 'A-B': 'A' }, { [`A${'B'.repeat(128)}`]: 'A' }, { '': 'A' }],
      ['envFrom', { A: 'a' }, { A: '' }, { A: `A${'B'.repeat(128)}` }, { A: 1 }, { A: '$A' }],
      ['tools', undefined, null, {}, [], entries(65, () => tool)],
      ['tools', { A: tool }, { ['a'.repeat(25)]: tool }, { '': tool }, { '0a': tool }],
    ] as const
  ).flatMap(([field, ...values]) =>
    values.map(
      (value): Refusal => [
        `${field} ${JSON.stringify(value)?.slice(0, 30)}`,
        (d) => Object.assign(search(d), { [field]: value }),
        'safe',
        `mcpServers.search.${field}`,
      ],
    ),
  ),
  [
    'a too long argument',
    (d) => Object.assign(search(d), { args: ['a', 'a'.repeat(4097)] }),
    'safe',
    'mcpServers.search.args[1]',
  ],
  ['an argument with NUL', (d) => Object.assign(search(d), { args: ['a\0'] }), 'safe', 'mcpServers.search.args[0]'],
  ['an unknown server field', (d) => Object.assign(search(d), { cwd: '/x' }), 'safe', 'mcpServers.search'],
  ...['A', 'a'.repeat(25), '', '0a', 'a.b'].map(
    (alias): Refusal => [
      `server alias ${alias}`,
      (d) => Object.assign(safe(d), { mcpServers: { [alias]: server() } }),
      'safe',
      'mcpServers',
    ],
  ),
  ...([{ name: '', readOnly: true }, { name: 'n'.repeat(257), readOnly: true }, { readOnly: true }] as const).map(
    (value): Refusal => [
      `tool ${JSON.stringify(value).slice(0, 30)}`,
      (d) => Object.assign(search(d), { tools: { find: value } }),
      'safe',
      'mcpServers.search.tools.find.name',
    ],
  ),
  ...([{ name: 'n' }, { name: 'n', readOnly: 'true' }, { name: 'n', readOnly: null }] as const).map(
    (value): Refusal => [
      `tool ${JSON.stringify(value)}`,
      (d) => Object.assign(search(d), { tools: { find: value } }),
      'safe',
      'mcpServers.search.tools.find.readOnly',
    ],
  ),
  [
    'an unknown tool field',
    (d) => Object.assign(search(d), { tools: { find: { ...tool, x: 1 } } }),
    'safe',
    'mcpServers.search.tools.find',
  ],
  [
    'a field of a server called tools',
    (d) => Object.assign(safe(d), { mcpServers: { tools: { ...server(), envFrom: null } } }),
    'safe',
    'mcpServers.tools.envFrom',
  ],
  [
    'fields and aliases of one name',
    (d) =>
      Object.assign(safe(d), {
        mcpServers: { tools: { command: '/x', tools: { args: { name: 1, readOnly: true } } } },
      }),
    'safe',
    'mcpServers.tools.tools.args.name',
  ],
];

describe('refuses', () => {
  test.each(SERVER)('%s', (_name, change, subject, field) => {
    const failure = failureOf(load(changed(change)));
    expect(failure.code).toBe('invalid_execution_profile_config');
    expect(failure.issues[0]).toMatchObject({ subject, field });
  });
});
