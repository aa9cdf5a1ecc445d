import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CommandResult } from '../../../src/ports/setup/command.ts';
import type { Inspection, IntendedEntry } from '../../../src/ports/setup/registration.ts';
import { CODEX, ENTRY, exited, never, scripted } from './kit.ts';
import { CODEX_ABSENT, codexJson, codexShows } from './transcripts.ts';

const shown = codexJson();
const transport = shown['transport'] as Record<string, unknown>;
const started = (changes: Record<string, unknown>) => codexShows({ ...shown, transport: { ...transport, ...changes } });
const withFields = (changes: Record<string, unknown>) => codexShows({ ...shown, ...changes });
const without = (name: string) => codexShows(Object.fromEntries(Object.entries(shown).filter(([key]) => key !== name)));

const looks: readonly [name: string, result: CommandResult, inspection: Inspection][] = [
  ['the intended entry', codexShows(shown), 'equivalent'],
  ['time limits of the user', withFields({ startup_timeout_sec: 20.5, tool_timeout_sec: 3 }), 'equivalent'],
  ['a setting of a later version', withFields({ required: true }), 'equivalent'],
  ['an empty list of hidden tools', withFields({ disabled_tools: [] }), 'equivalent'],
  ['an entry that is switched off', withFields({ enabled: false }), 'divergent'],
  ['an entry that shows some tools', withFields({ enabled_tools: ['pi_turn_get'] }), 'divergent'],
  ['an entry that hides tools', withFields({ disabled_tools: ['pi_turn_get'] }), 'divergent'],
  ['another command', started({ command: '/usr/bin/node' }), 'divergent'],
  ['more arguments', started({ args: [...ENTRY.args, ''] }), 'divergent'],
  ['the argument in two', started({ args: ENTRY.args.flatMap((word) => word.split(' ')) }), 'divergent'],
  ['no environment', started({ env: null }), 'divergent'],
  ['more environment', started({ env: { ...ENTRY.env, NODE_OPTIONS: '' } }), 'divergent'],
  ['environment that is passed on', started({ env_vars: ['TOKEN'] }), 'divergent'],
  ['a directory of its own', started({ cwd: '/' }), 'divergent'],
  ['a remote server', withFields({ transport: { type: 'streamable_http', url: 'http://h' } }), 'divergent'],
  ['no entry', CODEX_ABSENT, 'absent'],
  [
    'no entry, after a warning',
    exited(1, '', `WARNING: paths\nError: No MCP server named 'pi-session-mcp' found.\n`),
    'absent',
  ],
  ['no other entry', exited(1, '', "Error: No MCP server named 'other' found.\n"), 'unsupported'],
  ['an absence that succeeds', exited(0, '', "Error: No MCP server named 'pi-session-mcp' found.\n"), 'unsupported'],
  ['an absence and an entry', exited(1, '{}', "Error: No MCP server named 'pi-session-mcp' found.\n"), 'unsupported'],
  ['a broken configuration', exited(1, '', 'Error: failed to load bootstrap configuration\n'), 'unsupported'],
  ['a failure that shows the entry', exited(1, JSON.stringify(shown)), 'unsupported'],
  ['the wrong entry', withFields({ name: 'other' }), 'unsupported'],
  ['an unknown way of starting', started({ shell: true }), 'unsupported'],
  ['a field of another type', started({ args: ENTRY.args.join(' ') }), 'unsupported'],
  ['a field that is missing', without('enabled'), 'unsupported'],
  ['one key twice', exited(0, JSON.stringify(shown).replace('{', '{"enabled":false,')), 'unsupported'],
  ['two documents', exited(0, JSON.stringify(shown).repeat(2)), 'unsupported'],
  ['nothing', exited(0), 'unsupported'],
  ['prose', exited(0, 'pi-session-mcp\n  enabled: true\n'), 'unsupported'],
  ['a client that is not there', { kind: 'not_found' }, 'unsupported'],
  ['a client that was killed', exited(null, JSON.stringify(shown)), 'failed'],
  ['a client that hangs', { kind: 'timed_out' }, 'failed'],
  ['a client that floods', { kind: 'output_too_large' }, 'failed'],
  ['a client that was interrupted', { kind: 'interrupted' }, 'failed'],
  ['a client that does not go away', { kind: 'retained' }, 'failed'],
];

