import { dirname } from 'node:path';
import type { BoundaryHost } from '../../ports/writers/boundary.ts';
import { placesOf } from '../../writers/places.ts';
import { readRecord } from '../../writers/record.ts';
import { presentWriters } from './present.ts';

/** How Podman works here, if it does. Trying takes seconds, and gives the same for every writer. */
export type ProbeOnce = () => Promise<BoundaryHost | undefined>;

/** @param stateDirectory The writers' common directory. @param alias Of the workspace. */
export function probeOnce(stateDirectory: string, alias: string): ProbeOnce {
  let found: Promise<BoundaryHost | undefined> | undefined;
  const tryPodman = async () => {
    const { probe } = await import('../../adapters/podman/probe.ts');
    const path = [process.env['PATH'] ?? '', ...recordedPodman(stateDirectory, alias)].join(':');
    const outcome = await probe({ stateDirectory, path });
    return outcome.kind === 'usable' ? outcome.host : undefined;
  };
  return () => {
    found ??= tryPodman();
    return found;
  };
}

/** Directories of the Podman that this workspace's writers were made with: it is good without `PATH`, too. */
function recordedPodman(state: string, alias: string): string[] {
  const known = presentWriters(state, alias).map((name) => readRecord(placesOf(state, name).directory)?.host.podman);
  return [...new Set(known.flatMap((podman) => (podman === undefined ? [] : [dirname(podman)])))];
}
