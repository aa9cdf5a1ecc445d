/** How the server's process ends: what its status is, what is still answered, and that nothing is left. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { cpuMs } from './kit/processes.ts';
import { connect, INITIALIZE, INITIALIZED, launch, request, type Server, toolCall } from './kit/server.ts';
import { prompt, startSession } from './kit/sessions.ts';
import { useStage } from './kit/stage.ts';
import { until, within } from './kit/until.ts';

const EXITED_0 = { code: 0, signal: null };

function exit(server: Server, deadlineMs?: number) {
  return within('the exit', server.exited, deadlineMs);
}

describe('the end of stdin', () => {
  it('before initialize: status 0, and not a byte', async () => {
    const server = launch(await useStage());
    server.end();
    expect(await within('the exit', server.closed)).toEqual(EXITED_0);
    expect(server).toMatchObject({ stdout: '', stderr: '' });
  });

  it('in the middle of a line', async () => {
    const server = await connect(await useStage());
    server.end(Buffer.from('{"jsonrpc":"2.0","id":1,"meth'));
    expect(await exit(server)).toEqual(EXITED_0);
  });

  it('after initialize', async () => {
    const server = await connect(await useStage());
    server.end();
    expect(await within('the exit', server.closed)).toEqual(EXITED_0);
    expect(server.stderr).toBe('');
  });

  it('with everything in one write: all is answered, once, before the exit', async () => {
    const server = launch(await useStage());
    const reads = Array.from({ length: 50 }, (_, index) => toolCall(`read-${index}`, 'pi_capabilities_get'));
    server.end(
      request('hello', 'initialize', INITIALIZE),
      INITIALIZED,
      request('list', 'tools/list'),
      ...reads,
      toolCall('start', 'pi_session_start', { workspace: 'app' }),
      toolCall('nowhere', 'pi_session_start', { workspace: 'nowhere' }),
      request('what', 'no/such/method'),
      'no json',
      toolCall('sessions', 'pi_session_list'),
    );
    expect(await within('the exit', server.closed)).toEqual(EXITED_0);
    const ids = ['hello', 'list', ...reads.map((read) => read['id']), 'start', 'nowhere', 'what', null, 'sessions'];
    for (const id of ids) expect([id, server.answersTo(id).length]).toEqual([id, 1]);
    expect(server.frames).toHaveLength(ids.length);
    const code = (id: string) => server.answersTo(id)[0]?.['result'].structuredContent.error?.code;
    expect(code('start')).toBe('server_stopping');
    expect(code('nowhere')).toBe('unknown_workspace');
  });

  // Different moments of the start: before, while and after the SDK loads.
  it.each([0, 100, 300, 600])('with a start in flight for %d ms: cancelled or done, answered once', async (delayMs) => {
    const server = await connect(await useStage());
    server.write(toolCall('start', 'pi_session_start', { workspace: 'app' }));
    await pause(delayMs);
    server.end();
    expect(await within('the exit', server.closed)).toEqual(EXITED_0);
    const [answer, ...others] = server.answersTo('start');
    expect(others).toEqual([]);
    const body = answer?.['result'].structuredContent;
    if (!body.ok) expect(body.error.code).toBe('server_stopping');
    expect(server.stderr).toBe('');
  });

  it('while a turn hangs: the connection to the provider is closed', async () => {
    const stage = await useStage({ model: { steps: [{ hang: 'after-headers' }] } });
    const server = await connect(stage);
    await prompt(server, await startSession(server));
    const { closed } = await stage.model.arrived(0);
    server.end();
    expect(await exit(server)).toEqual(EXITED_0);
    await within('the end of the connection', closed);
  });
});

describe('a client that breaks its pipes', () => {
  const BREAKS: Readonly<Record<string, (server: Server) => void>> = {
    stdout: ({ child }) => child.stdout?.destroy(),
    stderr: ({ child }) => child.stderr?.destroy(),
    'stdout and stderr': ({ child }) => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
  };

  it.each(Object.keys(BREAKS))('%s, then the end of stdin: status 0', async (what) => {
    const server = await connect(await useStage());
    BREAKS[what]?.(server);
    // Something for each of the two broken pipes to say.
    server.end('no json', toolCall('late', 'pi_capabilities_get'));
    expect(await exit(server)).toEqual(EXITED_0);
  });

  it('stdout alone: the server notices with its next answer and ends', async () => {
    const server = await connect(await useStage());
    server.child.stdout?.destroy();
    server.write(toolCall('late', 'pi_capabilities_get'));
    expect(await exit(server)).toEqual(EXITED_0);
  });

  it('stderr alone: the server goes on', async () => {
    const server = await connect(await useStage());
    server.child.stderr?.destroy();
    server.write('no json');
    expect(await server.call('pi_capabilities_get')).toMatchObject({ ok: true });
    expect(await server.call('pi_session_start', { workspace: 'app' })).toMatchObject({ ok: true });
  });

  it('all of them, in the middle of a turn: status 0 and the connection to the provider closed', async () => {
    const stage = await useStage({ model: { steps: [{ hang: 'after-headers' }] } });
    const server = await connect(stage);
    await prompt(server, await startSession(server));
    const { closed } = await stage.model.arrived(0);
    BREAKS['stdout and stderr']?.(server);
    server.child.stdin?.destroy();
    expect(await exit(server)).toEqual(EXITED_0);
    await within('the end of the connection', closed);
  });
});

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

describe('a signal', () => {
  it.each(SIGNALS)('%s on an idle server: status %d', async (signal, code) => {
    const server = await connect(await useStage());
    server.child.kill(signal);
    expect(await within('the exit', server.closed)).toEqual({ code, signal: null });
    expect(server.stderr).toBe('');
  });

  it.each(SIGNALS)(
    '%s while a turn hangs: status %d, and the connection to the provider is closed',
    async (signal, code) => {
      const stage = await useStage({ model: { steps: [{ hang: 'before-headers' }] } });
      const server = await connect(stage);
      await prompt(server, await startSession(server));
      const { closed } = await stage.model.arrived(0);
      server.child.kill(signal);
      expect(await exit(server)).toEqual({ code, signal: null });
      await within('the end of the connection', closed);
    },
  );

  it('the first trigger decides: SIGTERM and then the end of stdin is 143', async () => {
    const stage = await useStage({ model: { steps: [{ hang: 'before-headers' }] } });
    const server = await connect(stage);
    await prompt(server, await startSession(server));
    const { closed } = await stage.model.arrived(0);
    server.child.kill('SIGTERM');
    // Only then is the signal certain to have been seen first.
    await within('the end of the connection', closed);
    server.child.stdin?.destroy();
    expect(await exit(server)).toEqual({ code: 143, signal: null });
  });
});

/** A server that wants to go but still has answers that nobody reads. */
async function stuckServer(): Promise<Server> {
  const server = await connect(await useStage());
  server.child.stdout?.pause();
  // Node reads a little ahead of a pause; this is far more than that and the pipe hold.
  server.write(...Array.from({ length: 200 }, (_, index) => request(`list-${index}`, 'tools/list')));
  return server;
}

describe('a client that reads nothing any more', () => {
  it('keeps the server no longer than a second signal, and costs no CPU meanwhile', async () => {
    const server = await stuckServer();
    server.child.stdin?.end();
    // The requests before the end have been worked off once the CPU time stands still.
    let before = -1;
    await until('the server to be quiet', async () => {
      const last = before;
      before = cpuMs(server.pid) ?? 0;
      await pause(200);
      return last === before;
    });
    await pause(1_000);
    const after = cpuMs(server.pid);
    // It is still there, held by what it could not write, and does not spin.
    expect(after).toBeDefined();
    expect((after ?? 0) - before).toBeLessThan(200);
    server.child.kill('SIGTERM');
    await pause(200);
    server.child.kill('SIGTERM');
    expect(await exit(server, 3_000)).toEqual(EXITED_0);
  });

  it('cannot hold it for ever', async () => {
    const server = await stuckServer();
    server.child.kill('SIGINT');
    // The bound of the whole shutdown is 15 s (docs/lifecycle.md).
    expect(await exit(server, 20_000)).toEqual({ code: 130, signal: null });
  });
});
