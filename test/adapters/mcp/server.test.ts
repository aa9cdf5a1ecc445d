import { describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { MESSAGES } from '../../../src/adapters/mcp/messages.ts';
import { capabilitiesView, sessionView, turnView } from '../../../src/adapters/mcp/projection.ts';
import { TOOLS, type ToolName } from '../../../src/adapters/mcp/tools.ts';
import type { ErrorCode } from '../../../src/ports/error-code.ts';
import type { PromptReply, SessionReply, SessionService } from '../../../src/ports/session-service.ts';
import {
  accepts,
  COMPLETED,
  CONFIGURATION,
  call,
  fakeService,
  SECRET,
  SESSION,
  startClient,
  startRaw,
  TURN,
} from './harness.ts';

const ids = { sessionId: SESSION.id };
const session = sessionView(SESSION);

/** Per tool: arguments, what the service must be asked, what must come back. */
const CASES: Record<ToolName, { args: object; asked: unknown[]; payload: object }> = {
  pi_capabilities_get: { args: {}, asked: [], payload: capabilitiesView(CONFIGURATION) },
  pi_session_start: {
    args: { workspace: 'app', executionProfile: 'review' },
    asked: [{ method: 'start', args: [{ workspace: 'app', executionProfile: 'review' }] }],
    payload: { session },
  },
  pi_session_list: { args: {}, asked: [{ method: 'list', args: [] }], payload: { sessions: [session] } },
  pi_session_get: { args: ids, asked: [{ method: 'get', args: [SESSION.id] }], payload: { session } },
  pi_session_prompt: {
    args: { ...ids, prompt: 'look' },
    asked: [{ method: 'prompt', args: [{ ...ids, prompt: 'look' }] }],
    payload: { session: { ...session, state: 'running' }, turn: turnView(TURN) },
  },
  pi_turn_get: {
    args: { ...ids, turnId: TURN.turnId },
    asked: [{ method: 'turn', args: [SESSION.id, TURN.turnId] }],
    payload: { turn: turnView(COMPLETED) },
  },
  pi_session_abort: { args: ids, asked: [{ method: 'abort', args: [ids] }], payload: { session } },
  pi_session_close: {
    args: ids,
    asked: [{ method: 'close', args: [ids] }],
    payload: { session: { ...session, state: 'closed' } },
  },
};

const outputs = new Map(TOOLS.map((tool) => [tool.name, accepts(tool.outputSchema)]));
const names = Object.keys(CASES) as ToolName[];

function failing(code: string): Partial<SessionService> {
  const failure = { ok: false, code: code as ErrorCode } as const;
  const late = async () => failure;
  return { start: late, prompt: late, abort: late, close: late, get: () => failure, turn: () => failure };
}

function onlyText(result: object): unknown {
  const blocks = (result as { content?: unknown }).content as { type: string; text: string }[];
  expect(blocks).toHaveLength(1);
  expect(blocks[0]?.type).toBe('text');
  return JSON.parse(blocks[0]?.text ?? '');
}

describe('the official client', () => {
  it('negotiates, and reads name, version, instructions and the eight tools', async () => {
    const client = await startClient();
    expect(client.getServerVersion()).toEqual({ name: 'pi-session-mcp', version: manifest.version });
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
    expect(client.getInstructions()).toContain('pi_turn_get');
    expect((await client.listTools()).tools).toEqual(JSON.parse(JSON.stringify(TOOLS)));
  });

  it.each(names)('%s: asks the service and returns one object in both forms', async (name) => {
    const service = fakeService();
    const client = await startClient(service);
    await client.listTools();
    const result = await client.callTool({ name, arguments: { ...CASES[name].args } });
    const expected = { ok: true, ...CASES[name].payload };
    expect(result.structuredContent).toEqual(expected);
    expect(onlyText(result)).toEqual(expected);
    expect(result.isError).toBeUndefined();
    expect(service.calls).toEqual(CASES[name].asked);
    expect(outputs.get(name)?.(result.structuredContent)).toBe(true);
  });

  it('accepts every state of a session and of a turn', async () => {
    const states = ['idle', 'running', 'failed', 'closing', 'closed'] as const;
    const turns = ['running', 'completed', 'failed', 'aborted'] as const;
    let session = SESSION;
    let turn = TURN;
    const client = await startClient(
      fakeService({ get: () => ({ ok: true, session }), turn: () => ({ ok: true, turn }) }),
    );
    await client.listTools();
    for (const state of states) {
      session = { ...SESSION, state, lastTurnFailed: state === 'failed' };
      const result = await client.callTool({ name: 'pi_session_get', arguments: { ...ids } });
      expect(result.structuredContent).toEqual({ ok: true, session: sessionView(session) });
    }
    for (const state of turns) {
      turn = { ...COMPLETED, state };
      const result = await client.callTool({ name: 'pi_turn_get', arguments: { ...ids, turnId: TURN.turnId } });
      expect(result.structuredContent).toEqual({ ok: true, turn: turnView(turn) });
    }
  });

  it('leaves the profile to the service when none is named', async () => {
    const service = fakeService();
    const client = await startClient(service);
    await client.callTool({ name: 'pi_session_start', arguments: { workspace: 'app' } });
    expect(service.calls).toEqual([{ method: 'start', args: [{ workspace: 'app' }] }]);
  });

  it('closes a session whose start was cancelled, since nobody will learn its id', async () => {
    const started = Promise.withResolvers<SessionReply>();
    const service = fakeService({ start: () => started.promise });
    const client = await startClient(service);
    const cancel = new AbortController();
    const request = { name: 'pi_session_start', arguments: { workspace: 'app' } };
    const call = client.callTool(request, undefined, { signal: cancel.signal });
    const refused = expect(call).rejects.toThrow();
    await client.ping();
    cancel.abort();
    await refused;
    await client.ping();
    started.resolve({ ok: true, session: SESSION });
    await client.ping();
    expect(service.calls.map(({ method }) => method)).toEqual(['start', 'close']);
  });

  it('aborts a turn whose prompt was cancelled, since nobody will learn its id', async () => {
    const prompted = Promise.withResolvers<PromptReply>();
    const service = fakeService({ prompt: () => prompted.promise });
    const client = await startClient(service);
    const cancel = new AbortController();
    const request = { name: 'pi_session_prompt', arguments: { ...ids, prompt: 'go' } };
    const refused = expect(client.callTool(request, undefined, { signal: cancel.signal })).rejects.toThrow();
    await client.ping();
    cancel.abort();
    await refused;
    await client.ping();
    prompted.resolve({ ok: true, session: { ...SESSION, state: 'running' }, turn: TURN });
    await client.ping();
    expect(service.calls.map(({ method }) => method)).toEqual(['prompt', 'abort']);
  });

  it('is told at once when a call has more fields than any tool takes', async () => {
    const client = await startClient(fakeService());
    const fields = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`field${index}`, 1]));
    const result = await client.callTool({ name: 'pi_session_get', arguments: fields });
    expect(result.structuredContent).toMatchObject({ error: { message: 'Invalid arguments: too many fields.' } });
  });

  it.each(Object.keys(MESSAGES) as ErrorCode[])('gets %s as a result, the same in both forms', async (code) => {
    const client = await startClient(fakeService(failing(code)));
    await client.listTools();
    for (const name of names) {
      if (name === 'pi_capabilities_get' || name === 'pi_session_list') continue;
      const result = await client.callTool({ name, arguments: { ...CASES[name].args } });
      expect(result.isError).toBe(true);
      expect(result.structuredContent).toEqual({ ok: false, error: { code, message: MESSAGES[code] } });
      expect(onlyText(result)).toEqual(result.structuredContent);
      expect(outputs.get(name)?.(result.structuredContent)).toBe(true);
    }
  });
});

