/** `--repo`, from its arguments to its exit status. */
import { join } from 'node:path';
import { DEFAULT_IMAGE } from '../../config/configuration.ts';
import type { Finding } from '../../ports/setup/target.ts';
import type { ParsedArguments, SetupCommand } from '../arguments.ts';
import { emit, useColours } from '../output.ts';
import type { Places } from '../places.ts';
import { chooseProgress } from '../progress.ts';
import { EXIT } from '../report.ts';
import { endOnSignal } from '../signals.ts';
import { writerFinding } from '../writers/findings.ts';
import { presentWriters } from '../writers/present.ts';
import { probeOnce } from '../writers/probe.ts';
import { type Obstacle, type PreparedMode, prepareMode } from './set-mode.ts';

const NEVER = new AbortController().signal;

/** @returns The exit status. */
export async function executeMode(
  { operation, workspace, choice, client }: Extract<SetupCommand, { kind: 'mode' }>,
  { json }: Omit<ParsedArguments, 'command'>,
  places: Places,
  configuration: string,
): Promise<number> {
  const { packageRoot, stateDirectory } = places;
  const state = join(stateDirectory, 'writers');
  const progress = chooseProgress(json);
  const show = (text: string) => progress.show(text);
  const goOn = endOnSignal(operation, json, progress.end);
  const probe = probeOnce(state, workspace);
  const obstacle = async (image: string, signal = NEVER): Promise<Obstacle | undefined> => {
    show('Trying rootless Podman');
    const host = await probe();
    if (host === undefined) return 'container_unusable';
    const { hasImage } = await import('../../adapters/podman/image.ts');
    const isThere = image === DEFAULT_IMAGE || (await hasImage(host, image, process.env, signal));
    return isThere ? undefined : 'image_missing';
  };
  const dryRun = operation === 'dry-run';
  const prepared = await prepareMode({ workspace, choice, configuration, packageRoot, obstacle });
  if (!prepared.ok || prepared.container === undefined) {
    progress.end();
    const finding = prepared.ok ? settle(prepared, dryRun) : prepared.finding;
    const kept = finding.status === 'failed' ? [] : presentWriters(state, workspace);
    const outliving = kept.map((name) => writerFinding(workspace, name, 'writer_outlives_mode'));
    emit(
      { schemaVersion: 1, operation, status: finding.status, findings: [finding, ...outliving] },
      json,
      useColours(),
    );
    return finding.status === 'failed' ? EXIT.failed : EXIT.ok;
  }
  // The mode says what shall be there; this makes what is missing of it, and ends it in order on a signal.
  const { provisionWriters } = await import('../writers/provision.ts');
  const { conclude } = await import('../writers/execute-writers.ts');
  const { hasErrors: doctor } = await import('../writers/doctor.ts');
  const { container } = prepared;
  const common = { client, dryRun, places, configuration, probe, obstacle, doctor, show, goOn };
  const made = await provisionWriters({ mode: { ...prepared, container }, ...common });
  progress.end();
  return conclude(operation, made, json);
}

function settle(prepared: PreparedMode, dryRun: boolean): Finding {
  if (!prepared.isChanged) return prepared.finding('unchanged', 'mode_unchanged');
  return dryRun ? prepared.finding('planned', 'mode_planned') : prepared.record();
}
