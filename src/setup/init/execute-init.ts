/** `--init`, from its arguments to its exit status. */
import type { ParsedArguments, SetupCommand } from '../arguments.ts';
import { emit, useColours } from '../output.ts';
import { defaultConfiguration, namedConfiguration, type Places } from '../places.ts';
import { chooseProgress } from '../progress.ts';
import { EXIT } from '../report.ts';
import { endOnSignal, reportInterruption } from '../signals.ts';
import { initialize } from './init.ts';
import { nextCommands } from './next-commands.ts';

type Options = Omit<ParsedArguments, 'command'>;
type Misused = (code: 'usage_invalid', problem: string, json: boolean) => number;

/** @returns The exit status. */
export async function executeInit(
  command: Extract<SetupCommand, { kind: 'init' }>,
  { json, config }: Options,
  places: Places,
  misused: Misused,
): Promise<number> {
  const named = config ?? process.env['PI_SESSION_MCP_CONFIG'];
  const path = named === undefined ? defaultConfiguration(places.home) : namedConfiguration(named, {});
  if (path === undefined) return misused('usage_invalid', '--config must be an absolute path', json);
  const interactive = !json && process.stdin.isTTY === true && process.stderr.isTTY === true;
  const progress = chooseProgress(json);
  endOnSignal('init', json, progress.end);
  const onWaiting = (waiting: boolean) =>
    waiting ? progress.show('Asking Pi which models it can use') : progress.end();
  const { answers, operation } = command;
  const { packageRoot } = places;
  const cwd = places.project;
  const outcome = await initialize({
    answers,
    dryRun: operation === 'dry-run',
    path,
    cwd,
    packageRoot,
    interactive,
    onWaiting,
  });
  if (outcome.kind === 'unanswered') {
    const options = outcome.options.join(' ');
    return misused('usage_invalid', `without a terminal --init also needs ${options}`, json);
  }
  if (outcome.kind === 'cancelled') return reportInterruption('init', json, 'SIGINT');
  const { finding } = outcome;
  emit({ schemaVersion: 1, operation: 'init', status: finding.status, findings: [finding] }, json, useColours());
  if (!json && finding.code === 'config_written') process.stdout.write(nextCommands(named !== undefined));
  return finding.status === 'failed' ? EXIT.failed : EXIT.ok;
}
