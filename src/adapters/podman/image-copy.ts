/** Files of an image, out of the store of the operator's own Podman. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { BoundaryHost } from '../../ports/writers/boundary.ts';
import { OWNER_LABEL } from './arguments.ts';
import { call } from './calls.ts';
import { SYSTEM_PATH } from './instance.ts';
import { formatOwner, isProvablyDead, parseOwner, thisProcess } from './owner.ts';

const NAME = 'pi-writer-image-';
const COPY_TIMEOUT_MS = 15 * 60_000;
/**
 * In a group of its own, which ends as a whole when unpacking fails: Podman waits for ever for a reader that is gone.
 * A shell, because Podman opens its stdout anew, which it cannot with the sockets that Node makes. If we are
 * killed, both come to their end. Devices and what the kernel shows are the box's own; everything is owned by us.
 */
const SCRIPT = `tree=$1; shift
{ "$@" || kill -KILL 0; } | {
  PATH=${SYSTEM_PATH} LC_ALL=C tar -x -f - -C "$tree" --no-same-owner --anchored \\
    --exclude=dev --exclude=proc --exclude=sys --exclude=run || kill -KILL 0
}`;

/** They would lead Podman to another machine's images. */
const REMOTE = ['CONTAINER_HOST', 'CONTAINER_CONNECTION', 'CONTAINER_SSHKEY'];

/** The operator's Podman, as the operator runs it. */
export class OperatorsStore {
  readonly podman: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly #flags: readonly string[];

  constructor({ podman, runtime, cgroupManager }: BoundaryHost, environment: NodeJS.ProcessEnv) {
    this.podman = podman;
    const local = Object.entries(environment).filter(([name]) => !REMOTE.includes(name));
    this.environment = { PATH: SYSTEM_PATH, ...Object.fromEntries(local) };
    // Podman's defaults are refused on some machines, even to make a container that never runs.
    this.#flags = [`--runtime=${runtime}`, `--cgroup-manager=${cgroupManager}`];
  }

  /** Never rejects. */
  call(args: readonly string[], limits: { readonly timeout?: number; readonly signal?: AbortSignal } = {}) {
    return call(this.podman, [...this.#flags, ...args], this.environment, limits);
  }

  /** Unpacks a container's files into a directory of ours. */
  export(container: string, tree: string): ChildProcess {
    const args = ['-c', SCRIPT, 'pi-writer-image', tree, this.podman, ...this.#flags, 'export', container];
    return spawn('/bin/sh', args, { detached: true, cwd: '/', stdio: 'ignore', env: this.environment });
  }
}

/** By way of a container that never runs: the only way that needs no own reading of layers. */
export async function copyOut(store: OperatorsStore, id: string, tree: string, signal: AbortSignal): Promise<boolean> {
  await removeAbandoned(store, signal);
  const name = NAME + crypto.randomUUID();
  const label = `--label=${OWNER_LABEL}=${formatOwner(thisProcess())}`;
  const options = ['--pull=never', '--network=none', '--image-volume=ignore', `--name=${name}`, label];
  // Some drivers copy the image for each container.
  const made = await store.call(['create', ...options, id, 'true'], { timeout: COPY_TIMEOUT_MS, signal });
  try {
    return (
      made.code === 0 &&
      (await unpack(store, name, tree, AbortSignal.any([signal, AbortSignal.timeout(COPY_TIMEOUT_MS)])))
    );
  } finally {
    await store.call(['rm', '--force', '--ignore', '--volumes', name]);
  }
}

/** What runs of setup that were killed have left in the operator's store. */
async function removeAbandoned(store: OperatorsStore, signal: AbortSignal): Promise<void> {
  const format = `--format={{.Names}}\t{{index .Labels "${OWNER_LABEL}"}}`;
  const { stdout } = await store.call(['ps', '--all', `--filter=label=${OWNER_LABEL}`, format], { signal });
  for (const line of stdout.split('\n')) {
    const [name = '', label = ''] = line.split('\t');
    const owner = parseOwner(label);
    const isAbandoned = name.startsWith(NAME) && owner && isProvablyDead(owner);
    if (isAbandoned) await store.call(['rm', '--force', '--ignore', '--volumes', name], { signal });
  }
}

/** All of it or nothing that counts. */
async function unpack(store: OperatorsStore, container: string, tree: string, signal: AbortSignal): Promise<boolean> {
  const child = store.export(container, tree);
  const stop = () => killGroup(child);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  const isWhole = await ended(child);
  signal.removeEventListener('abort', stop);
  return isWhole;
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Gone by itself.
  }
}

/** True when it has ended by itself, with 0. Never rejects. */
export function ended(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}
