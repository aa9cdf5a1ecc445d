import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { StdioTransport } from '../../../src/adapters/mcp/stdio-transport.ts';
import { call, fakeService, recordingDiagnostics, SESSION, startRaw } from './harness.ts';

const parseError = { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } };
const invalid = (id: unknown) => ({ jsonrpc: '2.0', id, error: { code: -32600, message: 'Invalid request' } });
const tooLarge = (id: unknown) => ({ jsonrpc: '2.0', id, error: { code: -32600, message: 'Request is too large' } });

describe('a line that is no message', () => {
  it.each<[string, string | Buffer, object[]]>([
    ['not JSON', 'hello', [parseError]],
    ['binary', Buffer.from([0, 255, 254, 128, 13, 7]), [parseError]],
    ['cut off', '{"jsonrpc":"2.0","id":1,', [parseError]],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', [invalid(null)]],
    ['a number', '5', [invalid(null)]],
    ['null', 'null', [invalid(null)]],
    ['no version', '{"id":4,"method":"ping"}', [invalid(4)]],
    ['a method that is no text', '{"jsonrpc":"2.0","id":"a","method":5}', [invalid('a')]],
    ['an id that is no id', '{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', [invalid(null)]],
    ['a fraction as id', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', [invalid(null)]],
    ['an unknown member', '{"jsonrpc":"2.0","id":3,"method":"ping","x":1}', [invalid(3)]],
    ['an empty object', '{}', [invalid(null)]],
    ['an empty line', '', []],
    ['blanks', ' \t\r', []],
    ['a reply to nothing', '{"jsonrpc":"2.0","id":1,"result":{}}', []],
    ['a malformed reply', '{"jsonrpc":"2.0","id":1,"result":5}', []],
    ['an error for nothing', '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}', []],
    ['a deep list', `${'['.repeat(500_000)}${']'.repeat(500_000)}`, [invalid(null)]],
    ['deep arguments', `{"jsonrpc":"2.0","id":1,"result":{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`, []],
  ])('%s', async (_, line, answers) => {
    const server = await startRaw();
    expect(await server.exchange(line)).toEqual(answers);
    expect(server.ends).toEqual([]);
  });

  it('is counted on stderr, not quoted', async () => {
    const server = await startRaw();
    await server.exchange('hello', '{}', '');
    await server.transport.close();
    expect(server.diagnostics.reports).toEqual([
      { level: 'warn', event: 'malformed_frames_rejected', fields: { frames: 2 } },
    ]);
  });
});

describe('a line over the limit', () => {
  const filler = 'x'.repeat(12 * 1024 * 1024);
  const params = `"params":{"name":"pi_session_list","arguments":{"a":"${filler}"}}`;

  it.each<[string, string, unknown]>([
    ['id in front', `{"jsonrpc":"2.0","id":41,"method":"tools/call",${params}}`, 41],
    ['id at the end, as the official client writes it', `{"method":"tools/call",${params},"jsonrpc":"2.0","id":42}`, 42],
    ['a text as id', `{"jsonrpc":"2.0","id":"a-1","method":"tools/call",${params}}`, 'a-1'],
    ['no id', `{"jsonrpc":"2.0","method":"tools/call",${params}}`, null],
    ['a nested id', `{"jsonrpc":"2.0","method":"x","params":{"a":"${filler}","id":5}}`, null],
    ['an id that needs care', `{"jsonrpc":"2.0","id":"\\u0041","method":"tools/call",${params}}`, null],
    ['a reply', `{"jsonrpc":"2.0","id":43,"result":{"a":"${filler}"}}`, null],
    ['no JSON at all', filler, null],
  ])('%s: answered, and the connection lives on', async (_, line, id) => {
    const server = await startRaw();
    const [first, second] = await server.exchange(line, call('pi_session_list', {}, 99));
    expect(first).toEqual(tooLarge(id));
    expect(second).toMatchObject({ id: 99, result: { structuredContent: { ok: true } } });
    expect(server.ends).toEqual([]);
  });

  it('begins one byte above it, in whatever chunks', async () => {
    const frame = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    for (const step of [1, 7, 1_000]) {
      for (const [limit, fits] of [
        [frame.length, true],
        [frame.length - 1, false],
      ] as const) {
        const server = await startRaw(fakeService(), limit);
        for (let at = 0; at < frame.length; at += step) server.stdin.write(frame.slice(at, at + step));
        server.stdin.write('\n{}\n');
        const answers: unknown[] = [];
        while (answers.length < 2) {
          await new Promise((resolve) => setImmediate(resolve));
          answers.splice(0, answers.length, ...server.frames);
        }
        expect(answers).toHaveLength(2);
        expect(answers).toEqual(expect.arrayContaining([fits ? { jsonrpc: '2.0', id: 1, result: {} } : tooLarge(1), invalid(null)]));
      }
    }
  });

  it('the largest prompt still passes, escaped at its worst', async () => {
    const service = fakeService();
    const server = await startRaw(service);
    const prompt = '\u{1f600}'.repeat(100_000);
    const escaped = JSON.stringify(call('pi_session_prompt', { sessionId: SESSION.id, prompt })).replaceAll(
      '\u{1f600}',
      '\\ud83d\\ude00',
    );
    const [answer] = await server.exchange(escaped);
    expect(answer?.['result'].structuredContent.ok).toBe(true);
    expect(service.calls[0]?.args).toEqual([{ sessionId: SESSION.id, prompt }]);
  });
});

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('the end', () => {
  it('of stdin is told once, also before initialize', async () => {
    const server = await startRaw();
    server.stdin.end();
    server.stdin.destroy();
    while (server.ends.length === 0) await tick();
    await tick();
    expect(server.ends).toEqual(['stdin_ended']);
  });

  it('is told when stdin fails, or closes without an end', async () => {
    const failing = await startRaw();
    failing.stdin.destroy(new Error('EIO'));
    const closing = await startRaw();
    closing.stdin.destroy();
    while (failing.ends.length === 0 || closing.ends.length === 0) await tick();
    expect([failing.ends, closing.ends]).toEqual([['stdin_failed'], ['stdin_ended']]);
  });

  it('is told when stdin was over before anybody listened', async () => {
    const stdin = new PassThrough();
    stdin.resume().end();
    while (!stdin.readableEnded) await tick();
    const ends: string[] = [];
    const transport = new StdioTransport({
      stdin,
      output: new PassThrough(),
      diagnostics: recordingDiagnostics(),
      onEnd: (reason) => ends.push(reason),
    });
    await transport.start();
    await tick();
    expect(ends).toEqual(['stdin_ended']);
  });

  it('what was asked before the end is still answered', async () => {
    const server = await startRaw();
    server.stdin.end(`${JSON.stringify(call('pi_session_list', {}, 5))}\n`);
    while (server.ends.length === 0) await tick();
    await server.transport.close();
    expect(server.frames).toMatchObject([{ id: 5, result: { structuredContent: { ok: true } } }]);
  });

  it('of stdout is told by its error, and close still resolves', async () => {
    const server = await startRaw();
    server.stdout.destroy(new Error('EPIPE'));
    while (server.ends.length === 0) await tick();
    expect(server.ends).toEqual(['stdout_failed']);
    server.stdin.write(`${JSON.stringify(call('pi_session_list', {}, 5))}\n`);
    await tick();
    await server.transport.close();
  });

  it('a write that throws counts as the end of stdout', async () => {
    const ends: string[] = [];
    const stdin = new PassThrough();
    const transport = new StdioTransport({
      stdin,
      output: {
        on: () => {},
        write: () => {
          throw new Error('EBADF');
        },
      },
      diagnostics: recordingDiagnostics(),
      onEnd: (reason) => ends.push(reason),
    });
    await transport.start();
    await expect(transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toThrow('the client is gone');
    await transport.close();
    expect(ends).toEqual(['stdout_failed']);
  });

  it('close may be called any number of times, tells the SDK once, and no end after it', async () => {
    const server = await startRaw();
    const sdk = server.transport.onclose;
    let closed = 0;
    server.transport.onclose = () => {
      closed += 1;
      sdk?.();
    };
    await Promise.all([server.transport.close(), server.transport.close()]);
    await server.transport.close();
    server.stdin.destroy();
    await tick();
    expect(closed).toBe(1);
    expect(server.ends).toEqual([]);
  });

  it('an answer decided just before close still goes out', async () => {
    let settle: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const server = await startRaw(fakeService({ close: () => held.then(() => ({ ok: false, code: 'server_stopping' })) }));
    await server.exchange(call('pi_session_close', { sessionId: SESSION.id }, 5));
    settle?.();
    await server.transport.close();
    await tick();
    expect(server.frames.find((frame) => frame['id'] === 5)).toMatchObject({ result: { isError: true } });
  });
});

/** A reader that takes nothing until it is told to. */
function blockedOutput(): { output: Writable; release: () => void; received: () => number } {
  const held: (() => void)[] = [];
  let blocked = true;
  let received = 0;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      if (blocked) held.push(done);
      else done();
    },
  });
  const release = () => {
    blocked = false;
    for (const done of held.splice(0)) done();
  };
  return { output, release, received: () => received };
}

