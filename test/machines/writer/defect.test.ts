/** A port that breaks its word breaks the chart; the writer is let go of all the same. */
import { expect, test } from 'vitest';
import { WriterWorld } from '../../kit/scripted-writer.ts';

test('a chart that breaks waits for what runs, lets the writer go, and says so', async () => {
  const world = new WriterWorld({ operation: 'finish', lifecycle: 'persistent', discard: false });
  await world.succeed('fence');
  await world.settle(world.find('read'), undefined);
  expect(world.live.map(({ name }) => name)).toEqual(['quiesce']);
  await world.succeed('quiesce');
  expect(world.code).toBeUndefined();
  await world.succeed('release');
  expect(world.code).toBe('defect');
  world.clock.assertEmpty();
});
