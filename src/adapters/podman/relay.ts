/**
 * A box whose stdin, stdout and stderr are the launcher's own. Stdin passes
 * through here, because its end must be seen on this side too; stdout is handed
 * over as it is. Of stderr only diagnostics pass: Podman's own words name paths.
 */
import type { Readable, Writable } from 'node:stream';
import type { BoundaryHost, BoxCommand } from '../../ports/writers/boundary.ts';
import type { Instance } from './instance.ts';
import { type BoxEnd, type BoxSpec, type RunningBox, startBox } from './start.ts';

/** The server ends itself within 15 s; the rest is for Podman. */
const GRACE_SECONDS = 20;
const MAX_LINE_BYTES = 64 * 1024;
const LINE_END = 10;

export interface RelayStreams {
  readonly stdin: Readable;
  readonly stderr: Writable;
}

export interface Relay {
  /** Ends the command's stdin; it then has the grace period. */
  end(): void;
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

function passStdin(stdin: Readable, { client }: RunningBox, onEnd: () => void): void {
  const target = client.stdin;
  if (!target) return;
  target.on('error', () => {});
  stdin.on('error', () => target.end());
  stdin.once('close', onEnd);
  stdin.once('end', onEnd);
  stdin.pipe(target);
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
    const full = { ...spec, command, graceSeconds: GRACE_SECONDS };
    box = startBox(host, instance, full, ['pipe', 'inherit', 'pipe']);
  } catch {
    return undefined;
  }
  const { client } = box;
  passStdin(streams.stdin, box, () => box.ending());
  client.stderr?.on('error', () => {});
  client.stderr?.on(
    'data',
    diagnosticLines((line) => streams.stderr.write(line)),
  );
  return {
    ended: box.ended,
    end() {
      // Not a signal for the client: before the box runs that would end the client halfway, and leave a part of it.
      streams.stdin.unpipe();
      client.stdin?.end();
      box.ending();
    },
  };
}
