/** Runs one command in a box and keeps what it writes. */
import type { Readable } from 'node:stream';
import type { BoundaryHost, CaptureCommand, CaptureOutcome } from '../../ports/writers/boundary.ts';
import type { Instance } from './instance.ts';
import { type BoxEnd, type BoxSpec, type RunningBox, startBox } from './start.ts';
import { MARK } from './supervisor.ts';

const MARK_BYTE = MARK.charCodeAt(0);
/** Podman's own warnings around the command's stderr. */
const SLACK_BYTES = 64 * 1024;
const MS = 1000;

interface Collected {
  bytes(): Buffer;
}

function collect(stream: Readable | null, limit: number, onTooMuch: () => void): Collected {
  const chunks: Buffer[] = [];
  let size = 0;
  stream?.on('error', () => {});
  stream?.on('data', (chunk: Buffer) => {
    size += chunk.byteLength;
    if (size > limit) onTooMuch();
    else chunks.push(chunk);
  });
  return { bytes: () => Buffer.concat(chunks) };
}

/** What the command wrote, without what Podman wrote around it; undefined when the command never started. */
export function unmark(stderr: Buffer): Buffer | undefined {
  const start = stderr.indexOf(MARK_BYTE);
  if (start < 0) return undefined;
  const end = stderr.lastIndexOf(MARK_BYTE);
  return stderr.subarray(start + 1, end > start ? end : undefined);
}

type CutShort = 'timed_out' | 'output_too_large' | 'interrupted';

/** Resolves with the reason for the first thing that cuts the command short; the caller removes the box. */
function cutShort(box: RunningBox, command: CaptureCommand, signal: AbortSignal | undefined) {
  let reason: CutShort | undefined;
  const cut = (why: CutShort) => (): void => {
    reason ??= why;
    box.remove();
  };
  const timer = setTimeout(cut('timed_out'), command.timeoutMs);
  const interrupt = cut('interrupted');
  if (signal?.aborted) interrupt();
  signal?.addEventListener('abort', interrupt, { once: true });
  return {
    tooMuch: cut('output_too_large'),
    reason: (): CutShort | undefined => reason,
    stop(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', interrupt);
    },
  };
}

function outcomeOf(end: BoxEnd, stdout: Buffer, marked: Buffer): CaptureOutcome {
  if (end.kind !== 'ended') return { kind: end.kind };
  const stderr = unmark(marked);
  if (stderr === undefined) return { kind: 'not_started' };
  // The client itself was killed: nobody can tell how the command ended.
  return end.code === null ? { kind: 'interrupted' } : { kind: 'ended', code: end.code, stdout, stderr };
}

/** Nothing of the command lives when this resolves, except after `retained`. Never rejects. */
export async function capture(
  host: BoundaryHost,
  instance: Instance,
  spec: Omit<BoxSpec, 'command' | 'graceSeconds' | 'marked'>,
  command: CaptureCommand,
  signal?: AbortSignal,
): Promise<CaptureOutcome> {
  // Its stdin ends at once, which is no reason to end it.
  const graceSeconds = Math.ceil(command.timeoutMs / MS) + 1;
  let box: RunningBox;
  try {
    box = startBox(host, instance, { ...spec, command, graceSeconds, marked: true }, 'pipe');
  } catch {
    return { kind: 'not_started' };
  }
  const { client } = box;
  const cut = cutShort(box, command, signal);
  const stdout = collect(client.stdout, command.maxOutputBytes, cut.tooMuch);
  const stderr = collect(client.stderr, command.maxOutputBytes + SLACK_BYTES, cut.tooMuch);
  const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
  client.stdin?.on('error', () => {});
  client.stdin?.end(command.input);
  const end = await box.ended;
  if (end.kind === 'ended') await closed;
  cut.stop();
  const reason = cut.reason();
  if (reason && end.kind !== 'retained') return { kind: reason };
  return outcomeOf(end, stdout.bytes(), stderr.bytes());
}
