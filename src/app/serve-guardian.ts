/**
 * The guardian process of one setup run (docs/setup.md): commands come as JSON
 * lines on stdin, results go as JSON lines to stdout. A locked lock file may be
 * open as a descriptor of this process; it is let go of by ending, and Node ends
 * by itself once stdin has ended and no command's chart runs.
 */
import { createAdoptedProcess, createGuardedProcess } from '../adapters/process/guarded-process.ts';
import { type GuardianAnswer, isGuardianRequest } from '../adapters/process/guardian-protocol.ts';
import { createLineSplitter, parseLine } from '../adapters/process/json-lines.ts';
import type { Root } from '../adapters/process/scope-members.ts';
import { COMMAND_DEADLINES_MS, type CommandDeadlines } from '../machines/setup/setup-deadlines.ts';
import { createCommandGuardian } from './command-guardian.ts';

/** Nothing of an adopted command is waited for: it is ended at once. */
const ADOPTED_MS = 1;

/** Takes this process over: its streams, its signals and its exit status. */
export function serveGuardian(deadlines: CommandDeadlines = COMMAND_DEADLINES_MS): void {
  const say = (answer: GuardianAnswer): void => void process.stdout.write(`${JSON.stringify(answer)}\n`);
  const fail = (): void => {
    process.exitCode = 1;
  };
  const guardian = createCommandGuardian({ answer: say, deadlines, onDefect: fail });
  const onBytes = createLineSplitter((line) => {
    const request = parseLine(line);
    if (!isGuardianRequest(request)) fail();
    else if (request.type === 'run') {
      const { command, mark } = request;
      const started = (root: Root): void => say({ kind: 'started', root });
      guardian.run(createGuardedProcess(command, mark, started), command.timeoutMs);
    } else {
      if (request.type === 'adopt') guardian.run(createAdoptedProcess(request.trace), ADOPTED_MS);
      guardian.stop();
    }
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
