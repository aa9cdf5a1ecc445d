import { afterAll, describe, expect, test } from 'vitest';
import { endingMachine } from '../../../src/machines/grants/ending.machine.ts';
import { Coverage } from '../../kit/coverage.ts';
import { saveCoverage } from '../../kit/coverage-report.ts';
import { GrantWorld } from '../../kit/grant-world.ts';
import { SUCCESS } from '../../kit/scripted-server.ts';
import { applyConnectionEvent } from '../connection/domain.ts';
import { model } from './domain.ts';

const WAY = { finishing: 'endInput', terminating: 'terminate', killing: 'kill' } as const;

const coverage = new Coverage();
const paths = model().paths();

describe.each(['closing', 'failed'])(`ending, of a connection that is %s: ${paths.length} generated paths`, (why) => {
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const world = new GrantWorld({ inspect: coverage.inspect });
    const { server, clock } = world;
    world.open();
    await world.flush();
    server.settle(server.find('connect'), SUCCESS.connect);
    await world.flush();
    server.settle(server.find('listPage'), SUCCESS.listPage);
    await world.flush();
    if (why === 'closing') world.close();
    else server.lose();
    for (const { event, state } of path.steps) {
      if (event.type !== 'xstate.init') await applyConnectionEvent(world, event);
      if (state.status === 'active') {
        expect(server.live.at(-1)?.operation).toBe(WAY[state.value as keyof typeof WAY]);
        expect(world.isClosed).toBe(false);
        continue;
      }
      clock.assertEmpty();
      expect(world.isClosed).toBe(why === 'closing');
    }
    expect(world.defects).toEqual([]);
  });
});

test('every transition and state was taken', () => {
  expect(coverage.missing(endingMachine)).toEqual([]);
});

afterAll(() => saveCoverage(coverage, 'ending'));
