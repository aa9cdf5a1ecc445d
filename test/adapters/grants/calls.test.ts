/** Calls of real child processes, and what may come of them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, WORK } from '../../fixtures/mcp-servers/servers.ts';
import { TEST_DEADLINES } from '../../kit/world.ts';
import { eventually } from '../pi/lab.ts';
import { SESSION, said, useGrants } from './lab.ts';

const LIMIT = 262_144;
const AROUND = JSON.stringify({ content: [{ type: 'text', text: '' }] }).length;
const SECRET = 'the password is hunter2';

async function ready(options: Parameters<typeof fixture>[1] = {}, stopTime = false) {
  const lab = useGrants([fixture('a', options)], { stopTime });
  expect(await lab.open()).toEqual({ ok: true });
  return lab;
}

describe('a result', () => {
  it('passes as text and images; what nobody could look at is only named', async () => {
    const lab = await ready();
    const reply = await lab.call('a', { how: 'everything' });
    expect(reply).toMatchObject({
      ok: true,
      content: [{}, { type: 'image', mimeType: 'image/png' }, {}, {}, {}, {}, {}, {}],
    });
    expect(said(reply).split('\n')).toEqual([
      'one',
      'image/png',
      '[left out: an image of an unusual type]',
      '[left out: audio]',
      '[left out: a link to a resource]',
      'two',
      '[left out: a binary resource]',
      '{"three":3}',
    ]);
  });

  it('is held to the limit of its serialized bytes, and the server lives on', async () => {
    const lab = await ready();
    expect(said(await lab.call('a', { how: 'huge', bytes: LIMIT - AROUND }))).toHaveLength(LIMIT - AROUND);
    expect(said(await lab.call('a', { how: 'huge', bytes: LIMIT - AROUND + 1 }))).toBe('result_too_large');
    // Six bytes each, once it is JSON.
    expect(said(await lab.call('a', { how: 'escaped', count: LIMIT / 6 }))).toBe('result_too_large');
    expect(said(await lab.call('a', { how: 'huge', bytes: 20_000_000 }))).toBe('result_too_large');
    expect(said(await lab.call('a', { how: 'echo', say: 'still here' }))).toBe('still here');
  });

  it('is held to the output schema', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const lab = await ready({ lists: [[{ ...WORK, outputSchema }]] });
    const raw = async (result: object) => said(await lab.call('a', { how: 'raw', result: { content: [], ...result } }));
    expect(await raw({ structuredContent: { n: 1 } })).toBe('{"n":1}');
    expect(await raw({ structuredContent: { n: 'one' } })).toBe('failed');
    expect(await raw({ structuredContent: {} })).toBe('failed');
    expect(await raw({})).toBe('failed');
  });

  it.each([
    ['content of no kind', { content: [{ type: 'hologram' }] }],
    ['content that is no list', { content: 'text' }],
    ['text that is none', { content: [{ type: 'text', text: 7 }] }],
    ['structured content that is none', { content: [], structuredContent: 7 }],
  ])('with %s is a failure', async (_, result) => {
    const lab = await ready();
    expect(said(await lab.call('a', { how: 'raw', result }))).toBe('failed');
    expect(said(await lab.call('a', { how: 'echo', say: 'on' }))).toBe('on');
  });

  it('that is nested beyond reason is a failure', async () => {
    const lab = await ready();
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const line = `{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":${deep}}}`;
    expect(said(await lab.call('a', { how: 'raw line', line }))).toBe('failed');
  });

  it('cannot break our own requests with half a character', async () => {
    const lab = await ready();
    expect(said(await lab.call('a', { how: 'surrogate' }))).toBe('half \uFFFD end');
  });
});

describe('of a failure', () => {
  it.each(['error', 'protocol error'])('nothing passes (%s)', async (how) => {
    const lab = await ready();
    const reply = await lab.call('a', { how, say: SECRET });
    expect(reply).toEqual({ ok: false, reason: 'failed' });
    expect(JSON.stringify(lab.reports)).not.toContain(SECRET);
  });

  it.each(['too large', 'too large, both forms'])('only that the source is too large does (%s)', async (how) => {
    expect(await (await ready()).call('a', { how })).toEqual({ ok: false, reason: 'source_too_large' });
  });

  it('a key that is given twice makes it one like any other', async () => {
    expect(await (await ready()).call('a', { how: 'too large, repeated key' })).toEqual({
      ok: false,
      reason: 'failed',
    });
  });
});

describe('a call', () => {
  it('that is not answered in time is over, and the next one is not harmed by the late answer', async () => {
    const lab = await ready({}, true);
    const late = lab.call('a', { how: 'late', ms: 300 });
    const waits = lab.call('a', { how: 'late', ms: 1 });
    lab.clock.fire(TEST_DEADLINES.externalCallTimeout);
    expect(said(await late)).toBe('timeout');
    // It ran beside the one that was given up.
    expect(said(await waits)).toBe('2');
    expect(said(await lab.call('a', { how: 'late', ms: 400 }))).toBe('2');
    expect(said(await lab.call('a', { how: 'cancelled' }))).toMatch(/^\[\d+\]$/);
  });

  it('can be cancelled at work and while it waits', async () => {
    const lab = await ready();
    const [first, second] = [new AbortController(), new AbortController()];
    const hangs = lab.call('a', { how: 'hang' }, first.signal);
    const waits = lab.call('a', { how: 'remember', file: join(lab.workspace, 'ran') }, second.signal);
    const next = lab.call('a', { how: 'echo', say: 'next' });
    second.abort();
    expect(said(await waits)).toBe('cancelled');
    first.abort();
    expect(said(await hangs)).toBe('cancelled');
    expect(said(await next)).toBe('next');
    expect(existsSync(join(lab.workspace, 'ran'))).toBe(false);
    expect(said(await lab.call('a', { how: 'echo' }, AbortSignal.abort()))).toBe('cancelled');
  });

  it('of a server that dies fails, as all later ones do, and it is not started again', async () => {
    const lab = useGrants([fixture('a'), fixture('b')]);
    await lab.open();
    const replies = await Promise.all(['die', 'echo', 'echo'].map((how) => lab.call('a', { how })));
    expect(replies.map(said)).toEqual(['unavailable', 'unavailable', 'unavailable']);
    expect(said(await lab.call('a', { how: 'echo' }))).toBe('unavailable');
    expect(said(await lab.call('b', { how: 'echo', say: 'not me' }))).toBe('not me');
    expect(await eventually(() => lab.children().length === 1)).toBe(true);
  });

  it('hears the last words of a server that goes', async () => {
    const lab = await ready();
    expect(said(await lab.call('a', { how: 'answer and die' }))).toBe('last words '.repeat(20_000));
    expect(await eventually(async () => said(await lab.call('a', { how: 'echo' })) === 'unavailable')).toBe(true);
  });

  it('of a server that dies while its own child holds the pipe fails all the same', async () => {
    const lab = await ready({ grandchild: '98763.1' });
    expect(said(await lab.call('a', { how: 'die' }))).toBe('unavailable');
  });

  it.each(['one endless line', 'endless lines', 'endless notifications'])(
    'that comes to %s ends the server',
    async (how) => {
      const lab = await ready();
      const before = process.memoryUsage().rss;
      expect(said(await lab.call('a', { how }))).toBe('unavailable');
      expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
      expect(await eventually(() => lab.children().length === 0)).toBe(true);
    },
  );

  it('is answered once when its session is closed, and so is every later one', async () => {
    const lab = await ready();
    const calls = [lab.call('a', { how: 'hang' }), lab.call('a', { how: 'echo' })];
    const closed = lab.grants.close(SESSION);
    const during = lab.call('a', { how: 'echo' });
    expect((await Promise.all([...calls, during])).map(said)).toEqual(['unavailable', 'unavailable', 'unavailable']);
    await closed;
    expect(said(await lab.call('a', { how: 'echo' }))).toBe('unavailable');
  });
});