describe('a client that does not read', () => {
  it('is not read from either, until it reads again', async () => {
    const stdin = new PassThrough({ highWaterMark: 1024 });
    const { output, release } = blockedOutput();
    const transport = new StdioTransport({ stdin, output, diagnostics: recordingDiagnostics(), onEnd: () => {} });
    await transport.start();
    const answer = { jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(1024 * 1024) } } as const;
    const sent = Array.from({ length: 9 }, () => transport.send(answer));
    expect(stdin.isPaused()).toBe(true);
    release();
    await Promise.all(sent);
    expect(stdin.isPaused()).toBe(false);
  });

  it('is waited for by close', async () => {
    const { output, release, received } = blockedOutput();
    const transport = new StdioTransport({
      stdin: new PassThrough(),
      output,
      diagnostics: recordingDiagnostics(),
      onEnd: () => {},
    });
    await transport.start();
    const sent = [transport.send({ jsonrpc: '2.0', method: 'a' }), transport.send({ jsonrpc: '2.0', method: 'b' })];
    let closed = false;
    const closing = transport.close().then(() => {
      closed = true;
    });
    await tick();
    await tick();
    expect(closed).toBe(false);
    release();
    await Promise.all([...sent, closing]);
    expect(received()).toBe(2 * '{"jsonrpc":"2.0","method":"a"}\n'.length);
  });
});

it('an answer that cannot be written becomes an internal error', async () => {
  const server = await startRaw();
  await server.transport.send({ jsonrpc: '2.0', id: 8, result: { n: 1n } } as never);
  expect(server.frames).toEqual([{ jsonrpc: '2.0', id: 8, error: { code: -32603, message: 'Internal error' } }]);
});

it('an error of whatever origin leaves with the text of its code', async () => {
  const server = await startRaw();
  await server.transport.send({ jsonrpc: '2.0', id: 8, error: { code: -32602, message: 'secret', data: 'secret' } });
  await server.transport.send({ jsonrpc: '2.0', id: 9, error: { code: 77, message: 'secret' } });
  expect(server.frames).toEqual([
    { jsonrpc: '2.0', id: 8, error: { code: -32602, message: 'Invalid params' } },
    { jsonrpc: '2.0', id: 9, error: { code: -32603, message: 'Internal error' } },
  ]);
});

it('starts once', async () => {
  const server = await startRaw();
  await expect(server.transport.start()).rejects.toThrow('already started');
});
