import { spawn } from 'node:child_process';
import { PassThrough, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createCoalescer } from '../../../src/adapters/mcp/coalesce.ts';
import { createDiagnostics } from '../../../src/adapters/mcp/diagnostics.ts';
import { guardStdout } from '../../../src/adapters/mcp/output-guard.ts';
import { recordingDiagnostics } from './harness.ts';

function child(fixture: string) {
  const path = fileURLToPath(new URL(`fixtures/${fixture}.ts`, import.meta.url));
  const started = spawn(process.execPath, ['--no-warnings', path], { stdio: 'pipe' });
  const read = async (stream: NodeJS.ReadableStream) => {
    let text = '';
    for await (const chunk of stream) text += chunk;
    return text;
  };
  const closed = new Promise<number | null>((resolve) => started.once('exit', resolve));
  return { started, read, closed };
}

function setUp() {
  const stream = new PassThrough();
  const diagnostics = recordingDiagnostics();
  const due: (() => void)[] = [];
  const guard = guardStdout({ diagnostics, stream, schedule: (flush) => void due.push(flush) });
  const passed = () => String(stream.read() ?? '');
  return { stream, diagnostics, due, guard, passed };
}

describe('the stdout guard', () => {
  it('lets its own output through and nothing else, and counts without quoting', async () => {
    const { stream, diagnostics, due, guard, passed } = setUp();
    stream.write('foreign');
    stream.write('\u{1f600}\n');
    stream.write(new Uint8Array(3));
    stream.write('beef', 'hex');
    stream.end('end');
    await new Promise<unknown>((resolve) => guard.output.write('own\n', resolve));
    expect(passed()).toBe('own\n');
    for (const flush of due) flush();
    expect(diagnostics.reports).toEqual([
      { level: 'warn', event: 'foreign_stdout_suppressed', fields: { bytes: 7 + 5 + 3 + 2 + 3, writes: 5 } },
    ]);
    expect(stream.writableEnded).toBe(false);
  });

  it('calls the callbacks of foreign writers, in every position', async () => {
    const { stream, passed } = setUp();
    expect(stream.write('a')).toBe(true);
    await new Promise<unknown>((resolve) => stream.write('a', resolve));
    await new Promise<unknown>((resolve) => stream.write('a', 'utf8', resolve));
    await new Promise<void>((resolve) => stream.end(resolve));
    await new Promise<void>((resolve) => stream.end('a', resolve));
    await new Promise<void>((resolve) => stream.end('a', 'utf8', resolve));
    expect(passed()).toBe('');
  });

  it('takes nonsense without throwing', () => {
    const { stream, due, diagnostics } = setUp();
    const write = stream.write as (...args: unknown[]) => boolean;
    for (const chunk of [undefined, null, 5, {}, Symbol('x')]) expect(write(chunk)).toBe(true);
    for (const flush of due) flush();
    expect(diagnostics.reports).toMatchObject([{ fields: { bytes: 0, writes: 5 } }]);
  });

  it('reports a flood in one line now and one later', () => {
    const { stream, due, diagnostics } = setUp();
    for (let i = 0; i < 1_000; i += 1) stream.write('ab');
    expect(due).toHaveLength(1);
    due.pop()?.();
    for (let i = 0; i < 10; i += 1) stream.write('ab');
    due.pop()?.();
    expect(diagnostics.reports.map(({ fields }) => fields)).toEqual([
      { bytes: 2_000, writes: 1_000 },
      { bytes: 20, writes: 10 },
    ]);
  });

  it('a stdout that breaks while nobody listens yet ends nothing', async () => {
    const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
    const guard = guardStdout({ diagnostics: recordingDiagnostics(), stream });
    const error = await new Promise<unknown>((resolve) => guard.output.write('x', resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(error).toBeInstanceOf(Error);
  });

  it('holds in a real process against console and stream, and reports before the exit', async () => {
    const { started, read, closed } = child('noisy');
    const [out, err, code] = await Promise.all([read(started.stdout), read(started.stderr), closed]);
    expect(out).toBe('{"first":1}\n{"last":1}\n');
    expect(code).toBe(0);
    expect(err).not.toContain('SECRET');
    const lines = err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ level: 'warn', event: 'foreign_stdout_suppressed' });
    expect(lines.reduce((sum, line) => sum + line.writes, 0)).toBe(7);
  });
});

