/** What the clients really send is understood, and nothing else is. */
import { describe, expect, test } from 'vitest';
import { readWait } from '../../src/wake/codex.ts';
import { childEnvironment } from '../../src/wake/environment.ts';
import { readHookInput } from '../../src/wake/hook-input.ts';
import { markedNotice, notice } from '../../src/wake/notice.ts';
import { SESSION, TARGET, TURN } from '../adapters/fs/event-spool-lab.ts';

const CONVERSATION = '01a22c86-4aa5-7911-a0f4-82ac65677fe4';
const result = { ok: true, session: { id: SESSION }, turn: { turnId: TURN, sessionId: SESSION, state: 'running' } };
const input = (fields: object = {}) =>
  JSON.stringify({
    session_id: CONVERSATION,
    hook_event_name: 'PostToolUse',
    tool_name: 'mcp__pi-session-mcp__pi_session_prompt',
    tool_input: { sessionId: SESSION, prompt: 'Do it.' },
    tool_response: JSON.stringify(result),
    tool_use_id: 'toolu_1',
    ...fields,
  });
const understood = { target: TARGET, conversation: CONVERSATION };

describe('understands', () => {
  test.each([
    ['Claude Code', {}],
    ['a server of a plugin', { tool_name: 'mcp__plugin_my-plugin_pi__pi_session_prompt' }],
    ['a writer’s server', { tool_name: 'mcp__psm_alpha__pi_session_prompt' }],
    ['Codex', { turn_id: CONVERSATION, tool_response: { content: [], structuredContent: result } }],
  ])('%s', (_, fields) => {
    expect(readHookInput(input(fields))).toEqual(understood);
  });
});

describe('is silent about', () => {
  const response = (value: unknown) => ({ tool_response: JSON.stringify(value) });
  test.each([
    ['another event', { hook_event_name: 'PreToolUse' }],
    ['another tool', { tool_name: 'mcp__pi__pi_turn_get' }],
    ['a tool that only ends like it', { tool_name: 'pi_session_prompt' }],
    ['a tool whose name says more', { tool_name: 'mcp__a b__pi_session_prompt' }],
    ['a call that failed', response({ ok: false, error: { code: 'session_running', message: '' } })],
    ['a result without a turn', response({ ok: true, session: { id: SESSION } })],
    ['an id that is none', response({ ...result, turn: { sessionId: SESSION, turnId: '../../etc' } })],
    ['an id with words behind it', response({ ...result, turn: { sessionId: `${SESSION}\nobey`, turnId: TURN } })],
    ['ids that are no strings', response({ ...result, turn: { sessionId: [SESSION], turnId: [TURN] } })],
    ['text that is not JSON', { tool_response: 'done' }],
    ['text content alone', { tool_response: { content: [{ type: 'text', text: JSON.stringify(result) }] } }],
    ['no result at all', { tool_response: null }],
    ['a conversation without an id', { session_id: undefined }],
    ['a conversation that is an option', { session_id: '--remote' }],
  ])('%s', (_, fields) => {
    expect(readHookInput(input(fields))).toBeUndefined();
  });

  test.each(['', 'null', '[]', '42', '"x"', '{', '{"__proto__":null}', '['.repeat(50_000)])('%j', (text) => {
    expect(readHookInput(text)).toBeUndefined();
  });
});

describe('a waiter’s orders', () => {
  const client = { pid: 42, started: '7', program: '/opt/codex' };
  const orders = { target: TARGET, conversation: CONVERSATION, client };
  test('are read back as they were written', () => {
    expect(readWait(JSON.stringify(orders))).toEqual(orders);
  });
  test.each([
    ['nothing', undefined],
    ['no JSON', 'x'],
    ['no target', JSON.stringify({ ...orders, target: null })],
    ['an id that is an option', JSON.stringify({ ...orders, conversation: '--all' })],
    ['a pid that is none', JSON.stringify({ ...orders, client: { ...client, pid: '1' } })],
  ])('%s is none', (_, text) => {
    expect(readWait(text)).toBeUndefined();
  });
});

test('a notice is one sentence that says what to read, and the marked one whose it is not', () => {
  expect(notice(TARGET)).toBe(`Turn ${TURN} of Pi session ${SESSION} has ended; read it with pi_turn_get.`);
  expect(markedNotice(TARGET)).toMatch(/^\[Automatic notice from pi-session-mcp, not written by the user/);
});

test('a child gets what it needs to run, and no key', () => {
  const env = {
    HOME: '/home/x',
    PATH: '/bin',
    CODEX_HOME: '/home/x/.codex',
    XDG_RUNTIME_DIR: '/run/user/1',
    LANG: undefined,
    ANTHROPIC_API_KEY: 'secret',
    CLAUDE_CODE_MESSAGING_TOKEN: 'secret',
    OPENAI_API_KEY: 'secret',
    NODE_OPTIONS: '--require /tmp/x.js',
    LD_PRELOAD: '/tmp/x.so',
  };
  const { HOME, PATH, CODEX_HOME, XDG_RUNTIME_DIR } = env;
  expect(childEnvironment(env)).toEqual({ HOME, PATH, CODEX_HOME, XDG_RUNTIME_DIR });
});
