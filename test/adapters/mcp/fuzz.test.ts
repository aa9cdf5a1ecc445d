/** Whatever a client sends: one answer per request id, and nothing of it comes back. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MESSAGES, PROTOCOL_MESSAGES } from '../../../src/adapters/mcp/messages.ts';
import { TOOLS } from '../../../src/adapters/mcp/tools.ts';
import type { ErrorCode } from '../../../src/ports/error-code.ts';
import type { SessionService } from '../../../src/ports/session-service.ts';
import { accepts, COMPLETED, fakeService, SECRET, SESSION, startRaw, TURN } from './harness.ts';

const outputs = new Map<string, (value: unknown) => boolean>(
  TOOLS.map((tool) => [tool.name, accepts(tool.outputSchema)]),
);

const text = fc.oneof(
  fc.constant(SECRET),
  fc.string({ unit: 'binary', maxLength: 20 }).map((value) => `${value}${SECRET}`),
  fc.constantFrom('', '\ud800', '\u0000', '__proto__', 'constructor'),
);
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.constantFrom(null, true, 0, -1, 1.5, 1e300),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  ),
}));
const fields = fc.constantFrom('workspace', 'executionProfile', 'sessionId', 'prompt', 'turnId', SECRET, '__proto__');
const argumentSets = fc.oneof(
  { weight: 3, arbitrary: fc.dictionary(fields, fc.oneof(text, json), { maxKeys: 4 }) },
  fc.record({ sessionId: text, prompt: text }),
  json,
);
const toolNames = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...TOOLS.map((tool) => tool.name)) }, json);
const requests = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({ name: toolNames, arguments: argumentSets })
      .map((params) => ({ method: 'tools/call', params })),
  },
  fc.record(
    { method: fc.constantFrom('tools/call', 'tools/list', 'initialize', 'ping', SECRET), params: json },
    { requiredKeys: ['method'] },
  ),
);
const methods = fc.constantFrom('notifications/initialized', 'notifications/progress', 'notifications/x', SECRET);
/** Lines that ask for nothing: what they get, if anything, carries no id of a request. */
const noise = fc.oneof(
  json.map((value) => JSON.stringify(value)),
  fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\n', ' ')),
  fc.record({ method: methods, params: json }).map((frame) => JSON.stringify({ jsonrpc: '2.0', ...frame })),
  fc.record({ result: json }).map((frame) => JSON.stringify({ jsonrpc: '2.0', id: 0, ...frame })),
  fc.record({ error: json }).map((frame) => JSON.stringify({ jsonrpc: '2.0', id: 0, ...frame })),
  fc.array(requests, { maxLength: 2 }).map((frames) => JSON.stringify(frames)),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 10))),
);
const traffic = fc.array(fc.oneof({ weight: 2, arbitrary: requests }, noise), { maxLength: 12 });

const codes = Object.keys(MESSAGES) as ErrorCode[];
/** Succeeds and fails in turn, so that both kinds of result are met. */
function moody(): SessionService {
  let calls = 0;
  const mood = <T>(reply: T) => {
    calls += 1;
    const code = codes[calls % (codes.length * 2)];
    return code ? ({ ok: false, code } as const) : reply;
  };
  const session = { ok: true, session: SESSION } as const;
  return fakeService({
    start: async () => mood(session),
    close: async () => mood(session),
    abort: async () => mood(session),
    prompt: async () => mood({ ok: true, session: SESSION, turn: TURN } as const),
    turn: () => mood({ ok: true, turn: COMPLETED } as const),
    get: () => mood(session),
  });
}

it('random traffic', async () => {
  const server = await startRaw(moody());
  let id = 1_000;
  const property = async (items: readonly unknown[]) => {
    const asked = new Map<number, string | undefined>();
    const lines = items.map((item) => {
      if (typeof item === 'string' || Buffer.isBuffer(item)) return item;
      const frame = item as { method: string; params?: { name?: unknown } | null };
      id += 1;
      asked.set(
        id,
        frame.method === 'tools/call' && typeof frame.params?.name === 'string' ? frame.params.name : undefined,
      );
      return JSON.stringify({ jsonrpc: '2.0', id, ...frame });
    });
    const answers = await server.exchange(...lines);
    const counts = new Map<number, number>();
    for (const answer of answers) {
      expect('result' in answer).not.toBe('error' in answer);
      if (typeof answer['id'] === 'number') counts.set(answer['id'], (counts.get(answer['id']) ?? 0) + 1);
      if (answer['error'])
        expect(answer['error']).toEqual({
          code: answer['error'].code,
          message: PROTOCOL_MESSAGES[answer['error'].code],
        });
      const structured = answer['result']?.structuredContent;
      if (structured === undefined) continue;
      expect(JSON.parse(answer['result'].content[0].text)).toEqual(structured);
      expect(answer['result'].isError ?? false).toBe(!structured.ok);
      expect(outputs.get(asked.get(answer['id']) ?? '')?.(structured) ?? !structured.ok).toBe(true);
    }
    expect([...counts]).toEqual(expect.arrayContaining([...asked.keys()].map((key) => [key, 1])));
    // A frame with id 0 is one of the noise: a malformed reply must not be answered.
    expect(counts.size).toBe(asked.size);
  };
  await fc.assert(fc.asyncProperty(traffic, property), { numRuns: 600 });
  expect(server.text()).not.toContain(SECRET);
  expect(JSON.stringify(server.diagnostics.reports)).not.toContain(SECRET);
  expect(server.ends).toEqual([]);
}, 60_000);

it('any cut of the bytes into chunks gives the same answers', async () => {
  const frames = [1, 2, 3].map((key) =>
    JSON.stringify({ jsonrpc: '2.0', id: key, method: 'ping', params: { a: '\u{1f600}' } }),
  );
  const bytes = Buffer.from(`${frames.join('\r\n')}\n`);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 20 }), async (cuts) => {
      const server = await startRaw();
      const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      for (let i = 1; i < edges.length; i += 1) server.stdin.write(bytes.subarray(edges[i - 1], edges[i]));
      const answers = await server.exchange();
      expect(answers.map((frame) => frame['id'])).toEqual([1, 2, 3]);
    }),
    { numRuns: 100 },
  );
});
