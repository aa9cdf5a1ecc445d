/** One command of setup, from its arguments to its exit status. */
import { dirname, join } from 'node:path';
import { customization } from '../adapters/fs/customization.ts';
import { isSkillName } from '../config/limits.ts';
import type { Progress as Step } from '../ports/setup/run.ts';
import type { Finding, RunCode, Target } from '../ports/setup/target.ts';
import { type ParsedArguments, SERVER_ALIAS, type SetupCommand } from './arguments.ts';
import { assemble, describeTarget, intendedEntry } from './assembly.ts';
import { executeInit } from './init/execute-init.ts';
import { executeMode } from './modes/execute-mode.ts';
import { emit, useColours } from './output.ts';
import { findPlaces, namedConfiguration, type Places } from './places.ts';
import { chooseProgress } from './progress.ts';
import { progressText } from './progress-text.ts';
import { EXIT, type Report } from './report.ts';
import { type RunSetupOptions, runCustomization, runSetup } from './run-setup.ts';
import { onInterrupt } from './signals.ts';
import { wakeChoice } from './wake-hook.ts';

type Options = Omit<ParsedArguments, 'command'>;
type Command = Exclude<SetupCommand, { kind: 'help' | 'version' | 'codex-hook' }>;
type Misused = (code: 'usage_invalid', problem: string, json: boolean) => number;

/** @returns The exit status. */
export async function execute(command: Command, options: Options, misused: Misused): Promise<number> {
  const stop = (code: RunCode) => stopped(command, code, options.json);
  if (process.platform !== 'linux' && process.platform !== 'darwin') return stop('platform_unsupported');
  const places = findPlaces();
  if (places === undefined) return stop('operation_failed');
  if (command.kind === 'init') return executeInit(command, options, places, misused);
  const configuration = namedConfiguration(options.config, process.env);
  if (configuration === undefined) return stop('config_required');
  if (command.kind === 'mode') return executeMode(command, options, places, configuration);
  if (command.kind === 'writers') {
    const { executeWriters } = await import('./writers/execute-writers.ts');
    return executeWriters(command, options, places, configuration);
  }
  const progress = chooseProgress(options.json);
  const onProgress = (step: Step) => progress.show(progressText(step));
  const observed = { onProgress, onInterrupt };
  const running =
    command.kind === 'targets'
      ? runSetup(request(command, places, configuration), assemble(places, configuration), observed)
      : customize(command.skill, command.operation, places, configuration, observed);
  const { exit, ...result } = await running.finally(() => progress.end());
  emit({ schemaVersion: 1, ...result }, options.json, useColours());
  return exit;
}

function request(command: Extract<Command, { kind: 'targets' }>, places: Places, configuration: string) {
  const { operation, wake } = command;
  const entry = intendedEntry(places, configuration);
  const targets = command.targets.map((target) =>
    describeTarget(target, places, entry, wakeChoice(target, places, wake, configuration)),
  );
  return { operation, targets };
}

function customize(
  name: string,
  operation: 'dry-run' | 'apply',
  { packageRoot }: Places,
  configuration: string,
  observed: RunSetupOptions,
) {
  const overrides = join(dirname(configuration), 'skills');
  const alias = isSkillName(name) ? name : 'invalid';
  return runCustomization({ operation, alias }, customization({ name, packageRoot, overrides }), observed);
}

/** A run that ends before it begins says so for everything that it was asked for. */
function stopped(command: Command, code: RunCode, json: boolean): number {
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
