/** What a box sees as the system: the host's own programs, read-only, or the tree of an image. */
import { lstatSync } from 'node:fs';
import type { BoxRoot, ReadOnlyMount } from '../../ports/writers/boundary.ts';
import type { Instance } from './instance.ts';

/** `awk` and others are links through the second; the third is for TLS clients other than Node. */
const SYSTEM_DIRECTORIES = ['/usr', '/etc/alternatives', '/etc/ssl/certs'];

/** Names of variables that hold, or lead to, credentials. None of them is set in a box. */
export const CREDENTIAL_NAME = /SSH_|GPG_|TOKEN|SECRET|PASSWORD|API_KEY|ASKPASS|DBUS_|XDG_/;
function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

export interface RootPlan {
  readonly rootPath: string;
  readonly rootMounts: readonly ReadOnlyMount[];
  readonly rootEnvironment?: Readonly<Record<string, string>>;
}

export function planRoot(root: BoxRoot, instance: Instance): RootPlan {
  if (root.kind === 'tree') return { rootPath: root.path, rootMounts: [], rootEnvironment: root.environment };
  const present = SYSTEM_DIRECTORIES.filter(isDirectory);
  return { rootPath: instance.skeleton, rootMounts: present.map((path) => ({ source: path, destination: path })) };
}
