/** The command line of the doctor. */
import { fileURLToPath } from 'node:url';
import { parseArguments } from './arguments.ts';
import { HELP, USAGE } from './help.ts';
import { coloured, humanReport, plain } from './human-report.ts';
import { hostInput } from './input.ts';
import { type DoctorResult, MISUSE } from './model.ts';
import { runDoctor } from './run-doctor.ts';

/** Built, this file lies in `dist/`; from source one directory deeper. Links, as npm makes them, are already resolved. */
const PACKAGE_ROOT = fileURLToPath(new URL(import.meta.url.endsWith('.js') ? '..' : '../..', import.meta.url));

/** Reads the process's arguments, prints, and sets the exit status. */
export async function runCli(): Promise<void> {
  // A reader that has gone away, as in `| head`, is no reason for a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const asked = parseArguments(process.argv.slice(2));
  switch (asked.kind) {
    case 'help':
      process.stdout.write(HELP);
      return;
    case 'misuse':
      process.stderr.write(`pi-session-mcp-doctor: ${asked.problem}\n${USAGE}\n`);
      if (asked.json) print(MISUSE, true);
      process.exitCode = MISUSE.exitCode;
      return;
    case 'examine': {
      const named = asked.config === undefined ? {} : { PI_SESSION_MCP_CONFIG: asked.config };
      const env = { ...process.env, ...named };
      const result = await runDoctor(hostInput({ packageRoot: PACKAGE_ROOT, env }));
      print(result, asked.json);
      process.exitCode = result.exitCode;
    }
  }
}

function print(result: DoctorResult, json: boolean): void {
  const text = json ? `${JSON.stringify(result, undefined, 2)}\n` : humanReport(result, paint());
  process.stdout.write(text);
}

function paint() {
  const { NO_COLOR, TERM } = process.env;
  const isWanted = process.stdout.isTTY && !NO_COLOR && TERM !== 'dumb';
  return isWanted ? coloured : plain;
}
