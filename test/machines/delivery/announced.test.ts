/** What the server tells of its turns: on every path of the turn chart, in the real assembly. */
import { describe, expect, test } from 'vitest';
import { createLazyTurnEvents } from '../../../src/app/lazy-turn-events.ts';
import { createServerApp } from '../../../src/app/server-app.ts';
import type { EndedTurn, TurnEvents } from '../../../src/ports/events.ts';
import { World } from '../../kit/world.ts';
import { applyTurnEvent, model } from '../turn/domain.ts';

class Listener implements TurnEvents {
  readonly heard: (EndedTurn | string)[] = [];
  letGo: (() => void) | undefined;
  async begin(): Promise<void> {
    this.heard.push('begin');
  }
  ended(turn: EndedTurn): void {
    this.heard.push(turn);
  }
  closed(sessionId: string): void {
    this.heard.push(`closed ${sessionId}`);
  }
  close(): Promise<void> {
    this.heard.push('close');
    return new Promise((resolve) => {
      this.letGo = resolve;
    });
  }
}

const withListener = (turnEvents: TurnEvents, atOnce = true) =>
  new World({
    assemble: (options) => createServerApp({ ...options, turnEvents }),
    transportClosesAtOnce: atOnce,
  });

const paths = model().paths();

describe(`the end of a turn is told once, as it was: ${paths.length} generated paths`, () => {
  test.each(paths.map((path) => [path.title, path] as const))('%s', async (_, path) => {
    const listener = new Listener();
    const world = withListener(listener);
    world.agent.watchFails = path.steps.some(({ event }) => event.type === 'xstate.error.actor.watchTurn');
    const sessionId = await world.openSession();
    const turnId = await world.runPrompt(sessionId);
    let [before] = path.steps.map(({ state }) => state);
    for (const { event, state } of path.steps.slice(1)) {
      if (before === undefined) throw new Error('a path starts somewhere');
      await applyTurnEvent(world, { sessionId, turnId }, event, before);
      before = state;
      const turns = listener.heard.filter((each) => typeof each !== 'string');
      const expected = { sessionId, turnId, state: state.value, at: world.clock.now() };
      expect(turns).toEqual(state.status === 'done' ? [expected] : []);
      const view = world.app.service.turn(sessionId, turnId);
      // Whoever is woken by it finds the turn ended.
      if (view.ok && state.status === 'done') expect(view.turn.state).toBe(state.value);
    }
  });
});

describe('a session', () => {
  test('that closes is told, before it is disposed and after its turn', async () => {
    const listener = new Listener();
    const world = withListener(listener);
    const sessionId = await world.openSession();
    await world.runPrompt(sessionId);
    world.close(sessionId);
    await world.flush();
    await world.finishClosing(sessionId);
    const [begun, turn, closed, ...rest] = listener.heard;
    expect([begun, closed, rest]).toEqual(['begin', `closed ${sessionId}`, []]);
    expect(turn).toMatchObject({ state: 'aborted' });
  });

  test('starts although events cannot be loaded, and the server says so', async () => {
    const reports: string[] = [];
    const load = () => Promise.reject(new Error('scripted failure'));
    const events = createLazyTurnEvents(load, {
      report: (_, event, fields) => reports.push(`${event} ${fields?.['code']}`),
    });
    const world = withListener(events);
    const sessionId = await world.openSession();
    await world.runPrompt(sessionId);
    expect(reports).toEqual(['turn_events_degraded not_loaded']);
    expect(world.app.service.get(sessionId)).toMatchObject({ ok: true, session: { state: 'running' } });
  });
});

describe('the end of the server', () => {
  const end = async (world: World) => {
    await world.openSession('s1');
    world.app.ready();
    world.app.end();
    await world.flush();
    await world.finishClosing('s1');
  };

  test('waits for the spool to be emptied', async () => {
    const listener = new Listener();
    const world = withListener(listener);
    await end(world);
    expect(listener.heard.at(-1)).toBe('close');
    expect(world.exitStatus).toBeUndefined();
    listener.letGo?.();
    await world.flush();
    expect(world.exitStatus).toBe(0);
  });

  test('does not take a broken transport for an emptied spool', async () => {
    const listener = new Listener();
    const world = withListener(listener, false);
    await end(world);
    world.settleTransport?.('broken');
    await world.flush();
    expect(world.exitStatus).toBeUndefined();
    listener.letGo?.();
    await world.flush();
    expect(world.exitStatus).toBe(0);
  });

  test('needs no spool at all when no session was ever started', async () => {
    const events = createLazyTurnEvents(() => Promise.reject(new Error('never')), { report: () => {} });
    const world = withListener(events);
    world.app.ready();
    world.app.end();
    await world.flush();
    expect(world.exitStatus).toBe(0);
  });
});
