/**
 * The guardian process of one setup run (docs/setup.md): commands come as JSON
 * lines on stdin, results go as JSON lines to stdout. A locked lock file may be
 * open as a descriptor of this process; it is let go of by ending, and Node ends
 * by itself once stdin has ended and no command's chart runs.
 */
import { createGuardedProcess } from '../adapters/process/guarded-process.ts';
import { isGuardianRequest } from '../adapters/process/guardian-protocol.ts';
import { createLineSplitter, parseLine } from '../adapters/process/json-lines.ts';
import { COMMAND_DEADLINES_MS, type CommandDeadlines } from '../machines/setup/setup-deadlines.ts';
import { createCommandGuardian } from './command-guardian.ts';

/** Takes this process over: its streams, its signals and its exit status. */
export function serveGuardian(deadlines: CommandDeadlines = COMMAND_DEADLINES_MS): void {
  const guardian = createCommandGuardian({
    open: (command) => createGuardedProcess(command),
    answer: (result) => process.stdout.write(`${JSON.stringify(result)}\n`),
    deadlines,
    onDefect: () => {
      process.exitCode = 1;
    },
  });
  const onBytes = createLineSplitter((line) => {
    const request = parseLine(line);
    if (!isGuardianRequest(request)) process.exitCode = 1;
    else if (request.type === 'run') guardian.run(request.command);
    else guardian.stop();
  });
  // Setup has let go, or is dead however it died: the kernel closes its end of the pipe.
  process.stdin.on('data', onBytes);
  process.stdin.on('end', guardian.stop);
  process.stdin.on('error', guardian.stop);
  // Nobody reads the answers any more; the end of stdin says the same.
  process.stdout.on('error', () => {});
  // It does not end by a signal: what it guards does.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, guardian.stop);
}
