/** The one place for what container workspaces need. Offline: nothing is started to find out. */
import type { Configuration } from '../../config/configuration.ts';
import { type DoctorInput, isOnPath } from '../input.ts';
import type { DoctorCheck } from '../model.ts';
import { finding, passed } from '../remedies.ts';

type Host = Pick<DoctorInput, 'env' | 'files' | 'platform' | 'userId'>;

export function checkContainers(host: Host, { workspaces }: Configuration): readonly DoctorCheck[] {
  const aliases = Object.values(workspaces).filter(({ mode }) => mode === 'container');
  return aliases.flatMap(({ alias }) => checkPodman(host, alias));
}

function checkPodman(host: Host, alias: string): readonly DoctorCheck[] {
  // There are no writers elsewhere, with or without Podman.
  if (host.platform !== 'linux') return [finding('podman_unusable', alias)];
  if (!isOnPath(host, 'podman')) return [finding('podman_missing', alias)];
  const found = passed('podman_missing', alias);
  // For root, Podman is not rootless.
  return [found, host.userId === 0 ? finding('podman_unusable', alias) : passed('podman_unusable', alias)];
}
