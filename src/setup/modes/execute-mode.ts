/** `--repo`, from its arguments to its exit status. */
import { join } from 'node:path';
import type { ParsedArguments, SetupCommand } from '../arguments.ts';
import { emit, useColours } from '../output.ts';
import type { Places } from '../places.ts';
import { chooseProgress } from '../progress.ts';
import { EXIT } from '../report.ts';
import { endOnSignal } from '../signals.ts';
import { setMode } from './set-mode.ts';

/** @returns The exit status. */
export async function executeMode(
  { operation, workspace, choice, client }: Extract<SetupCommand, { kind: 'mode' }>,
  { json }: Omit<ParsedArguments, 'command'>,
  places: Places,
  configuration: string,
): Promise<number> {
  const { packageRoot, stateDirectory } = places;
  const progress = chooseProgress(json);
  endOnSignal(operation, json, progress.end);
  const probe = async () => {
    progress.show('Trying rootless Podman');
    const { probe: tryPodman } = await import('../../adapters/podman/probe.ts');
    const found = await tryPodman({ stateDirectory: join(stateDirectory, 'writers'), path: process.env['PATH'] ?? '' });
    progress.end();
    return found.kind === 'usable';
  };
  const dryRun = operation === 'dry-run';
  const finding = await setMode({ workspace, choice, dryRun, configuration, packageRoot, probe });
  if (finding.status === 'failed' || choice.mode !== 'container') {
    emit({ schemaVersion: 1, operation, status: finding.status, findings: [finding] }, json, useColours());
    return finding.status === 'failed' ? EXIT.failed : EXIT.ok;
  }
  // The mode says what shall be there; this makes what is missing of it.
  const { concludeProvision, provisionWriters } = await import('../writers/execute-writers.ts');
  const show = (text: string) => progress.show(text);
  const made = await provisionWriters({ workspace, client, dryRun, places, configuration, show });
  progress.end();
  return concludeProvision(operation, finding, made, json);
}
