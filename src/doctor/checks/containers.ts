/** The one place for what container workspaces need. Offline: nothing is started to find out. */
import { isAbsolute, join } from 'node:path';
import type { Configuration } from '../../config/configuration.ts';
import { MAX_FILE_BYTES, MAX_WRITERS } from '../../config/limits.ts';
import { type DoctorInput, isExecutable, isOnPath } from '../input.ts';
import type { DoctorCheck } from '../model.ts';
import { finding, passed } from '../remedies.ts';

type Host = Pick<DoctorInput, 'env' | 'files' | 'home' | 'platform' | 'userId'>;

export function checkContainers(host: Host, { workspaces }: Configuration): readonly DoctorCheck[] {
  const aliases = Object.values(workspaces).filter(({ mode }) => mode === 'container');
  return aliases.flatMap(({ alias }) => checkPodman(host, alias));
}

function checkPodman(host: Host, alias: string): readonly DoctorCheck[] {
  // There are no writers elsewhere, with or without Podman.
  if (host.platform !== 'linux') return [finding('podman_unusable', alias)];
  if (!isOnPath(host, 'podman') && !isRecorded(host, alias)) return [finding('podman_missing', alias)];
  const found = passed('podman_missing', alias);
  // For root, Podman is not rootless.
  return [found, host.userId === 0 ? finding('podman_unusable', alias) : passed('podman_unusable', alias)];
}

/** A writer that is made runs with the Podman that was found then, whatever `PATH` says now. */
function isRecorded({ files, home }: Host, alias: string): boolean {
  const state = join(home, '.local', 'state', 'pi-session-mcp', 'writers');
  const names = Array.from({ length: MAX_WRITERS }, (_, index) => `${alias}-${index + 1}`);
  return isAbsolute(home) && names.some((name) => isUsable(files, join(state, name, 'boundary.json')));
}

function isUsable(files: Host['files'], record: string): boolean {
  const read = files.read(record, MAX_FILE_BYTES);
  if (!read.ok) return false;
  try {
    const document: unknown = JSON.parse(Buffer.from(read.bytes).toString('utf8'));
    const { host } = document as { readonly host?: { readonly podman?: unknown } };
    return typeof host?.podman === 'string' && isAbsolute(host.podman) && isExecutable(files, host.podman);
  } catch {
    return false;
  }
}
