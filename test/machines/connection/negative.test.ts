/** What a connection ignores, answers without moving, or hears too late changes nothing that anyone can see. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runConnection } from '../../../src/app/grant-connection.ts';
import type { ChartPath } from '../../kit/chart-model.ts';
import { effectsOf } from '../../kit/effects.ts';
import { GrantWorld, type GrantWorldOptions, grantLabel } from '../../kit/grant-world.ts';
import { describeState } from '../../kit/requirements.ts';
import { type ServerCall, type ServerOperation, SUCCESS } from '../../kit/scripted-server.ts';
import { applyConnectionEvent, type Connection, callEvent, liveCalls, model, type State } from './domain.ts';

// The development build of xstate warns of each event to an actor that has ended; that is what is tried here.
beforeAll(() => vi.spyOn(console, 'warn').mockImplementation(() => {}));
afterAll(() => vi.restoreAllMocks());

type Path = ChartPath<Connection>;

const REJECTS = Symbol('rejects');
const OUTCOMES: Readonly<Record<ServerOperation, readonly unknown[]>> = {
  connect: [{ ok: true }, { ok: false }, undefined],
  listPage: [SUCCESS.listPage, { ok: false }, undefined],
  call: [SUCCESS.call, { ok: false, reason: 'failed' }, undefined],
  endInput: [undefined],
  terminate: [undefined],
  kill: [undefined],
};

/** Calls of the path that have their answer. */
function cancelAnswered(world: GrantWorld, { state }: Path): void {
  for (const id of ['C1', 'C2', 'C3'].filter((each) => !liveCalls(state).includes(each))) world.cancel(id);
}

const STIMULI: readonly {
  readonly event: { readonly type: string };
  readonly act: (world: GrantWorld, path: Path) => void;
}[] = [
  { event: callEvent('C9'), act: (world) => world.call('C9') },
  { event: { type: 'CANCEL', callId: 'gone' } as { type: string }, act: cancelAnswered },
  { event: { type: 'LOST' }, act: (world) => world.server.lose() },
  { event: { type: 'CLOSE' }, act: (world) => world.close() },
];

function observe({ questions, server, clock, isClosed, defects }: GrantWorld, without?: ServerCall): string {
  return JSON.stringify({
    replies: questions.map(({ reply, answers }) => [reply && grantLabel(reply), answers]),
    asked: server.history,
    live: server.calls.filter((call) => call !== without && !call.signal?.aborted).map(({ operation }) => operation),
    timers: [...clock.pendingByDelay()].map(([delay, ids]) => [delay, ids.length]).sort(),
    over: [isClosed, server.watchers, defects],
  });
}

async function worldAt(path: Path, options: GrantWorldOptions): Promise<GrantWorld> {
  const world = new GrantWorld(options);
  world.server.watchFails = path.steps.some(({ event }) => event.type === 'xstate.error.actor.watch');
  for (const { event } of path.steps.slice(1)) await applyConnectionEvent(world, event);
  return world;
}

/** Would the chart ignore this, or answer it without doing anything else? */
function staysPut(path: Path, event: { readonly type: string }): boolean {
  if ((path.state as { status: string }).status !== 'active') return true;
  const { state, spawned, deadlines } = effectsOf(path.state, event);
  return spawned.length + deadlines.length === 0 && model().key(state as never) === model().key(path.state);
}

/** Work that nobody waits for any more: cancelled, or a way of ending the child that was given up. */
function lateCalls({ server }: GrantWorld): ServerCall[] {
  return server.calls.filter((call) => call.signal?.aborted || (!call.signal && call !== server.calls.at(-1)));
}

/** One way to each state, and every way back to the state in which the next call is welcome. */
function places(): Path[] {
  const isBack = ({ state }: Path) => (state as State).matches({ live: 'ready' });
  return [...model().prefixes(), ...model().paths().filter(isBack)];
}

async function probeAll(options: GrantWorldOptions = {}, maxFailures = Number.POSITIVE_INFINITY) {
  const failures: string[] = [];
  const tried = { ignored: 0, late: 0 };
  const note = (what: string, path: Path, before: string, after: string) => {
    if (before !== after)
      failures.push(`${what} in ${describeState(path.state)} after ${path.title}: ${before} → ${after}`);
  };
  for (const path of places()) {
    if (failures.length >= maxFailures) break;
    for (const { event, act } of STIMULI.filter((each) => staysPut(path, each.event))) {
      const world = await worldAt(path, options);
      const before = observe(world);
      const asked = world.questions.length;
      tried.ignored += 1;
      act(world, path);
      await world.flush();
      const [answer] = world.questions.splice(asked);
      if (answer && answer.answers !== 1)
        failures.push(`${event.type} in ${path.title} was answered ${answer.answers} times`);
      note(event.type, path, before, observe(world));
    }
    const count = lateCalls(await worldAt(path, options)).length;
    for (let index = 0; index < count; index += 1) {
      const operation = lateCalls(await worldAt(path, options))[index]?.operation ?? 'call';
      for (const outcome of [...OUTCOMES[operation], REJECTS]) {
        const world = await worldAt(path, options);
        const late = lateCalls(world)[index];
        if (!late) throw new Error('the world came out differently the second time');
        const before = observe(world, late);
        tried.late += 1;
        if (outcome === REJECTS) world.server.fail(late);
        else world.server.settle(late, outcome);
        await world.flush();
        note(`late ${operation}`, path, before, observe(world));
      }
    }
  }
  return { ...tried, failures };
}

test('nothing that must not matter does', async () => {
  const { ignored, late, failures } = await probeAll();
  console.log(`connection: ${ignored} ignored events and ${late} late settlements`);
  expect(failures).toEqual([]);
  expect(ignored).toBeGreaterThanOrEqual(90);
  expect(late).toBeGreaterThanOrEqual(60);
}, 60_000);

/** Connections that somebody has made a mistake in. */
const NAIVE: Readonly<Record<string, typeof runConnection>> = {
  'a call that was answered can still be cancelled': (port, input, options) => {
    const connection = runConnection(port, input, options);
    const call: typeof connection.call = async (what, signal) => {
      const reply = await connection.call(what, signal);
      signal?.addEventListener('abort', () => void connection.close());
      return reply;
    };
    return { ...connection, call };
  },
  'a result that comes too late kills the server': (port, input, options) => {
    const call: typeof port.call = async (what, signal) => {
      const outcome = await port.call(what, signal);
      if (signal.aborted) void port.kill();
      return outcome;
    };
    const watch = port.watch.bind(port);
    return runConnection({ ...port, watch, call }, input, options);
  },
  'a connection that comes too late is used': (port, input, options) => {
    const connect: typeof port.connect = async (signal) => {
      const outcome = await port.connect(signal);
      if (outcome?.ok && signal.aborted) void port.listPage(null, new AbortController().signal);
      return outcome;
    };
    return runConnection({ ...port, watch: port.watch.bind(port), connect }, input, options);
  },
};

describe('the probes see that', () => {
  test.each(Object.entries(NAIVE))('%s', async (_, assemble) => {
    expect((await probeAll({ assemble }, 1)).failures).not.toEqual([]);
  });
});