describe('a defect of ours', () => {
  const boom = () => {
    throw new Error(SECRET);
  };
  it.each([
    ['a method that throws', { get: boom }],
    ['a reply without a record', { get: () => ({ ok: true }) as never }],
    ['a time that is none', { get: () => ({ ok: true, session: { ...SESSION, createdAt: Number.NaN } }) as never }],
    ['an undeclared code', { get: () => ({ ok: false, code: SECRET }) as never }],
    ['a code that every object has', { get: () => ({ ok: false, code: 'constructor' }) as never }],
  ])('%s is internal_error and stays unnamed', async (_, replies) => {
    const server = await startRaw(fakeService(replies));
    const [frame] = await server.exchange(call('pi_session_get', ids));
    expect(frame?.['result'].structuredContent).toEqual({
      ok: false,
      error: { code: 'internal_error', message: MESSAGES.internal_error },
    });
    expect(server.diagnostics.reports).toEqual([
      { level: 'error', event: 'tool_call_defect', fields: { tool: 'pi_session_get' } },
    ]);
    expect(server.text()).not.toContain(SECRET);
  });

  it('also when a method rejects', async () => {
    const server = await startRaw(fakeService({ close: () => Promise.reject(new Error(SECRET)) }));
    const [frame] = await server.exchange(call('pi_session_close', ids));
    expect(frame?.['result'].structuredContent.error.code).toBe('internal_error');
  });
});

