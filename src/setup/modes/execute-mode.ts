/** `--repo`, from its arguments to its exit status. */
import { join } from 'node:path';
import { DEFAULT_IMAGE } from '../../config/configuration.ts';
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
  const goOn = endOnSignal(operation, json, progress.end);
  const obstacle = async (image: string) => {
    progress.show('Trying rootless Podman');
    const { probe } = await import('../../adapters/podman/probe.ts');
    const found = await probe({ stateDirectory: join(stateDirectory, 'writers'), path: process.env['PATH'] ?? '' });
    progress.end();
    if (found.kind !== 'usable') return 'container_unusable';
    const { hasImage } = await import('../../adapters/podman/image.ts');
    const isThere = image === DEFAULT_IMAGE || (await hasImage(found.host, image, process.env));
    return isThere ? undefined : 'image_missing';
  };
  const dryRun = operation === 'dry-run';
  const finding = await setMode({ workspace, choice, dryRun, configuration, packageRoot, obstacle });
  if (finding.status === 'failed' || choice.mode !== 'container') {
    emit({ schemaVersion: 1, operation, status: finding.status, findings: [finding] }, json, useColours());
    return finding.status === 'failed' ? EXIT.failed : EXIT.ok;
  }
  // The mode says what shall be there; this makes what is missing of it, and ends it in order on a signal.
  goOn();
  const { concludeProvision, provisionWriters } = await import('../writers/execute-writers.ts');
  const show = (text: string) => progress.show(text);
  const made = await provisionWriters({ workspace, client, dryRun, places, configuration, show });
  progress.end();
  return concludeProvision(operation, finding, made, json);
}
