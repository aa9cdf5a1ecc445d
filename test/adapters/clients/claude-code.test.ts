import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CommandResult } from '../../../src/ports/setup/command.ts';
import type { Inspection, IntendedEntry } from '../../../src/ports/setup/registration.ts';
import type { Target } from '../../../src/ports/setup/target.ts';
import { CLAUDE, ENTRY, exited, LOCAL, never, PROJECT, scripted } from './kit.ts';
import { CLAUDE_ABSENT, claudeShows, claudeText } from './transcripts.ts';

const TEXT = claudeText();
const replaced = (from: string, to: string): CommandResult => {
  if (!TEXT.includes(from)) throw new Error(`nothing to replace: ${from}`);
  return claudeShows(TEXT.replace(from, to));
};
const status = (...lines: string[]) => claudeShows(claudeText(ENTRY, 'user', lines));
const unknown = (rest: string) => exited(1, '', `No MCP server named "pi-session-mcp"${rest}\n`);

const looks: readonly [name: string, result: CommandResult, inspection: Inspection][] = [
  ['the intended entry', claudeShows(TEXT), 'equivalent'],
  ['one that does not start', status('Status: ✘ Failed to connect', 'Issue: CONNECTION_CLOSED: closed'), 'equivalent'],
  [
    'one that says nothing in time',
    status('Status: ✘ Failed to connect', 'Issue: timed out', 'Issue: x'),
    'equivalent',
  ],
  ['a time limit of the user', replaced('\n\nTo', '\n  Timeout: 5000ms\n\nTo'), 'equivalent'],
  ['another command', replaced('my node', 'my  node'), 'divergent'],
  ['another argument', replaced('main.js', 'main.js --x'), 'divergent'],
  ['no argument', replaced(` ${ENTRY.args[0]}`, ''), 'divergent'],
  ['another value', replaced('a=b', 'a=B'), 'divergent'],
  ['more environment', replaced('  Environment:\n', '  Environment:\n    A=1\n'), 'divergent'],
  ['no environment', replaced(/ {2}Environment:\n.*\n/.exec(TEXT)?.[0] ?? '', ''), 'divergent'],
  ['a remote server', claudeShows(remote('http')), 'divergent'],
  ['no entry', CLAUDE_ABSENT, 'absent'],
  ['no entry among others', unknown('. Configured servers: a, b'), 'absent'],
  ['no entry, after a warning', exited(1, '', `warn: x\nNo MCP server named "pi-session-mcp". Run\n`), 'absent'],
  ['no other entry', exited(1, '', 'No MCP server named "pi". Run\n'), 'unsupported'],
  ['an absence that succeeds', exited(0, '', 'No MCP server named "pi-session-mcp".'), 'unsupported'],
  ['an absence and an entry', exited(1, TEXT, 'No MCP server named "pi-session-mcp".'), 'unsupported'],
  ['a corrupt configuration', exited(1, '', 'Claude configuration file at /x is corrupted: JSON\n'), 'unsupported'],
  ['a failure that shows the entry', exited(1, TEXT), 'unsupported'],
  ['the wrong entry', replaced('pi-session-mcp:', 'other:'), 'unsupported'],
  ['colours', replaced('  Scope:', '  \u001b[1mScope:\u001b[0m'), 'unsupported'],
  ['an unknown scope', replaced('User config', 'Enterprise config'), 'unsupported'],
  ['two scopes', replaced('User config (', 'User config (managed) ('), 'unsupported'],
  ['an unknown line', replaced('  Type: stdio', '  Shell: yes\n  Type: stdio'), 'unsupported'],
  ['an unknown line at the end', replaced('\n\nTo', '\n  Directory: /\n\nTo'), 'unsupported'],
  ['a line that is missing', replaced('  Status: ✔ Connected\n', ''), 'unsupported'],
  ['lines in another order', swapped(), 'unsupported'],
  // What a server says about its failure must not pass for the entry.
  ['an entry inside an issue', status(`Status: ✘ x`, `Issue: y\n${middle('/x')}`), 'unsupported'],
  ['another scope to remove it from', replaced('-s user', '-s local'), 'unsupported'],
  ['no end', replaced('\nTo remove', ''), 'unsupported'],
  ['something after the end', claudeShows(`${TEXT}Tip: x\n`), 'unsupported'],
  ['JSON', exited(0, '{}'), 'unsupported'],
  ['nothing', exited(0), 'unsupported'],
  ['a client that is not there', { kind: 'not_found' }, 'unsupported'],
  ['a client that was killed', exited(null, TEXT), 'failed'],
  ['a client that hangs', { kind: 'timed_out' }, 'failed'],
  ['a client that floods', { kind: 'output_too_large' }, 'failed'],
  ['a client that was interrupted', { kind: 'interrupted' }, 'failed'],
  ['a client that does not go away', { kind: 'retained' }, 'failed'],
];