describe('arguments that do not fit', () => {
  it.each<[string, ToolName, unknown, string]>([
    ['a missing field', 'pi_session_get', {}, 'Invalid arguments: "sessionId" is missing.'],
    ['no arguments at all', 'pi_session_get', undefined, 'Invalid arguments: "sessionId" is missing.'],
    ['a wrong type', 'pi_session_get', { sessionId: 5 }, 'Invalid arguments: "sessionId" must be a string.'],
    ['null', 'pi_session_get', { sessionId: null }, 'Invalid arguments: "sessionId" must be a string.'],
    ['an empty text', 'pi_session_prompt', { ...ids, prompt: '' }, 'Invalid arguments: "prompt" must not be empty.'],
    [
      'a long text',
      'pi_session_prompt',
      { ...ids, prompt: 'x'.repeat(100_001) },
      'Invalid arguments: "prompt" is longer than 100000 characters.',
    ],
    [
      'several at once, and an unknown field',
      'pi_session_prompt',
      { sessionId: 1, [SECRET]: SECRET },
      'Invalid arguments: "sessionId" must be a string; "prompt" is missing; no fields but "sessionId" and "prompt" are accepted.',
    ],
    ['an unknown field', 'pi_capabilities_get', { [SECRET]: 1 }, 'Invalid arguments: this tool takes no fields.'],
    ['__proto__', 'pi_session_list', JSON.parse('{"__proto__":{}}'), 'Invalid arguments: this tool takes no fields.'],
    ['a list', 'pi_session_list', [SECRET], 'Invalid arguments: they must be an object.'],
    ['a text', 'pi_session_list', SECRET, 'Invalid arguments: they must be an object.'],
    ['null as a whole', 'pi_session_list', null, 'Invalid arguments: they must be an object.'],
  ])('%s', async (_, name, args, message) => {
    const service = fakeService();
    const server = await startRaw(service);
    const request = call(name, args);
    // JSON.stringify drops an own __proto__ of a literal, but not of a parsed object.
    const [frame] = await server.exchange(JSON.stringify(request));
    expect(frame).toMatchObject({ id: request['id'], result: { isError: true } });
    expect(frame?.['result'].structuredContent).toEqual({ ok: false, error: { code: 'invalid_arguments', message } });
    expect(onlyText(frame?.['result'])).toEqual(frame?.['result'].structuredContent);
    expect(outputs.get(name)?.(frame?.['result'].structuredContent)).toBe(true);
    expect(service.calls).toEqual([]);
    expect(server.text()).not.toContain(SECRET);
  });

  it('an unknown tool is a result too, which names the eight and not the one', async () => {
    const server = await startRaw();
    for (const name of [SECRET, 'constructor', '__proto__', '']) {
      const [frame] = await server.exchange(call(name, {}));
      const error = frame?.['result'].structuredContent.error;
      expect(error.code).toBe('invalid_arguments');
      for (const tool of names) expect(error.message).toContain(tool);
      expect(frame?.['result'].isError).toBe(true);
    }
    expect(server.text()).not.toContain(SECRET);
  });
});
