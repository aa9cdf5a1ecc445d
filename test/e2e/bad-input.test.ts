/** Whatever a client sends, the built server answers it, goes on, and repeats nothing of it. */
import { describe, expect, it } from 'vitest';
import { PROTOCOL_MESSAGES } from '../../src/adapters/mcp/messages.ts';
import { connect, type Frame, INITIALIZE, launch, type Message, request, type Server, toolCall } from './kit/server.ts';
import { run, startSession, turnEnd } from './kit/sessions.ts';
import { CANARY, useStage } from './kit/stage.ts';

const UNKNOWN = '6f1c3f0e-8a52-4b7e-9d0a-2f6a35b0f001';

/** Sends it, and a ping behind it; what was answered before the pong, without the pong. */
async function exchange(server: Server, ...messages: readonly Message[]): Promise<Frame[]> {
  const from = server.frames.length;
  const pong = server.nextId();
  server.write(...messages, request(pong, 'ping'));
  expect(await server.answered(pong)).toEqual({ jsonrpc: '2.0', id: pong, result: {} });
  return server.frames.slice(from).filter((frame) => frame['id'] !== pong);
}

/** With a text of ours: the SDK's own may quote what was sent. */
function protocolError(code: number, id: unknown = null, message = PROTOCOL_MESSAGES[code]): object {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

const TOO_LARGE = 'Request is too large';
const C = CANARY.prompt;
const FRAMES: readonly [what: string, line: string | Buffer, code: number, id?: unknown][] = [
  ['no JSON', C, -32700],
  ['half a frame', `{"jsonrpc":"2.0","id":1,"method":"${C}`, -32700],
  ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28, 0x0a]), -32700],
  ['a NUL', `\0${C}`, -32700],
  ['a number', '7', -32600],
  ['a list', `[{"jsonrpc":"2.0","id":1,"method":"ping"},"${C}"]`, -32600],
  ['another version', `{"jsonrpc":"1.0","id":11,"method":"${C}"}`, -32600, 11],
  ['no version', `{"id":"twelve","method":"${C}"}`, -32600, 'twelve'],
  ['a method that is a number', `{"jsonrpc":"2.0","id":13,"method":5}`, -32600, 13],
  ['params that are a text', `{"jsonrpc":"2.0","id":14,"method":"tools/call","params":"${C}"}`, -32600, 14],
  ['an id that is an object', `{"jsonrpc":"2.0","id":{"${C}":1},"method":"ping"}`, -32600],
  ['an unknown method', `{"jsonrpc":"2.0","id":15,"method":"${C}"}`, -32601, 15],
  ['a method of every object', '{"jsonrpc":"2.0","id":16,"method":"constructor"}', -32601, 16],
  ['a tool name that is a number', '{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":5}}', -32602, 17],
  ['no tool name', '{"jsonrpc":"2.0","id":18,"method":"tools/call","params":{}}', -32602, 18],
  ['no params', '{"jsonrpc":"2.0","id":19,"method":"tools/call"}', -32602, 19],
];

describe('frames', () => {
  it('malformed ones are answered with a protocol error of ours', async () => {
    const server = await connect(await useStage());
    for (const [what, line, code, id] of FRAMES) {
      expect([what, await exchange(server, line)]).toEqual([what, [protocolError(code, id)]]);
    }
    expect(server.stderr).not.toContain(C);
  });

  it('what needs no answer gets none', async () => {
    const server = await connect(await useStage());
    const silent = [
      '',
      '   ',
      { jsonrpc: '2.0', method: `notifications/${C}` },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'never', reason: C } },
      { jsonrpc: '2.0', id: 99, result: { [C]: C } },
      { jsonrpc: '2.0', id: 99, error: { code: 1, message: C } },
    ];
    expect(await exchange(server, ...silent)).toEqual([]);
  });

  it('a frame in pieces, also when a piece ends within a character', async () => {
    const stage = await useStage();
    const server = await connect(stage);
    const sessionId = await startSession(server);
    const text = 'ünï→😀';
    for (const cut of [1, 2, 3]) {
      const id = server.nextId();
      const frame = Buffer.from(`${JSON.stringify(toolCall(id, 'pi_session_prompt', { sessionId, prompt: text }))}\n`);
      const middle = frame.indexOf('😀') + cut;
      // Once the ping is answered, the piece in the same write has been read.
      const pong = server.nextId();
      server.write(request(pong, 'ping'), frame.subarray(0, middle));
      await server.answered(pong);
      server.write(frame.subarray(middle));
      const { turn } = (await server.answered(id))['result'].structuredContent;
      await turnEnd(server, { sessionId, turnId: turn.turnId });
      expect(JSON.stringify(stage.model.requests.at(-1)?.messages.at(-1))).toContain(text);
    }
  });

  it('many frames in one write', async () => {
    const server = await connect(await useStage());
    const many = Array.from({ length: 500 }, (_, index) => request(index, 'ping'));
    expect((await exchange(server, ...many)).map((frame) => frame['id'])).toEqual(many.map((frame) => frame['id']));
  });

  it('12 MB in one line are refused with the id, and the next line is read', async () => {
    const server = await connect(await useStage());
    const huge = toolCall(21, 'pi_session_prompt', { sessionId: UNKNOWN, prompt: C.repeat(1_000_000) });
    expect(await exchange(server, huge)).toEqual([protocolError(-32600, 21, TOO_LARGE)]);
    // Without a newline for a long time, and then none of ours.
    expect(await exchange(server, Buffer.from(C.repeat(1_000_000)), Buffer.from('\n'))).toEqual([
      protocolError(-32600, null, TOO_LARGE),
    ]);
  });
});

