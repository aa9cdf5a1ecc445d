/** When an adapter breaks its contract and the chart with it, nobody waits for ever and no child stays. */
import { expect, test } from 'vitest';
import { GrantWorld, grantLabel } from '../../kit/grant-world.ts';
import { SUCCESS } from '../../kit/scripted-server.ts';

test.each([
  ['connect', []],
  ['listPage', ['connect']],
] as const)('an outcome of %s that is none', async (broken, before) => {
  const world = new GrantWorld();
  const { server } = world;
  world.open();
  await world.flush();
  for (const operation of before) {
    server.settle(server.find(operation), SUCCESS[operation]);
    await world.flush();
  }
  world.call('C1');
  server.settle(server.find(broken), undefined);
  await world.flush();
  world.call('C2');
  world.close();
  await world.flush();
  expect(world.defects).toEqual(['chart_defect']);
  expect(server.history.at(-1)).toBe('kill');
  expect(world.isClosed).toBe(true);
  expect(world.questions.map(({ reply }) => reply && grantLabel(reply))).toEqual([
    'external_mcp_unavailable',
    'unavailable',
    'unavailable',
  ]);
});