describe('diagnostics', () => {
  it('are one JSON line each, and a field cannot replace the fixed ones', () => {
    const stream = new PassThrough();
    const diagnostics = createDiagnostics(stream);
    diagnostics.report('error', 'startup_failed', { stage: 'startup', code: 'a\nb', event: 'other' });
    diagnostics.report('info', 'plain');
    expect(String(stream.read())).toBe(
      '{"level":"error","event":"startup_failed","stage":"startup","code":"a\\nb"}\n{"level":"info","event":"plain"}\n',
    );
  });

  it('survive a stream that throws, fails, or is gone', async () => {
    const throwing = new Writable();
    throwing.write = () => {
      throw new Error('EPIPE');
    };
    createDiagnostics(throwing).report('warn', 'x');
    const failing = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
    const diagnostics = createDiagnostics(failing);
    diagnostics.report('warn', 'x');
    await new Promise((resolve) => setImmediate(resolve));
    diagnostics.report('warn', 'x');
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('are dropped, not hoarded, when nobody reads', () => {
    const stream = new Writable({ write: () => {} });
    const diagnostics = createDiagnostics(stream);
    for (let i = 0; i < 10_000; i += 1) diagnostics.report('warn', 'x'.repeat(100));
    expect(stream.writableLength).toBeLessThan(80 * 1024);
  });

  it.each([
    ['closed', true],
    ['never read', false],
  ])('neither end nor stall a process whose stderr is %s', async (_, close) => {
    const { started, closed } = child('broken-stderr');
    if (close) started.stderr.destroy();
    let out = '';
    for await (const chunk of started.stdout) {
      out += chunk;
      if (out === 'ready\n') started.stdin.write('go\n');
    }
    started.stderr.destroy();
    expect(out).toBe('ready\nalive true\n');
    expect(await closed).toBe(0);
  });
});

it('a client that closes its end of stdout is noticed, and nothing crashes', async () => {
  const { started, closed } = child('broken-stdout');
  let err = '';
  for await (const chunk of started.stderr) {
    err += chunk;
    if (err !== 'ready\n') continue;
    started.stdout.destroy();
    started.stdin.write('{"jsonrpc":"2.0","method":"go"}\n');
  }
  expect(err).toBe('ready\nend stdout_failed\n');
  expect(await closed).toBe(0);
});

describe('the coalescer', () => {
  it('adds up, reports soon at first and once a second later, and never holds the process', () => {
    const reports: unknown[] = [];
    const due: { flush: () => void; delayMs: number }[] = [];
    const coalescer = createCoalescer(
      (counts) => reports.push(counts),
      (flush, delayMs) => due.push({ flush, delayMs }),
    );
    coalescer.flush();
    expect(reports).toEqual([]);
    coalescer.add({ a: 1 });
    coalescer.add({ a: 2, b: 1 });
    due.shift()?.flush();
    coalescer.add({ a: 5 });
    coalescer.flush();
    expect(reports).toEqual([{ a: 3, b: 1 }, { a: 5 }]);
    due.shift()?.flush();
    expect(reports).toHaveLength(2);
    coalescer.add({ a: 7 });
    expect(due.map(({ delayMs }) => delayMs)).toEqual([1_000]);
  });
});

describe('the stderr guard', () => {
  it('lets only the diagnostics through, and counts what others print and warn about', async () => {
    const { started, read, closed } = child('noisy-stderr');
    const text = await read(started.stderr);
    expect(await closed).toBe(0);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines).toEqual([
      { level: 'info', event: 'ours' },
      { level: 'warn', event: 'foreign_stderr_suppressed', bytes: 32, writes: 3, warnings: 1 },
    ]);
  });
});
