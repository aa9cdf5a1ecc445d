/** What the transport makes of each line, and what it lets out. */
import { describe, expect, it } from 'vitest';
import { call, fakeService, SESSION, startRaw } from './harness.ts';

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
    [
      'id at the end, as the official client writes it',
      `{"method":"tools/call",${params},"jsonrpc":"2.0","id":42}`,
      42,
    ],
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
    for (const step of [1, 7, 1_000, Number.POSITIVE_INFINITY]) {
      for (const [limit, fits] of [
        [frame.length, true],
        [frame.length - 1, false],
      ] as const) {
        const server = await startRaw(fakeService(), limit);
        const bytes = `${frame}\n{}\n`;
        for (let at = 0; at < bytes.length; at += step) server.stdin.write(bytes.slice(at, at + step));
        const answers: unknown[] = [];
        while (answers.length < 2) {
          await new Promise((resolve) => setImmediate(resolve));
          answers.splice(0, answers.length, ...server.frames);
        }
        expect(answers).toHaveLength(2);
        expect(answers).toEqual(
          expect.arrayContaining([fits ? { jsonrpc: '2.0', id: 1, result: {} } : tooLarge(1), invalid(null)]),
        );
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
