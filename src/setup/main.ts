/** Entry of `pi-session-mcp-setup` (docs/setup.md). Reads the command line, runs one command, prints one report. */
import { SERVER_VERSION } from '../version.ts';
import { parseArguments } from './arguments.ts';
import { EXIT, jsonReport, type Report } from './report.ts';

const parsed = parseArguments(process.argv.slice(2));
if (!parsed.ok) {
  misused(parsed.code, parsed.problem, parsed.json);
} else if (parsed.value.command.kind === 'help') {
  const { HELP } = await import('./help.ts');
  print(HELP);
} else if (parsed.value.command.kind === 'version') {
  print(`${SERVER_VERSION}\n`);
} else if (parsed.value.command.kind === 'codex-hook') {
  const { codexHook } = await import('./wake-hook.ts');
  print(codexHook());
} else {
  // Loaded when there is something to do: --help must not wait for a lock, a client or a library.
  const { command, ...options } = parsed.value;
  try {
    const { execute } = await import('./execute.ts');
    process.exitCode = await execute(command, options, misused);
  } catch {
    // A defect. Its own words would hold paths.
    const operation = command.kind === 'init' ? 'init' : command.operation;
    const report: Report = { schemaVersion: 1, operation, status: 'failed', code: 'operation_failed', findings: [] };
    const { emit, useColours } = await import('./output.ts');
    emit(report, options.json, useColours());
    process.exitCode = EXIT.failed;
  }
}

function misused(code: 'usage_invalid' | 'target_invalid', problem: string, json: boolean): number {
  const report: Report = { schemaVersion: 1, operation: null, status: 'failed', code, findings: [] };
  if (json) print(jsonReport(report));
  else process.stderr.write(`pi-session-mcp-setup: ${code}: ${problem}\nTry --help.\n`);
  process.exitCode = EXIT.misuse;
  return EXIT.misuse;
}

function print(text: string): void {
  // A reader that has gone away, as in `| head`, is no reason for a stack trace.
  process.stdout.on('error', () => {});
  process.stdout.write(text);
}
