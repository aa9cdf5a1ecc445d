/** A chart that breaks decides nothing any more; its box goes all the same. */
import { expect, test } from 'vitest';
import type { BoxEnd, LauncherCode } from '../../../src/ports/writers/launcher.ts';
import { bringToBox } from './domain.ts';
import { LauncherWorld } from './world.ts';

test.each<[string, BoxEnd | undefined, LauncherCode]>([
  ['is gone', { kind: 'ended', code: 137 }, 'box_not_started'],
  ['is left', { kind: 'retained' }, 'box_left'],
  ['is a riddle', undefined, 'box_left'],
])('the box is removed, waited for, and %s', async (_, end, code) => {
  const world = new LauncherWorld({ breaksTime: true });
  await bringToBox(world);
  expect(world.count('remove')).toBe(1);
  expect(world.result).toBeUndefined();
  await (end ? world.settle('ended', end) : world.fail('ended'));
  expect(world.result).toEqual({ status: 1, code });
  await world.signal(143);
  expect(world.result).toEqual({ status: 1, code });
  world.clock.assertEmpty();
});
