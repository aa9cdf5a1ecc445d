/** How setup runs a command of a client, and what an end without words means (docs/clients.md). */
import type { CommandResult, CommandRunner } from '../../ports/setup/command.ts';
import type { Inspection, Mutation } from '../../ports/setup/registration.ts';

/** Of one command. Claude Code starts the registered server meanwhile, with a bound of its own. */
const COMMAND_TIMEOUT_MS = 30_000;
/** Of stdout and of stderr each. A client prints less than 2 KiB about one registration. */
const MAX_OUTPUT_BYTES = 256 * 1024;

/** Variables as a process has them. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** A command that came to its own end. */
export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the command did, or what its way of ending means for an inspection and for a mutation. */
export type CommandEnd =
  | { readonly ok: true; readonly printed: Printed }
  | {
      readonly ok: false;
      readonly inspection: Exclude<Inspection, 'absent' | 'equivalent' | 'divergent'>;
      readonly mutation: Exclude<Mutation, 'ended'>;
    };

export interface Invocation {
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** On top of the operator's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export type RunClient = (invocation: Invocation, signal: AbortSignal) => Promise<CommandEnd>;

export const SAYS_NOTHING: CommandEnd = { ok: false, inspection: 'failed', mutation: 'failed' };

/**
 * @param file Name of the client, looked up in the operator's `PATH`.
 * @param environment The operator's own; the client's home, proxies and keys are in there.
 */
export function clientCommands(file: string, runner: CommandRunner, environment: Variables): RunClient {
  const inherited = clientEnvironment(environment);
  return async ({ args, cwd, env }, signal) => {
    if (signal.aborted) return SAYS_NOTHING;
    const bounds = { timeoutMs: COMMAND_TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT_BYTES };
    return endOf(await runner.run({ file, args, cwd, env: { ...inherited, ...env }, ...bounds }, signal));
  };
}

export const mutationOf = (end: CommandEnd): Mutation => {
  if (!end.ok) return end.mutation;
  return end.printed.code === 0 ? 'ended' : 'failed';
};

const COLOUR = new Set(['FORCE_COLOR', 'CLICOLOR', 'CLICOLOR_FORCE', 'COLORTERM']);

/** Everything of the operator's but our own variables, and nothing that paints what a client prints. */
export function clientEnvironment(environment: Variables): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && !name.startsWith('PI_SESSION_MCP_') && !COLOUR.has(name)) kept[name] = value;
  }
  return { ...kept, NO_COLOR: '1', TERM: 'dumb' };
}

function endOf(result: CommandResult): CommandEnd {
  switch (result.kind) {
    case 'exited': {
      const { code, stdout, stderr } = result;
      return code === null ? SAYS_NOTHING : { ok: true, printed: { code, stdout, stderr } };
    }
    case 'not_found':
      return { ok: false, inspection: 'unsupported', mutation: 'failed' };
    case 'retained':
      return { ok: false, inspection: 'failed', mutation: 'retained' };
    case 'timed_out':
    case 'output_too_large':
    case 'interrupted':
      return SAYS_NOTHING;
  }
}

/** The last line that holds anything; clients put warnings before it. */
export function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
