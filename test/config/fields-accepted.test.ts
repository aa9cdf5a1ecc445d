/** Each field of section 2 on the right side of its limit. */
import { describe, expect, test } from 'vitest';
import { aliased, bare, manySkills, path, safe, search, server, skillPath, tool, worker } from './builders.ts';
import { changed, entries, type Json, load, repeat } from './kit.ts';

const ACCEPTED: readonly (readonly [string, (document: Json) => void])[] = [
  ['no optional field', (d) => Object.assign(d, { skillCatalog: undefined, executionProfiles: { safe: bare() } })],
  ['empty optional lists', (d) => Object.assign(d.executionProfiles.worker, { extensions: [], skills: [] })],
  ['no workspace', (d) => Object.assign(d, { workspaces: {} })],
  ['an alias of 64', (d) => Object.assign(d.workspaces, { [`a${'b'.repeat(63)}`]: '/x' })],
  ['an alias with every kind of character', (d) => Object.assign(d.workspaces, { 'a0_-z': '/x' })],
  ['a profile alias of 64', (d) => Object.assign(d.executionProfiles, { [`a${'b'.repeat(63)}`]: worker() })],
  ['a workspace of odd characters', (d) => Object.assign(d.workspaces, { project: '/srv/a b*[é]' })],
  [
    '64 catalogue entries',
    (d) =>
      Object.assign(
        d.skillCatalog,
        entries(62, () => '/x/SKILL.md'),
      ),
  ],
  ['a catalogue path of 4096', (d) => Object.assign(d.skillCatalog, { notes: skillPath(4096) })],
  ['a library name of 64', (d) => Object.assign(d.skillCatalog, { notes: `builtin:${'a'.repeat(64)}` })],
  ['a bare SKILL.md', (d) => Object.assign(d.skillCatalog, { notes: 'SKILL.md' })],
  ['a colon inside a path', (d) => Object.assign(d.skillCatalog, { notes: './a:b/SKILL.md' })],
  ['a provider of 256', (d) => Object.assign(safe(d), { provider: 'p'.repeat(256) })],
  ['a model of 256 after trimming', (d) => Object.assign(safe(d), { model: ` ${'m'.repeat(256)}\n` })],
  ...['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map(
    (level) => [`level ${level}`, (d: Json) => Object.assign(safe(d), { thinkingLevel: level })] as const,
  ),
  ['8 extensions', (d) => Object.assign(safe(d), { extensions: repeat(8, (i) => `npm:p${i}@1.0.0`) })],
  ['a scoped extension', (d) => Object.assign(safe(d), { extensions: ['npm:@a/b.c_d-e@0.0.0'] })],
  ['a prerelease', (d) => Object.assign(safe(d), { extensions: ['npm:p@1.0.0-rc.1.0a.-x'] })],
  ['an extension name of 214', (d) => Object.assign(safe(d), { extensions: [`npm:${'p'.repeat(214)}@1.0.0`] })],
  ['32 extension tools', (d) => Object.assign(safe(d), { grantedExtensionTools: repeat(32, (i) => `t${i}`) })],
  ['an extension tool of 64', (d) => Object.assign(safe(d), { grantedExtensionTools: ['A'.repeat(64)] })],
  [
    'tool names near the reserved ones',
    (d) => Object.assign(safe(d), { grantedExtensionTools: ['mcp_x', '_-', 'Read'] }),
  ],
  [
    'thirty profiles with lists',
    (d) =>
      Object.assign(
        d.executionProfiles,
        entries(30, () => ({ ...d.executionProfiles.worker, skills: ['notes'] })),
      ),
  ],
  ['16 skills', (d) => manySkills(d, 16)],
  ['8 servers', (d) => Object.assign(safe(d), { mcpServers: entries(8, () => server()) })],
  [
    'server and tool aliases of 24',
    (d) => Object.assign(safe(d), { mcpServers: aliased('s'.repeat(24), 't'.repeat(24)) }),
  ],
  ['a command of 4096', (d) => Object.assign(search(d), { command: path(4096) })],
  [
    '128 arguments, one of 4096, one empty',
    (d) => Object.assign(search(d), { args: [...Array(126).fill('a'), '', 'a'.repeat(4096)] }),
  ],
  ['64 variables', (d) => Object.assign(search(d), { envFrom: entries(64, () => 'X', 'A') })],
  [
    'variable names of 128',
    (d) => Object.assign(search(d), { envFrom: { [`_${'A'.repeat(127)}`]: `B${'_'.repeat(127)}` } }),
  ],
  ['a server without args and envFrom', (d) => Object.assign(search(d), { args: undefined, envFrom: undefined })],
  ['64 tools on one server', (d) => Object.assign(search(d), { tools: entries(64, () => tool) })],
  ['64 tools over two servers', (d) => Object.assign(safe(d), { mcpServers: { a: server(40), b: server(24) } })],
  [
    'a tool name of 256',
    (d) => Object.assign(search(d), { tools: { find: { name: 'n'.repeat(256), readOnly: true } } }),
  ],
  [
    'a writing tool for coding',
    (d) => Object.assign(d.executionProfiles.worker, { mcpServers: { a: server(1, false) } }),
  ],
  [
    'composite names that only look alike',
    (d) => Object.assign(safe(d), { mcpServers: { ...aliased('a_b', 'c'), ...aliased('a', 'b-c') } }),
  ],
];

describe('accepts', () => {
  test.each(ACCEPTED)('%s', (_name, change) => {
    expect(load(changed(change))).toMatchObject({ ok: true });
  });
});