function middle(command: string): string {
  return `  Type: stdio\n  Command: ${command}\n  Args:\n  Environment:`;
}

function swapped(): CommandResult {
  const [first, second] = [/ {2}Command: .*\n/, / {2}Args: .*\n/].map((line) => line.exec(TEXT)?.[0] ?? '');
  return replaced(`${first}${second}`, `${second}${first}`);
}

function remote(type: string): string {
  const [head] = TEXT.split('  Type:');
  const rest = '  URL: http://127.0.0.1:1/mcp\n  Headers:\n    X: y\n';
  return `${head}  Type: ${type}\n${rest}\nTo remove this server, run: claude mcp remove pi-session-mcp -s user\n`;
}

test.each(looks)('inspects %s', async (_, result, inspection) => {
  const { client, commands } = scripted(CLAUDE, [result]);
  expect(await client.inspect(never())).toBe(inspection);
  expect(commands.map(({ file, args }) => [file, ...args].join(' '))).toEqual(['claude mcp get pi-session-mcp']);
});

const PENDING = ['Status: ⏸ Pending approval (run `claude` to approve)'];
type Shown = 'user' | 'project' | 'local';
const scopes: readonly [target: Target, shown: Shown, inspection: Inspection][] = [
  [CLAUDE, 'user', 'equivalent'],
  [CLAUDE, 'local', 'unsupported'],
  [CLAUDE, 'project', 'unsupported'],
  [PROJECT, 'project', 'equivalent'],
  [PROJECT, 'user', 'unsupported'],
  [PROJECT, 'local', 'unsupported'],
  [LOCAL, 'local', 'equivalent'],
  // Nothing hides a local entry, so there is none.
  [LOCAL, 'project', 'absent'],
  [LOCAL, 'user', 'absent'],
];

test.each(scopes)('wanted %o, shown %s', async (target, shown, inspection) => {
  const { client } = scripted(target, [claudeShows(claudeText(ENTRY, shown, PENDING))]);
  expect(await client.inspect(never())).toBe(inspection);
});

const NONE = 'No MCP servers configured. Use `claude mcp add` to add a server.\n';
const others = (text: string) => `Checking MCP server health…\n\n${text}\n`;
const lists: readonly [name: string, list: CommandResult, inspection: Inspection][] = [
  ['nothing', exited(0, NONE), 'absent'],
  ['others', exited(0, others('other: /bin/x pi-session-mcp - ⏸ Pending approval')), 'absent'],
  [
    'a malformed other entry',
    exited(0, `${NONE}\n[Has warnings] Project config\n └ [Warning] [other] skipped\n`),
    'absent',
  ],
  ['a malformed entry of ours', exited(0, `${NONE}\n └ [Warning] [pi-session-mcp] Skipped\n`), 'unsupported'],
  ['a malformed file', exited(0, `${NONE}\n[Has errors] Project config (shared via .mcp.json)\n`), 'unsupported'],
  ['what `get` has not found', exited(0, others('pi-session-mcp: /bin/x - ✔ Connected')), 'unsupported'],
  ['something else', exited(0, 'MCP servers\n'), 'unsupported'],
  ['silence', exited(0), 'unsupported'],
  ['a failure', exited(1, NONE), 'unsupported'],
  ['no end', { kind: 'timed_out' }, 'failed'],
];

test.each(lists)('an absence in a project, when the list shows %s', async (_, list, inspection) => {
  const { client, commands } = scripted(PROJECT, [CLAUDE_ABSENT, list]);
  expect(await client.inspect(never())).toBe(inspection);
  expect(commands).toHaveLength(2);
});

