import { expect, test } from 'vitest';
import type { CaptureOutcome, WriterBoundary, WriterBox } from '../../src/ports/writers/boundary.ts';
import { runInside } from '../../src/writers/inside.ts';

const bytes = new Uint8Array();
const ended: CaptureOutcome = { kind: 'ended', code: 3, stdout: bytes, stderr: bytes };
const command = { argv: ['git', 'status'] as const, env: {}, maxOutputBytes: 1, timeoutMs: 1 };

function run(...outcomes: CaptureOutcome[]) {
  const boxes: WriterBox[] = [];
  const boundary = {
    capture: async (box: WriterBox) => {
      boxes.push(box);
      return outcomes.shift() ?? ended;
    },
  } as unknown as WriterBoundary;
  const inside = runInside(boundary, { name: 'shop-1', directory: '/d', root: { kind: 'host' } });
  return inside(command, new AbortController().signal).then((result) => ({ result, boxes }));
}

test.each<[CaptureOutcome[], string, number]>([
  [[ended], 'exited', 1],
  [[{ kind: 'not_started' }, ended], 'exited', 2],
  [[{ kind: 'not_started' }, { kind: 'not_started' }], 'failed', 2],
  [[{ kind: 'output_too_large' }], 'output_too_large', 1],
  [[{ kind: 'timed_out' }], 'failed', 1],
  [[{ kind: 'interrupted' }], 'failed', 1],
  [[{ kind: 'retained' }], 'failed', 1],
  [[{ kind: 'refused', code: 'layout_tampered' }], 'failed', 1],
])('%j is %s after %i', async (outcomes, kind, tries) => {
  const { result, boxes } = await run(...outcomes);
  expect([result.kind, boxes.length]).toEqual([kind, tries]);
  // Git needs none, whatever the writer's server has.
  expect(boxes.every(({ network }) => network === 'none')).toBe(true);
});
