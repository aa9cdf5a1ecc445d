/**
 * What the bash tool started ends with its call, its session and its server,
 * however these end. Two seconds is the promise, so it is asserted here.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { mentioning, sleepToken } from '../adapters/process/processes.ts';
import { childrenOf } from './kit/processes.ts';
import { connect, type Server } from './kit/server.ts';
import { bash, prompt, run, startSession, turnEnd } from './kit/sessions.ts';
import { useStage } from './kit/stage.ts';
import { until, within } from './kit/until.ts';

const GONE_WITHIN_MS = 2_000;

interface Family {
  readonly server: Server;
  readonly sessionId: string;
  readonly tokens: readonly string[];
  readonly ids: { readonly sessionId: string; readonly turnId: string };
}

function left(tokens: readonly string[]): string[] {
  return tokens.flatMap(mentioning);
}

function allGone(tokens: readonly string[]): Promise<boolean> {
  const what = () => `all gone, but there is ${left(tokens).join(', ')}`;
  return until(what, () => left(tokens).length === 0, GONE_WITHIN_MS);
}

/** A server in the middle of a bash call whose children have tried everything to get away. */
async function family(): Promise<Family> {
  const tokens = Array.from({ length: 6 }, sleepToken);
  const [plain, session, background, orphan, bare, foreground] = tokens;
  const command = [
    `sleep ${plain} &`,
    `setsid sleep ${session} &`,
    `nohup sleep ${background} > /dev/null 2>&1 &`,
    `(setsid sh -c 'sleep ${orphan} & exec sleep ${orphan}' &)`,
    `env -i setsid sleep ${bare} &`,
    `trap '' TERM HUP INT; sleep ${foreground}`,
  ].join('\n');
  const stage = await useStage({ model: { steps: [bash(command), { text: 'over' }] } });
  // A group of its own, so that a test can end the group as a client would.
  const server = await connect(stage, { detached: true });
  const sessionId = await startSession(server, 'coder');
  const ids = await prompt(server, sessionId);
  await until('all children', () => tokens.every((token) => mentioning(token).some((c) => c.startsWith('sleep'))));
  return { server, sessionId, ids, tokens };
}

const ENDINGS: Readonly<Record<string, (family: Family) => unknown>> = {
  'SIGKILL of the server': ({ server }) => void server.child.kill('SIGKILL'),
  'SIGTERM of the group and SIGKILL 5 ms later, as Codex does': async ({ server }) => {
    process.kill(-server.pid, 'SIGTERM');
    await pause(5);
    server.child.kill('SIGKILL');
  },
  'SIGKILL of the group': ({ server }) => void process.kill(-server.pid, 'SIGKILL'),
  'SIGINT, SIGTERM 100 ms and SIGKILL 490 ms later, as Claude does': async ({ server }) => {
    server.child.kill('SIGINT');
    await pause(100);
    server.child.kill('SIGTERM');
    await pause(390);
    server.child.kill('SIGKILL');
  },
  'the end of stdin': ({ server }) => server.end(),
  'the end of all three pipes': ({ server: { child } }) => {
    for (const pipe of [child.stdout, child.stderr, child.stdin]) pipe?.destroy();
  },
  SIGTERM: ({ server }) => void server.child.kill('SIGTERM'),
  SIGHUP: ({ server }) => void server.child.kill('SIGHUP'),
  'two signals, the second at once': ({ server }) => {
    server.child.kill('SIGTERM');
    server.child.kill('SIGINT');
  },
  abort: ({ server, sessionId }) => server.call('pi_session_abort', { sessionId }),
  close: ({ server, sessionId }) => server.call('pi_session_close', { sessionId }),
};

describe('in the middle of a bash call', () => {
  it.each(Object.keys(ENDINGS))('%s leaves no child', async (name) => {
    const all = await family();
    await ENDINGS[name]?.(all);
    await allGone(all.tokens);
  });

  it('abort ends the call, and the session works on', async () => {
    const { server, sessionId, ids, tokens } = await family();
    await server.call('pi_session_abort', { sessionId });
    expect(await turnEnd(server, ids)).toMatchObject({ state: 'aborted' });
    expect(left(tokens)).toEqual([]);
    expect(await run(server, sessionId)).toMatchObject({ state: 'completed', assistantText: 'over' });
  });

  it('close answers only when they are gone, and leaves the server without a child', async () => {
    const { server, sessionId, tokens } = await family();
    expect(await server.call('pi_session_close', { sessionId })).toMatchObject({ session: { state: 'closed' } });
    expect(left(tokens)).toEqual([]);
    await until('the reaper to leave', () => childrenOf(server.pid).length === 0);
  });
});

describe('in the background of a bash call that has ended', () => {
  it.each(['close', 'SIGKILL of the server', 'the end of stdin'])('lives on until %s', async (name) => {
    const tokens = [sleepToken(), sleepToken()];
    const command = `setsid sleep ${tokens[0]} > /dev/null 2>&1 & nohup sleep ${tokens[1]} > /dev/null 2>&1 & echo up`;
    const stage = await useStage({ model: { steps: [bash(command), { text: 'one' }, { text: 'two' }] } });
    const server = await connect(stage);
    const sessionId = await startSession(server, 'coder');
    const ids = await prompt(server, sessionId);
    expect(await turnEnd(server, ids)).toMatchObject({ assistantText: 'one' });
    expect(await run(server, sessionId)).toMatchObject({ assistantText: 'two' });
    expect(left(tokens)).toHaveLength(2);
    await ENDINGS[name]?.({ server, sessionId, tokens, ids });
    await allGone(tokens);
  });
});

it("one session's end leaves the children of another alone", async () => {
  const tokens = [sleepToken(), sleepToken()];
  const [mine, other] = tokens.map((token) => bash(`setsid sleep ${token} > /dev/null 2>&1 & sleep 0`));
  const stage = await useStage({ workspaces: { app: {}, lib: {} } });
  const server = await connect(stage);
  const sessions = [await startSession(server, 'coder', 'app'), await startSession(server, 'coder', 'lib')];
  if (mine && other) stage.model.push(mine, { text: 'a' }, other, { text: 'b' });
  for (const sessionId of sessions) await run(server, sessionId);
  expect(left(tokens)).toHaveLength(2);
  await server.call('pi_session_close', { sessionId: sessions[0] });
  expect(left(tokens)).toHaveLength(1);
  expect(left(tokens)[0]).toContain(tokens[1]);
  server.end();
  await within('the exit', server.exited);
  expect(left(tokens)).toEqual([]);
});
