/** How the connection ends, and what a client that does not read can do to us. */
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { StdioTransport } from '../../../src/adapters/mcp/stdio-transport.ts';
import { call, fakeService, recordingDiagnostics, SESSION, startRaw } from './harness.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('the end', () => {
  it('of stdin is told once, also before initialize', async () => {
    const server = await startRaw();
    server.stdin.end();
    server.stdin.destroy();
    while (server.ends.length === 0) await tick();
    await tick();
    expect(server.ends).toEqual(['stdin_ended']);
  });

  it('is told when stdin fails, or closes without an end', async () => {
    const failing = await startRaw();
    failing.stdin.destroy(new Error('EIO'));
    const closing = await startRaw();
    closing.stdin.destroy();
    while (failing.ends.length === 0 || closing.ends.length === 0) await tick();
    expect([failing.ends, closing.ends]).toEqual([['stdin_failed'], ['stdin_ended']]);
  });

  it('is told when stdin was over before anybody listened', async () => {
    const stdin = new PassThrough();
    stdin.resume().end();
    while (!stdin.readableEnded) await tick();
    const ends: string[] = [];
    const transport = new StdioTransport({
      stdin,
      output: new PassThrough(),
      diagnostics: recordingDiagnostics(),
      onEnd: (reason) => ends.push(reason),
    });
    await transport.start();
    await tick();
    expect(ends).toEqual(['stdin_ended']);
  });

  it('what was asked before the end is still answered', async () => {
    const server = await startRaw();
    server.stdin.end(`${JSON.stringify(call('pi_session_list', {}, 5))}\n`);
    while (server.ends.length === 0) await tick();
    await server.transport.close();
    expect(server.frames).toMatchObject([{ id: 5, result: { structuredContent: { ok: true } } }]);
  });

  it('of stdout is told by its error, and close still resolves', async () => {
    const server = await startRaw();
    server.stdout.destroy(new Error('EPIPE'));
    while (server.ends.length === 0) await tick();
    expect(server.ends).toEqual(['stdout_failed']);
    server.stdin.write(`${JSON.stringify(call('pi_session_list', {}, 5))}\n`);
    await tick();
    await server.transport.close();
  });

  it('a write that throws counts as the end of stdout', async () => {
    const ends: string[] = [];
    const stdin = new PassThrough();
    const transport = new StdioTransport({
      stdin,
      output: {
        on: () => {},
        write: () => {
          throw new Error('EBADF');
        },
      },
      diagnostics: recordingDiagnostics(),
      onEnd: (reason) => ends.push(reason),
    });
    await transport.start();
    await expect(transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toThrow('the client is gone');
    await transport.close();
    expect(ends).toEqual(['stdout_failed']);
  });

  it('close may be called any number of times, tells the SDK once, and no end after it', async () => {
    const server = await startRaw();
    const sdk = server.transport.onclose;
    let closed = 0;
    server.transport.onclose = () => {
      closed += 1;
      sdk?.();
    };
    await Promise.all([server.transport.close(), server.transport.close()]);
    await server.transport.close();
    server.stdin.destroy();
    await tick();
    expect(closed).toBe(1);
    expect(server.ends).toEqual([]);
  });

  it('nothing that arrives after close is handled', async () => {
    const service = fakeService();
    const server = await startRaw(service);
    const closing = server.transport.close();
    server.stdin.write(`${JSON.stringify(call('pi_session_list', {}, 5))}\n`);
    await closing;
    await tick();
    expect(service.calls).toEqual([]);
  });

  it('an answer decided just before close still goes out', async () => {
    let settle: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const server = await startRaw(
      fakeService({ close: () => held.then(() => ({ ok: false, code: 'server_stopping' })) }),
    );
    await server.exchange(call('pi_session_close', { sessionId: SESSION.id }, 5));
    settle?.();
    await server.transport.close();
    await tick();
    expect(server.frames.find((frame) => frame['id'] === 5)).toMatchObject({ result: { isError: true } });
  });
});

/** A reader that takes nothing until it is told to. */
function blockedOutput(): { output: Writable; release: () => void; received: () => number } {
  const held: (() => void)[] = [];
  let blocked = true;
  let received = 0;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      if (blocked) held.push(done);
      else done();
    },
  });
  const release = () => {
    blocked = false;
    for (const done of held.splice(0)) done();
  };
  return { output, release, received: () => received };
}

describe('a client that does not read', () => {
  it('is not read from either, until it reads again', async () => {
    const stdin = new PassThrough({ highWaterMark: 1024 });
    const { output, release } = blockedOutput();
    const transport = new StdioTransport({ stdin, output, diagnostics: recordingDiagnostics(), onEnd: () => {} });
    await transport.start();
    const answer = { jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(1024 * 1024) } } as const;
    const sent = Array.from({ length: 9 }, () => transport.send(answer));
    expect(stdin.isPaused()).toBe(true);
    release();
    await Promise.all(sent);
    expect(stdin.isPaused()).toBe(false);
  });

  it('and then goes away does not hold close up', async () => {
    const { output } = blockedOutput();
    const transport = new StdioTransport({
      stdin: new PassThrough(),
      output,
      diagnostics: recordingDiagnostics(),
      onEnd: () => {},
    });
    await transport.start();
    transport.send({ jsonrpc: '2.0', method: 'a' }).catch(() => {});
    const closing = transport.close();
    await tick();
    await tick();
    output.destroy(new Error('EPIPE'));
    await closing;
  });

  it('is waited for by close', async () => {
    const { output, release, received } = blockedOutput();
    const transport = new StdioTransport({
      stdin: new PassThrough(),
      output,
      diagnostics: recordingDiagnostics(),
      onEnd: () => {},
    });
    await transport.start();
    const sent = [transport.send({ jsonrpc: '2.0', method: 'a' }), transport.send({ jsonrpc: '2.0', method: 'b' })];
    let closed = false;
    const closing = transport.close().then(() => {
      closed = true;
    });
    await tick();
    await tick();
    expect(closed).toBe(false);
    release();
    await Promise.all([...sent, closing]);
    expect(received()).toBe(2 * '{"jsonrpc":"2.0","method":"a"}\n'.length);
  });
});

it('starts once', async () => {
  const server = await startRaw();
  await expect(server.transport.start()).rejects.toThrow('already started');
});
