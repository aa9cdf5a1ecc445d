/** The built server on a real disk: what it delivers, what it leaves, and what a bad disk does to a turn. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { namesIn } from '../adapters/fs/event-spool-lab.ts';
import { connect, type Server } from '../e2e/kit/server.ts';
import { type Stage, useStage } from '../e2e/kit/stage.ts';
import { until } from '../e2e/kit/until.ts';

const ON = { schemaVersion: 1, workspaces: {}, turnEvents: true };
const OFF = { schemaVersion: 1, workspaces: {}, turnEvents: false };
const stateOf = ({ home }: Stage) => join(home, '.local');
const placeOf = (stage: Stage) => join(stateOf(stage), 'state', 'pi-session-mcp', 'events');

const open = (modes?: unknown) => useStage({ modes, model: { fixed: 'DONE' } });

interface Ids {
  readonly sessionId: string;
  readonly turnId: string;
}

/** Starts a session, prompts it, and waits for the end of the turn. */
async function runTurn(server: Server): Promise<Ids> {
  const { session } = await server.call('pi_session_start', { workspace: 'app' });
  const { turn } = await server.call('pi_session_prompt', { sessionId: session.id, prompt: 'Go.' });
  const ids = { sessionId: session.id, turnId: turn.turnId };
  await until('the end of the turn', async () => (await server.call('pi_turn_get', ids)).turn.state !== 'running');
  expect((await server.call('pi_turn_get', ids)).turn.state).toBe('completed');
  return ids;
}

/** Every event in the spool, by path relative to it. */
const eventsIn = (place: string) =>
  namesIn(place).flatMap((instance) =>
    namesIn(join(place, instance))
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(instance, name)),
  );

test.each([
  ['there are no modes', undefined],
  ['the modes say nothing', { schemaVersion: 1, workspaces: {} }],
  ['they are off', OFF],
])('nothing is made when %s', async (_, modes) => {
  const stage = await open(modes);
  const server = await connect(stage);
  await runTurn(server);
  expect(existsSync(stateOf(stage))).toBe(false);
});

test('nothing is made before the first session', async () => {
  const stage = await open(ON);
  const server = await connect(stage);
  await server.call('pi_capabilities_get');
  expect(existsSync(stateOf(stage))).toBe(false);
});

describe('with events on', () => {
  test('a turn leaves ids and a state; its session’s close removes them, the server’s end the directory', async () => {
    const stage = await open(ON);
    const server = await connect(stage);
    const { sessionId, turnId } = await runTurn(server);
    const place = placeOf(stage);
    const [event = ''] = await until('an event', () => (eventsIn(place).length > 0 ? eventsIn(place) : undefined));
    expect(event.endsWith(`${turnId}.json`)).toBe(true);
    const { at, ...fields } = JSON.parse(readFileSync(join(place, event), 'utf8'));
    expect(fields).toEqual({ schemaVersion: 1, sessionId, turnId, state: 'completed' });
    expect((await server.call('pi_turn_get', { sessionId, turnId })).turn.completedAt).toBe(at);
    await server.call('pi_session_close', { sessionId });
    await until('no event', () => eventsIn(place).length === 0);
    expect(namesIn(place)).toHaveLength(1);
    server.end();
    expect(await server.closed).toEqual({ code: 0, signal: null });
    expect(namesIn(place)).toEqual([]);
  });

  test('a server that was killed is cleaned up by the next one', async () => {
    const stage = await open(ON);
    const first = await connect(stage);
    await runTurn(first);
    const [dead = ''] = await until('a directory', () =>
      namesIn(placeOf(stage)).length > 0 ? namesIn(placeOf(stage)) : undefined,
    );
    first.child.kill('SIGKILL');
    await first.exited;
    expect(namesIn(placeOf(stage))).toEqual([dead]);
    const second = await connect(stage);
    await runTurn(second);
    await until('only its own', () => namesIn(placeOf(stage)).length === 1 && !namesIn(placeOf(stage)).includes(dead));
  });

  test('two servers share the place and leave each other alone', async () => {
    const stage = await open(ON);
    const [one, two] = [await connect(stage), await connect(stage)];
    await runTurn(one);
    await runTurn(two);
    await until('an event of each', () => eventsIn(placeOf(stage)).length === 2);
    two.end();
    await two.closed;
    expect(eventsIn(placeOf(stage))).toHaveLength(1);
  });
});

describe('a turn runs as ever', () => {
  const reports = (server: Server) =>
    server.stderr
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ event }) => event === 'turn_events_degraded');

  test('when there is no place for events, and the server says so without a path', async () => {
    const stage = await open(ON);
    const told = join(stage.root, 'nowhere');
    const server = await connect(stage, { env: { ...stage.env, PI_SESSION_MCP_EVENTS: told } });
    await runTurn(server);
    await until('the loss', () => reports(server).some(({ dropped }) => dropped === 1));
    expect(reports(server)).toEqual([
      { level: 'warn', event: 'turn_events_degraded', code: 'spool_unavailable', dropped: 0 },
      { level: 'warn', event: 'turn_events_degraded', code: 'write_failed', dropped: 1 },
    ]);
    expect(existsSync(stateOf(stage))).toBe(false);
  });

  test('when the place is taken away and something else is put there', async () => {
    const stage = await open(ON);
    const server = await connect(stage);
    await runTurn(server);
    const place = placeOf(stage);
    await until('an event', () => eventsIn(place).length > 0);
    rmSync(place, { recursive: true });
    writeFileSync(place, 'in the way');
    await runTurn(server);
    await until('a report', () => reports(server).length > 0);
    expect(reports(server)).toMatchObject([{ code: 'write_failed', dropped: 1 }]);
    // And it heals.
    rmSync(place);
    await runTurn(server);
    await until('an event again', () => eventsIn(place).length === 1);
    server.end();
    expect(await server.closed).toEqual({ code: 0, signal: null });
  });

  test('in a writer, whose events go where it is told', async () => {
    const stage = await open(ON);
    const told = join(stage.root, 'events');
    mkdirSync(told, { mode: 0o700 });
    const server = await connect(stage, { env: { ...stage.env, PI_SESSION_MCP_EVENTS: told } });
    await runTurn(server);
    await until('an event', () => eventsIn(told).length === 1);
    expect(existsSync(stateOf(stage))).toBe(false);
    expect(namesIn(dirname(told))).toContain('events');
  });
});