test.each(looks)('inspects %s', async (_, result, inspection) => {
  const { client, commands } = scripted(CODEX, [result]);
  expect(await client.inspect(never())).toBe(inspection);
  expect(commands.map(({ file, args }) => [file, ...args].join(' '))).toEqual([
    'codex -c project_root_markers=[] mcp get pi-session-mcp --json',
  ]);
});

const additions: readonly [name: string, results: readonly CommandResult[], mutation: string][] = [
  ['ends', [CODEX_ABSENT, exited(0)], 'ended'],
  ['fails', [CODEX_ABSENT, exited(1)], 'failed'],
  ['is killed', [CODEX_ABSENT, exited(null)], 'failed'],
  ['is retained', [CODEX_ABSENT, { kind: 'retained' }], 'retained'],
  ['would replace its equal', [codexShows(shown)], 'failed'],
  ['would replace another one', [withFields({ enabled: false })], 'failed'],
  ['cannot tell what it would replace', [exited(0)], 'failed'],
  ['cannot even look', [{ kind: 'retained' }], 'retained'],
];

test.each(additions)('an addition that %s', async (_, results, mutation) => {
  const { client, commands } = scripted(CODEX, results);
  expect(await client.add(never())).toBe(mutation);
  expect(commands).toHaveLength(results.length);
  if (results.length === 2) {
    const variable = `PI_SESSION_MCP_CONFIG=${ENTRY.env['PI_SESSION_MCP_CONFIG']}`;
    const added = ['mcp', 'add', 'pi-session-mcp', '--env', variable, '--', ENTRY.command, ...ENTRY.args];
    expect(commands[1]?.args.slice(2)).toEqual(added);
  }
});

test('removes by name alone', async () => {
  const { client, commands } = scripted(CODEX, [exited(0)]);
  expect(await client.remove(never())).toBe('ended');
  expect(commands[0]?.args.slice(2)).toEqual(['mcp', 'remove', 'pi-session-mcp']);
});

test('knows no scope but the user', async () => {
  const { client, commands } = scripted({ client: 'codex', scope: 'project' }, []);
  expect([await client.inspect(never()), await client.add(never()), await client.remove(never())]).toEqual([
    'unsupported',
    'failed',
    'failed',
  ]);
  expect(commands).toEqual([]);
});

const unpassable: readonly [name: string, change: Partial<IntendedEntry>][] = [
  ['a NUL', { args: ['/a\0b'] }],
  ['half a character', { command: '/a\ud800' }],
  ['no command', { command: '' }],
  ['a variable without a proper name', { env: { 'A=B': 'c' } }],
];

test.each(unpassable)('starts nothing for an entry with %s', async (_, change) => {
  const { client, commands } = scripted(CODEX, [], { ...ENTRY, ...change });
  expect(await client.inspect(never())).toBe('unsupported');
  expect(await client.add(never())).toBe('failed');
  expect(commands).toEqual([]);
});

test('starts nothing once interrupted', async () => {
  const { client, commands } = scripted(CODEX, []);
  const signal = AbortSignal.abort();
  expect([await client.inspect(signal), await client.add(signal), await client.remove(signal)]).toEqual([
    'failed',
    'failed',
    'failed',
  ]);
  expect(commands).toEqual([]);
});

const text = fc.string({ unit: 'grapheme', maxLength: 6 }).map((value) => value.replaceAll('\0', ''));
const entries: fc.Arbitrary<IntendedEntry> = fc.record({
  command: text.map((value) => `/${value}`),
  args: fc.array(text, { maxLength: 3 }),
  env: fc.dictionary(fc.constantFrom('A', 'B', 'C_1'), text),
});

test('takes exactly the same entry for the same', async () => {
  await fc.assert(
    fc.asyncProperty(entries, entries, async (intended, other) => {
      const same = scripted(CODEX, [codexShows(codexJson(intended))], intended);
      expect(await same.client.inspect(never())).toBe('equivalent');
      const { client } = scripted(CODEX, [codexShows(codexJson(other))], intended);
      const key = ({ command, args, env }: IntendedEntry) =>
        JSON.stringify([command, args, Object.entries(env).sort()]);
      expect((await client.inspect(never())) === 'equivalent').toBe(key(intended) === key(other));
    }),
    { numRuns: 300 },
  );
});
