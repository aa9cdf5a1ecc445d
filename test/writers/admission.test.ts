import { beforeEach, describe, expect, test } from 'vitest';
import { createServerApp } from '../../src/app/server-app.ts';
import type { CodingAdmission } from '../../src/ports/writers/admission.ts';
import { replyLabel, World } from '../kit/world.ts';

/** Settled by the test, one after the other. */
let looks: ((isAtBaseline: boolean) => void)[];
let isHeld: boolean;
/** What the marker on disk would be. */
let isMarked: boolean;
let world: World;

const admission: CodingAdmission = {
  isAtBaseline: () => new Promise((resolve) => looks.push(resolve)),
  enter() {
    isMarked = !isHeld;
    return isMarked;
  },
  leave() {
    isMarked = false;
  },
};

beforeEach(() => {
  looks = [];
  isHeld = false;
  isMarked = false;
  world = new World({ assemble: (options) => createServerApp({ ...options, admission }) });
  world.app.ready();
});

const CODER = 'writer';
const answer = (id: string) => {
  const reply = world.requests.find(({ sessionId }) => sessionId === id)?.reply;
  return reply && replyLabel(reply);
};
async function start(id: string, profile = CODER): Promise<void> {
  world.start(id, profile);
  await world.flush();
}
async function look(isAtBaseline = true): Promise<void> {
  looks.shift()?.(isAtBaseline);
  await world.flush();
}

test('at the baseline a session starts, and says so for as long as it exists', async () => {
  await start('a');
  expect(isMarked).toBe(false);
  await look();
  expect(isMarked).toBe(true);
  await world.open('a');
  expect(answer('a')).toBe('idle');
  world.close('a');
  await world.flush();
  expect(isMarked).toBe(true);
  await world.finishClosing('a');
  expect(isMarked).toBe(false);
});

test('off the baseline none starts, and nobody is told of one', async () => {
  await start('a');
  await look(false);
  expect([answer('a'), isMarked]).toEqual(['workspace_not_at_baseline', false]);
});

test('while setup works on the clone none starts', async () => {
  isHeld = true;
  await start('a');
  await look();
  expect(answer('a')).toBe('workspace_not_at_baseline');
});

describe('one at a time', () => {
  test('a second one is refused from the first moment of the first one on', async () => {
    await start('a');
    await look();
    await start('b');
    expect([answer('b'), looks.length]).toEqual(['workspace_coding_session_open', 0]);
  });
  test('of two that look at the same time only one starts', async () => {
    await start('a');
    await start('b');
    const [first, second] = looks.splice(0);
    first?.(true);
    second?.(true);
    await world.flush();
    await world.open('a');
    expect([answer('a'), answer('b')]).toEqual(['idle', 'workspace_coding_session_open']);
  });
  test('after the first one the next may', async () => {
    await start('a');
    await look();
    await world.open('a');
    world.close('a');
    await world.flush();
    await world.finishClosing('a');
    await start('b');
    await look();
    await world.open('b');
    expect(answer('b')).toBe('idle');
  });
  test('a start that fails makes room, and takes its mark back', async () => {
    await start('a');
    await look();
    world.agent.settle('selectModel', { ok: false, code: 'unknown_model', stage: 'model' }, 'a');
    await world.flush();
    expect([answer('a'), isMarked]).toEqual(['unknown_model', false]);
  });
});

test('reading goes on beside it, and asks nobody', async () => {
  await start('a');
  await look();
  await start('r', 'reader');
  await world.open('r');
  expect([answer('r'), looks.length]).toEqual(['idle', 0]);
});

test('outside of a writer nobody is asked', async () => {
  world = new World();
  world.app.ready();
  world.start('a', CODER);
  await world.flush();
  await world.open('a');
  expect(answer('a')).toBe('idle');
});
