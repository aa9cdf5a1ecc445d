/** The stderr writer. A client may have closed stderr, or never read it: neither may hurt us. */
import type { Writable } from 'node:stream';
import type { Diagnostics } from '../../ports/diagnostics.ts';

/** When a reader has stopped reading, lines are dropped rather than kept in memory. */
const MAX_BACKLOG_BYTES = 64 * 1024;

/** Installs an error listener for good, so that nobody's write to a broken stderr ends the process. */
export function createDiagnostics(stream: Writable = process.stderr): Diagnostics {
  stream.on('error', () => {});
  // Taken before anybody guards the stream.
  const write = stream.write.bind(stream);
  return {
    report(level, event, fields) {
      try {
        if (stream.writableLength > MAX_BACKLOG_BYTES) return;
        // Fixed keys first and last: a field cannot replace them.
        const line = Object.assign({ level, event }, fields, { level, event });
        write(`${JSON.stringify(line)}\n`);
      } catch {
        // There is no other place to complain to.
      }
    },
  };
}
