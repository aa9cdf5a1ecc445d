/**
 * A box whose stdin, stdout and stderr are the launcher's own. Stdin passes
 * through here, because its end must be seen on this side too; stdout is handed
 * over as it is. Of stderr only diagnostics pass: Podman's own words name paths.
 */
import type { Readable, Writable } from 'node:stream';
import type { BoundaryHost, BoxCommand } from '../../ports/writers/boundary.ts';
import type { Instance } from './instance.ts';
import { type BoxEnd, type BoxSpec, type RunningBox, startBox } from './start.ts';

/**
 * What watchdog and supervisor wait for by themselves: they have to hold when the launcher hangs or was killed. One that
 * lives asks for the removal when the grace of its chart is over; theirs is longer, so that who decides is no race.
 */
const BACKSTOP_SECONDS = 22;
const MAX_LINE_BYTES = 64 * 1024;
const LINE_END = 10;

export interface RelayStreams {
  readonly stdin: Readable;
  readonly stderr: Writable;
}

export interface Relay {
  /** Calls when the client's side of stdin has ended, also when it had before. Returns how to stop looking. */
  watchInput(onEnd: () => void): () => void;
  /** Ends the command's stdin, so that it ends by itself. It may be asked again. */
  end(): void;
  /** Removes the box, now. */
  remove(): void;
  /** Never rejects. */
  readonly ended: Promise<BoxEnd>;
}

function isDiagnostic(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'level' in value && 'event' in value;
  } catch {
    return false;
  }
}

/** Hands on each line that is one diagnostic, and drops everything else. Exported for its test. */
export function diagnosticLines(write: (line: string) => void): (chunk: Buffer) => void {
  let pending = Buffer.alloc(0);
  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    for (let end = pending.indexOf(LINE_END); end >= 0; end = pending.indexOf(LINE_END)) {
      const line = pending.subarray(0, end).toString('utf8');
      pending = pending.subarray(end + 1);
      if (isDiagnostic(line)) write(`${line}\n`);
    }
    // A line that has no end is no diagnostic.
    if (pending.byteLength > MAX_LINE_BYTES) pending = Buffer.alloc(0);
  };
}

function passStdin(stdin: Readable, { client }: RunningBox): void {
  const target = client.stdin;
  if (!target) return;
  target.on('error', () => {});
  stdin.on('error', () => target.end());
  stdin.pipe(target);
}

function watchEnd(stdin: Readable, onEnd: () => void): () => void {
  if (stdin.readableEnded || stdin.destroyed) onEnd();
  const events = ['end', 'close'] as const;
  for (const event of events) stdin.once(event, onEnd);
  return () => {
    for (const event of events) stdin.off(event, onEnd);
  };
}

/** Undefined when nothing could be started. */
export function relay(
  host: BoundaryHost,
  instance: Instance,
  spec: Omit<BoxSpec, 'command' | 'graceSeconds' | 'marked'>,
  command: BoxCommand,
  streams: RelayStreams,
): Relay | undefined {
  let box: RunningBox;
  try {
    const full = { ...spec, command, graceSeconds: BACKSTOP_SECONDS };
    box = startBox(host, instance, full, ['pipe', 'inherit', 'pipe']);
  } catch {
    return undefined;
  }
  const { client } = box;
  passStdin(streams.stdin, box);
  client.stderr?.on('error', () => {});
  client.stderr?.on(
    'data',
    diagnosticLines((line) => streams.stderr.write(line)),
  );
  return {
    watchInput: (onEnd) => watchEnd(streams.stdin, onEnd),
    end() {
      // Not a signal for the client: before the box runs that would end the client halfway, and leave a part of it.
      streams.stdin.unpipe();
      client.stdin?.end();
      box.ending();
    },
    remove: () => box.remove(),
    ended: box.ended,
  };
}
