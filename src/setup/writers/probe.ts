import type { BoundaryHost } from '../../ports/writers/boundary.ts';

/** How Podman works here, if it does. Trying takes seconds, and gives the same for every writer. */
export type ProbeOnce = () => Promise<BoundaryHost | undefined>;

/** @param stateDirectory The writers' common directory. */
export function probeOnce(stateDirectory: string): ProbeOnce {
  let found: Promise<BoundaryHost | undefined> | undefined;
  const tryPodman = async () => {
    const { probe } = await import('../../adapters/podman/probe.ts');
    const outcome = await probe({ stateDirectory, path: process.env['PATH'] ?? '' });
    return outcome.kind === 'usable' ? outcome.host : undefined;
  };
  return () => {
    found ??= tryPodman();
    return found;
  };
}
