/** One command of setup, from its arguments to its exit status. What carries it out is loaded when it is known. */
import type { Finding, RunCode, Target } from '../ports/setup/target.ts';
import { type ParsedArguments, SERVER_ALIAS, type SetupCommand } from './arguments.ts';
import { findPlaces, namedConfiguration } from './places.ts';
import { EXIT, type Report } from './report.ts';
import { openFence } from './run-fence.ts';

type Options = Omit<ParsedArguments, 'command'>;
type Command = Exclude<SetupCommand, { kind: 'help' | 'version' | 'codex-hook' }>;
type Misused = (code: 'usage_invalid', problem: string, json: boolean) => number;

/** @returns The exit status. */
export async function execute(command: Command, options: Options, misused: Misused): Promise<number> {
  const stop = (code: RunCode) => stopped(command, code, options.json);
  if (process.platform !== 'linux' && process.platform !== 'darwin') return stop('platform_unsupported');
  const places = findPlaces();
  if (places === undefined) return stop('operation_failed');
  if (command.kind === 'init') {
    const { executeInit } = await import('./init/execute-init.ts');
    return executeInit(command, options, places, misused);
  }
  const configuration = namedConfiguration(options.config, process.env);
  if (configuration === undefined) return stop('config_required');
  if (command.kind === 'mode') {
    const { executeMode } = await import('./modes/execute-mode.ts');
    return executeMode(command, options, places, configuration);
  }
  if (command.kind === 'writers') {
    const { executeWriters } = await import('./writers/execute-writers.ts');
    return executeWriters(command, options, places, configuration);
  }
  if (command.kind === 'customize') {
    const { executeCustomization } = await import('./execute-targets.ts');
    return executeCustomization(command, options, places, configuration);
  }
  const fenced = openFence(places);
  // The guardian takes as long to start as the rest of setup takes to load.
  if (!['dry-run', 'verify'].includes(command.operation)) fenced.begin();
  try {
    const { executeTargets } = await import('./execute-targets.ts');
    return await executeTargets(command, options, places, configuration, fenced);
  } catch (error) {
    // A guardian that nobody lets go of would keep this process.
    await fenced.fence.release();
    throw error;
  }
}

/** A run that ends before it begins says so for everything that it was asked for. */
async function stopped(command: Command, code: RunCode, json: boolean): Promise<number> {
  const { emit, useColours } = await import('./output.ts');
  const status = code === 'platform_unsupported' ? 'unsupported' : 'failed';
  const findings: Finding[] =
    command.kind === 'targets'
      ? command.targets.map((target: Target) => ({ target: { ...target, alias: SERVER_ALIAS }, status, code }))
      : [];
  const operation = command.kind === 'init' ? 'init' : command.operation;
  const report: Report = { schemaVersion: 1, operation, status: 'failed', code, findings };
  emit(report, json, useColours());
  return EXIT.failed;
}