describe('before initialize', () => {
  it.each(['server/discover', 'no/such/method'])(
    '%s is answered at once, and initialize works after it',
    async (method) => {
      const server = launch(await useStage());
      const answer = await server.request(method, { _meta: { protocolVersion: '2026-07-28' } });
      expect(answer).toMatchObject({ error: { code: -32601 } });
      expect((await server.handshake())['result'].serverInfo.name).toBe('pi-session-mcp');
    },
  );

  it.each(['tools/list', 'tools/call', 'ping'])('%s is answered', async (method) => {
    const server = launch(await useStage());
    const answer = await server.request(method, { name: 'pi_capabilities_get' });
    expect(answer['result'] ?? answer['error']).toBeDefined();
    await server.handshake();
  });

  it.each(['2024-11-05', '2025-06-18', '2025-11-25'])('protocol version %s is granted', async (protocolVersion) => {
    const server = launch(await useStage());
    const { result } = await server.request('initialize', { ...INITIALIZE, protocolVersion });
    expect(result).toMatchObject({ protocolVersion, capabilities: { tools: {} } });
  });

  it('initialize with nonsense is an error, or answered with a version of ours', async () => {
    const server = launch(await useStage());
    const { id, error } = await server.request('initialize', { protocolVersion: C });
    expect(Object.keys(PROTOCOL_MESSAGES)).toContain(String(error.code));
    expect({ id, error }).toEqual({ id, error: { code: error.code, message: PROTOCOL_MESSAGES[error.code] } });
    const { result } = await server.request('initialize', { ...INITIALIZE, protocolVersion: `1999-${C}` });
    expect(result.protocolVersion).toMatch(/^20\d\d-\d\d-\d\d$/);
  });
});

describe('tools', () => {
  it('an unknown tool, and ids of every type', async () => {
    const server = await connect(await useStage());
    const bad = { ok: false, error: { code: 'invalid_arguments' } };
    for (const name of [C, '', 'constructor', '__proto__', 'PI_SESSION_LIST']) {
      expect(await server.call(name, { [C]: C })).toMatchObject(bad);
    }
    for (const id of [
      '1',
      'constructor',
      '__proto__',
      'registry',
      C,
      ` ${UNKNOWN}`,
      UNKNOWN.toUpperCase(),
      '../../etc/passwd',
      '\0',
      '\ud800',
    ]) {
      for (const tool of ['pi_session_get', 'pi_session_abort', 'pi_session_close']) {
        expect(await server.call(tool, { sessionId: id })).toMatchObject({ error: { code: 'unknown_session' } });
      }
    }
    for (const args of [[], C, 5, null, { sessionId: 1 }, { sessionId: null }, { sessionId: [C] }, { sessionId: {} }]) {
      expect(await server.call('pi_session_get', args as object)).toMatchObject(bad);
    }
  });

  it('takes 100,000 characters, counted as code points, and not one more', async () => {
    const stage = await useStage();
    const server = await connect(stage);
    const sessionId = await startSession(server);
    const send = (text: string) => server.call('pi_session_prompt', { sessionId, prompt: text });
    const tooLong = { ok: false, error: { code: 'invalid_arguments' } };
    expect(await send('x'.repeat(100_001))).toMatchObject(tooLong);
    expect(await send('😀'.repeat(100_001))).toMatchObject(tooLong);
    expect(stage.model.requests).toEqual([]);
    const { turn } = await send('😀'.repeat(100_000));
    expect(await turnEnd(server, { sessionId, turnId: turn.turnId })).toMatchObject({ state: 'completed' });
    expect(JSON.stringify(stage.model.requests[0]?.messages)).toContain('😀'.repeat(100_000));
  });

  it('a lone surrogate in the prompt harms nobody', async () => {
    const stage = await useStage();
    const server = await connect(stage);
    const sessionId = await startSession(server);
    for (const text of ['\ud800', 'a\udc00b', '\u0000\u0007', '\u2028\u2029']) {
      expect(await run(server, sessionId, text)).toMatchObject({ state: 'completed' });
    }
  });

  it('a prompt is plain text: nothing in it is a command', async () => {
    const stage = await useStage();
    const server = await connect(stage);
    const sessionId = await startSession(server, 'coder');
    for (const text of ['/quit', '/model other', '!touch planted', '@note.txt', '$(touch planted)']) {
      expect(await run(server, sessionId, text)).toMatchObject({ state: 'completed' });
      expect(JSON.stringify(stage.model.requests.at(-1)?.messages.at(-1))).toContain(JSON.stringify(text).slice(1, -1));
    }
  });
});