describe.each([CLAUDE, PROJECT, LOCAL])('mutations of %o', (target) => {
  test.each([
    [exited(0), 'ended'],
    [exited(1), 'failed'],
    [exited(null), 'failed'],
    [{ kind: 'not_found' }, 'failed'],
    [{ kind: 'timed_out' }, 'failed'],
    [{ kind: 'output_too_large' }, 'failed'],
    [{ kind: 'interrupted' }, 'failed'],
    [{ kind: 'retained' }, 'retained'],
  ] as const)('%o', async (result, mutation) => {
    const added = scripted(target, [result]);
    expect(await added.client.add(never())).toBe(mutation);
    const variable = `PI_SESSION_MCP_CONFIG=${ENTRY.env['PI_SESSION_MCP_CONFIG']}`;
    const words = ['-s', target.scope, 'pi-session-mcp', '-e', variable, '--', ENTRY.command, ...ENTRY.args];
    expect(added.commands[0]?.args).toEqual(['mcp', 'add', ...words]);
    const removed = scripted(target, [result]);
    expect(await removed.client.remove(never())).toBe(mutation);
    expect(removed.commands[0]?.args).toEqual(['mcp', 'remove', '-s', target.scope, 'pi-session-mcp']);
  });
});

const unprintable: readonly [name: string, change: Partial<IntendedEntry>][] = [
  ['a line break', { env: { A: 'x\nB=2' } }],
  ['a control character', { command: '/a\u0007' }],
  ['a line separator', { args: ['/a\u2028b'] }],
  ['a blank at the end', { env: { A: '/a ' } }],
  ['a blank at the start', { args: [' /a'] }],
  ['an empty argument', { args: ['/a', ''] }],
  // Claude Code would put another value in its place.
  ['a reference to a variable', { args: [`/a/$${'{HOME}'}`] }],
  ['a NUL', { args: ['/a\0b'] }],
];

test.each(unprintable)('starts nothing for an entry with %s', async (_, change) => {
  const { client, commands } = scripted(CLAUDE, [], { ...ENTRY, ...change });
  expect(await client.inspect(never())).toBe('unsupported');
  expect(await client.add(never())).toBe('failed');
  expect(commands).toEqual([]);
});

const text = fc.string({ unit: 'grapheme', maxLength: 6 }).map((value) => value.replaceAll('\0', ''));
/** What is asked for has a printed form; what is found there may be anything. */
const printable = text.map((value) => `/${value.replace(/[\p{C}\p{Zl}\p{Zp}]|\$\{/gu, '')}/`);
const entryOf = (part: fc.Arbitrary<string>): fc.Arbitrary<IntendedEntry> =>
  fc.record({
    command: part.map((value) => `/${value}`),
    args: fc.array(part, { maxLength: 3 }),
    env: fc.dictionary(fc.constantFrom('A', 'B', 'C_1'), part),
  });

/** The exception that docs/clients.md names: what the printed form does not hold. */
const printed = ({ command, args, env }: IntendedEntry) => {
  const blank = (value: string) => value.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ').trimEnd();
  const variables = Object.entries(env).map(([name, value]) => blank(`${name}=${value}`));
  return JSON.stringify([blank(command), blank(args.join(' ')), variables.sort()]);
};

test('takes only what prints the same for the same', async () => {
  await fc.assert(
    fc.asyncProperty(entryOf(printable), entryOf(text), async (intended, other) => {
      const same = scripted(CLAUDE, [claudeShows(claudeText(intended))], intended);
      expect(await same.client.inspect(never())).toBe('equivalent');
      const { client } = scripted(CLAUDE, [claudeShows(claudeText(other))], intended);
      expect((await client.inspect(never())) === 'equivalent').toBe(printed(intended) === printed(other));
    }),
    { numRuns: 200 },
  );
});

test('tells an entry from its near relations', async () => {
  const near = fc.constantFrom<(entry: IntendedEntry) => IntendedEntry>(
    (entry) => ({ ...entry, command: `${entry.command}x` }),
    (entry) => ({ ...entry, args: [...entry.args, 'x'] }),
    (entry) => ({ ...entry, args: [`${entry.command} `, ...entry.args] }),
    (entry) => ({ ...entry, env: { ...entry.env, D: '' } }),
    (entry) => ({ ...entry, env: { ...entry.env, A: `${entry.env['A'] ?? ''}\n    B=2` } }),
  );
  await fc.assert(
    fc.asyncProperty(entryOf(printable), near, async (intended, change) => {
      const { client } = scripted(CLAUDE, [claudeShows(claudeText(change(intended)))], intended);
      expect(await client.inspect(never())).not.toBe('equivalent');
    }),
    { numRuns: 200 },
  );
});
