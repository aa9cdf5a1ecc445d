/**
 * stdout is the protocol channel, and stderr carries single JSON lines that name
 * no path and quote nobody. From here on only their owners write to them; what
 * anybody else writes is dropped and counted, because one stray line of a
 * dependency breaks the connection, or tells what must not be told. The methods
 * of `console` end in these streams, so that two places are enough.
 */
import type { Writable } from 'node:stream';
import type { Diagnostics } from '../../ports/diagnostics.ts';
import { type Coalescer, createCoalescer, type Schedule } from './coalesce.ts';

/** The part of a stream that the transport needs. */
export interface FrameOutput {
  write(frame: string, done: (error?: Error | null) => void): boolean;
  on(event: 'error' | 'close', listener: () => void): unknown;
}

export interface StdoutGuard {
  /** The one way through. */
  readonly output: FrameOutput;
  /** Reports what is counted but not reported yet. */
  flush(): void;
}

export interface GuardOptions {
  readonly diagnostics: Diagnostics;
  readonly stream?: Writable;
  readonly schedule?: Schedule;
}

function byteCount(chunk: unknown, encoding: unknown): number {
  if (typeof chunk === 'string') {
    return Buffer.byteLength(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
  }
  return ArrayBuffer.isView(chunk) ? chunk.byteLength : 0;
}

/** Writers may wait for their callback, so it is called as if the bytes had gone out. */
function acknowledge(candidates: readonly unknown[]): void {
  const callback = candidates.find((candidate) => typeof candidate === 'function');
  if (callback) process.nextTick(callback as () => void);
}

/** Call it before anything else is loaded that might print. */
export function guardStdout(options: GuardOptions): StdoutGuard {
  const { stream = process.stdout as Writable } = options;
  const write = stream.write.bind(stream) as FrameOutput['write'];
  const dropped = dropForeignWrites(stream, 'foreign_stdout_suppressed', options);
  // A broken stdout is the transport's business; until it listens, and after, it must not end the process.
  stream.on('error', () => {});
  return { output: { write, on: (event, listener) => stream.on(event, listener) }, flush: dropped.flush };
}

/**
 * Call it after `createDiagnostics`, which keeps its own way to the stream. Node prints warnings past
 * `process.stderr`, so they are counted as what they are.
 */
export function guardStderr(options: GuardOptions): void {
  const { stream = process.stderr as Writable } = options;
  const dropped = dropForeignWrites(stream, 'foreign_stderr_suppressed', options);
  process.removeAllListeners('warning');
  process.on('warning', () => dropped.add({ warnings: 1 }));
}

function dropForeignWrites(stream: Writable, event: string, { diagnostics, schedule }: GuardOptions): Coalescer {
  const dropped = createCoalescer((counts) => diagnostics.report('warn', event, counts), schedule);
  const drop = (chunk: unknown, encoding: unknown) => dropped.add({ bytes: byteCount(chunk, encoding), writes: 1 });

  const foreignWrite = (chunk: unknown, encoding?: unknown, callback?: unknown): boolean => {
    drop(chunk, encoding);
    acknowledge([encoding, callback]);
    return true;
  };
  const foreignEnd = (chunk?: unknown, encoding?: unknown, callback?: unknown): Writable => {
    if (chunk !== undefined && chunk !== null && typeof chunk !== 'function') drop(chunk, encoding);
    acknowledge([chunk, encoding, callback]);
    return stream;
  };
  stream.write = foreignWrite as Writable['write'];
  stream.end = foreignEnd as Writable['end'];
  process.on('exit', dropped.flush);
  return dropped;
}
