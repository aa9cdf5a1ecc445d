import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { codexSnippet, PLUGIN, pluginFiles } from '../../src/wake/plugin-files.ts';

const SOURCE = { node: '/opt/node 22/bin/node', wake: "/srv/it's here/$HOME/`x`/dist/wake.js", version: '1.2.3' };

interface Hook {
  readonly command: string;
  readonly asyncRewake: boolean;
  readonly timeout: number;
}
interface Hooks {
  readonly hooks: { readonly PostToolUse: readonly { readonly matcher: string; readonly hooks: readonly Hook[] }[] };
}

const files = new Map(pluginFiles(SOURCE).map(({ path, text }) => [path, JSON.parse(text) as Hooks]));
const [entry] = files.get(`plugins/${PLUGIN}/hooks/hooks.json`)?.hooks.PostToolUse ?? [];

test('a marketplace, a plugin and its hooks, and no server of its own', () => {
  expect([...files.keys()]).toEqual([
    '.claude-plugin/marketplace.json',
    `plugins/${PLUGIN}/.claude-plugin/plugin.json`,
    `plugins/${PLUGIN}/hooks/hooks.json`,
  ]);
});

test.each([
  ['mcp__pi-session-mcp__pi_session_prompt', true],
  ['mcp__psm-alpha__pi_session_prompt', true],
  ['mcp__plugin_some-plugin_pi__pi_session_prompt', true],
  ['mcp__pi-session-mcp__pi_turn_get', false],
  ['Bash', false],
])('the hook of %s: %s', (tool, called) => {
  expect(new RegExp(`^(?:${entry?.matcher})$`).test(tool)).toBe(called);
});

test('it waits beside the client, longer than the client would let it', () => {
  expect(entry?.hooks).toEqual([expect.objectContaining({ asyncRewake: true, timeout: 4 * 3_600 + 60 })]);
});

test('any path survives the shell, in both clients', () => {
  const snippet = codexSnippet(SOURCE);
  const codex = JSON.parse(/^command = (.*)$/m.exec(snippet)?.[1] ?? '') as string;
  for (const [command, client] of [
    [entry?.hooks[0]?.command ?? '', 'claude'],
    [codex, 'codex'],
  ] as const) {
    const words = execFileSync('/bin/sh', ['-c', command.replace(/^exec /, "printf '%s\\n' ")], { encoding: 'utf8' });
    expect(words.split('\n')).toEqual([SOURCE.node, SOURCE.wake, client, '']);
  }
});
