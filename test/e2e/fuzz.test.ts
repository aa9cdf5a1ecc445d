/** Random frames at one built server: each request is answered exactly once, whatever it is. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { connect, type Frame } from './kit/server.ts';
import { CANARY, useStage } from './kit/stage.ts';

const SEED = 20_261_130;
const FRAMES = 300;

const TOOLS = [
  'pi_capabilities_get',
  'pi_session_start',
  'pi_session_list',
  'pi_session_get',
  'pi_session_prompt',
  'pi_turn_get',
  'pi_session_abort',
  'pi_session_close',
];

const word = fc.oneof(
  fc.constantFrom('app', 'reader', 'coder', 'constructor', '__proto__', '', CANARY.prompt, CANARY.path),
  fc.uuid(),
  fc.string({ unit: 'binary', maxLength: 80 }),
);
const anything = fc.oneof(word, fc.jsonValue({ maxDepth: 2 }));
const fields = ['workspace', 'executionProfile', 'sessionId', 'turnId', 'prompt', 'verbose'];
const someFields = fc.dictionary(fc.constantFrom(...fields), anything, { maxKeys: 4 });
const args = fc.oneof({ weight: 4, arbitrary: someFields }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) });
const toolParams = fc.record(
  { name: fc.oneof(fc.constantFrom(...TOOLS), anything), arguments: args },
  { requiredKeys: [] },
);
const methods = [
  'tools/call',
  'tools/list',
  'ping',
  'initialize',
  'server/discover',
  'resources/list',
  'logging/setLevel',
];

/** A frame as it goes out, with a placeholder where its id is put. */
const body = fc.oneof(
  { weight: 5, arbitrary: fc.record({ method: fc.constant('tools/call'), params: toolParams }) },
  { weight: 2, arbitrary: fc.record({ method: fc.oneof(fc.constantFrom(...methods), word), params: fc.object() }) },
  { weight: 2, arbitrary: fc.record({ method: anything, params: anything }) },
);
const rubbish = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }).map((text) => text.replaceAll('\n', ' ')),
  fc.json({ maxDepth: 3 }),
  fc.record({ jsonrpc: fc.constant('2.0'), method: word, params: fc.object() }).map((frame) => JSON.stringify(frame)),
);

type Plan =
  | { readonly kind: 'request'; readonly body: object; readonly number: boolean }
  | { readonly kind: 'rubbish'; readonly line: string };

const plan: fc.Arbitrary<Plan> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('request' as const), body, number: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rubbish' as const), line: rubbish }) },
);

it(`answers each of ${FRAMES} random frames once and is as alive as before`, async () => {
  const stage = await useStage();
  const server = await connect(stage);
  const plans = fc.sample(plan, { numRuns: FRAMES, seed: SEED });
  const ids: (string | number)[] = [];
  const lines = plans.map((one, index) => {
    if (one.kind === 'rubbish') return one.line;
    const id = one.number ? 10_000 + index : `fuzz-${index}`;
    ids.push(id);
    return { jsonrpc: '2.0', id, ...one.body };
  });
  // In handfuls, so that frames meet in one chunk and in flight.
  for (let at = 0; at < lines.length; at += 7) server.write(...lines.slice(at, at + 7));
  await Promise.all(ids.map((id) => server.answered(id)));
  expect(await server.request('ping')).toMatchObject({ result: {} });

  const counts = new Map<unknown, number>();
  for (const frame of server.frames) counts.set(frame['id'], (counts.get(frame['id']) ?? 0) + 1);
  expect(ids.filter((id) => counts.get(id) !== 1)).toEqual([]);
  expect(ids.length).toBeGreaterThan(FRAMES / 2);
  for (const frame of server.frames as readonly Frame[]) {
    expect('result' in frame || typeof frame['error'].message === 'string').toBe(true);
  }
  const defects = server.stderr.split('\n').filter((line) => /internal_error|defect/.test(line));
  expect(defects).toEqual([]);
  expect(await server.call('pi_session_start', { workspace: 'app' })).toMatchObject({ ok: true });
});
