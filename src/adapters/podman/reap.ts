/** Removes what dead owners have left. A box whose owner may live, or is not of ours, is never touched. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BoundaryHost, ReapOutcome } from '../../ports/writers/boundary.ts';
import { containerName, globalArguments, OWNER_LABEL } from './arguments.ts';
import { callPodman } from './calls.ts';
import type { Instance } from './instance.ts';
import { isProvablyDead, type Owner, ownerOfRun, parseOwner, startTimeOf } from './owner.ts';

const ATTEMPTS = 5;
const NO_SUCH_CONTAINER = 1;

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function isDead(owner: Owner | undefined): boolean {
  return owner !== undefined && isProvablyDead(owner);
}

/** Boxes whose owner is dead, by what is on disk. Cheap: for every start. */
export function abandonedRuns(instance: Instance): string[] {
  try {
    return readdirSync(instance.runs).filter((id) => isDead(ownerOfRun(id)));
  } catch {
    return [];
  }
}

/** Containers whose label says that their owner is dead. */
async function abandonedContainers(host: BoundaryHost, instance: Instance): Promise<string[]> {
  const filter = ['ps', '--all', `--filter=label=${OWNER_LABEL}`];
  const format = `--format={{.Names}}\t{{index .Labels "${OWNER_LABEL}"}}`;
  const { stdout } = await callPodman(host.podman, instance, [...globalArguments(host, instance), ...filter, format]);
  return stdout.split('\n').flatMap((line) => {
    const [name = '', owner = ''] = line.split('\t');
    const id = name.slice(containerName('').length);
    return ownerOfRun(id) && name === containerName(id) && isDead(parseOwner(owner)) ? [id] : [];
  });
}

/** Its Podman client may still be about to make the container. */
function endClient(instance: Instance, id: string): void {
  const [pid = '', started = ''] = read(join(instance.runDirectory(id), 'client')).split(' ');
  if (!/^[1-9]\d*$/.test(pid) || startTimeOf(Number(pid)) !== started) return;
  try {
    process.kill(Number(pid), 'SIGKILL');
  } catch {
    // Gone by itself.
  }
}

async function removeBox(host: BoundaryHost, instance: Instance, id: string): Promise<boolean> {
  const podman = (...args: string[]) =>
    callPodman(host.podman, instance, [...globalArguments(host, instance), ...args, containerName(id)]);
  endClient(instance, id);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if ((await podman('container', 'exists')).code === NO_SUCH_CONTAINER) {
      rmSync(instance.runDirectory(id), { recursive: true, force: true });
      return true;
    }
    // The first one after a killed conmon fails and lets the next succeed.
    await podman('rm', '--force', '--time', '0');
  }
  return false;
}

export async function reap(host: BoundaryHost, instance: Instance): Promise<ReapOutcome> {
  const ids = new Set([...abandonedRuns(instance), ...(await abandonedContainers(host, instance))]);
  let removed = 0;
  for (const id of ids) if (await removeBox(host, instance, id).catch(() => false)) removed += 1;
  return { removed, left: ids.size - removed };
}
