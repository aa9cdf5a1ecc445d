import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAsk } from '../../../src/adapters/mcp/ask.ts';

interface Question {
  readonly type: 'Q';
  readonly n: number;
}

function setUp() {
  const sent: (Question & { readonly requestId: string })[] = [];
  const unclaimed: string[] = [];
  const asking = createAsk<Question, string>(
    (event) => void sent.push(event),
    (id) => void unclaimed.push(id),
  );
  return { sent, unclaimed, asking };
}

describe('ask', () => {
  it('sends the question with an id of its own and resolves with the reply to that id', async () => {
    const { asking, sent } = setUp();
    const [a, b] = [asking.ask({ type: 'Q', n: 1 }), asking.ask({ type: 'Q', n: 2 })];
    expect(sent.map(({ n }) => n)).toEqual([1, 2]);
    expect(new Set(sent.map(({ requestId }) => requestId)).size).toBe(2);
    expect(asking.pending).toBe(2);
    asking.deliver(sent[1]?.requestId ?? '', 'two');
    asking.deliver(sent[0]?.requestId ?? '', 'one');
    expect(await Promise.all([a, b])).toEqual(['one', 'two']);
    expect(asking.pending).toBe(0);
  });

  it('takes a reply that comes while the question is being sent', async () => {
    const asking = createAsk<Question, string>((event) => asking.deliver(event.requestId, 'at once'));
    expect(await asking.ask({ type: 'Q', n: 1 })).toBe('at once');
    expect(asking.pending).toBe(0);
  });

  it('ignores and reports a second delivery and one that nobody asked for', async () => {
    const { asking, sent, unclaimed } = setUp();
    const answer = asking.ask({ type: 'Q', n: 1 });
    const id = sent[0]?.requestId ?? '';
    asking.deliver(id, 'first');
    asking.deliver(id, 'second');
    asking.deliver('nobody', 'third');
    expect(await answer).toBe('first');
    expect(unclaimed).toEqual([id, 'nobody']);
  });

  it('rejects when the question cannot be sent, and forgets it', async () => {
    const asking = createAsk<Question, string>(() => {
      throw new Error('stopped');
    });
    await expect(asking.ask({ type: 'Q', n: 1 })).rejects.toThrow('stopped');
    expect(asking.pending).toBe(0);
  });

  it('after failAll answers what is open and everything later, without sending it', async () => {
    const { asking, sent, unclaimed } = setUp();
    const open = asking.ask({ type: 'Q', n: 1 });
    asking.failAll('over');
    expect(await open).toBe('over');
    expect(await asking.ask({ type: 'Q', n: 2 })).toBe('over');
    expect(sent).toHaveLength(1);
    expect(asking.pending).toBe(0);
    asking.deliver(sent[0]?.requestId ?? '', 'late');
    expect(unclaimed).toEqual([sent[0]?.requestId]);
  });

  it('gives each question exactly one reply, its own, in any order of deliveries', async () => {
    const deliveries = fc.array(fc.nat(9), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(deliveries, async (order) => {
        const { asking, sent, unclaimed } = setUp();
        const answers = Array.from({ length: 10 }, (_, n) => asking.ask({ type: 'Q', n }));
        for (const [at, n] of order.entries()) asking.deliver(sent[n]?.requestId ?? '', `${n}@${at}`);
        expect(asking.pending).toBe(10 - new Set(order).size);
        expect(unclaimed).toHaveLength(order.length - new Set(order).size);
        asking.failAll('over');
        const expected = answers.map((_, n) => (order.includes(n) ? `${n}@${order.indexOf(n)}` : 'over'));
        expect(await Promise.all(answers)).toEqual(expected);
      }),
    );
  });
});
