/** Removes what dead owners have left. A box whose owner may live, or is not of ours, is never touched. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BoundaryHost, ReapOutcome } from '../../ports/writers/boundary.ts';
import { containerName, globalArguments, OWNER_LABEL } from './arguments.ts';
import { callPodman } from './calls.ts';
import type { Instance } from './instance.ts';
import { isProvablyDead, type Owner, ownerOfRun, parseOwner, readOrNothing, startTimeOf } from './owner.ts';

const ATTEMPTS = 8;
const CLIENT_PAUSE_MS = 500;
const NO_SUCH_CONTAINER = 1;

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

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone by itself.
  }
}

/** Its Podman client may still be about to make the container; killed halfway it would leave more behind. */
function clientOf(instance: Instance, id: string): number | undefined {
  const [pid = '', started = ''] = readOrNothing(join(instance.runDirectory(id), 'client')).split(' ');
  return /^[1-9]\d*$/.test(pid) && startTimeOf(Number(pid)) === started ? Number(pid) : undefined;
}

/** conmon and the runtime's first process, where a client was killed halfway: Podman knows nothing of them. */
function sweep(instance: Instance, id: string): void {
  const directory = instance.runDirectory(id);
  const monitor = Number.parseInt(readOrNothing(join(directory, 'conmon')), 10);
  const isOurs =
    monitor > 1 && readOrNothing(`/proc/${monitor}/cmdline`).includes(Buffer.from(`${directory}/`).toString('latin1'));
  if (!isOurs) return;
  const children = readOrNothing(`/proc/${monitor}/task/${monitor}/children`).split(' ').filter(Boolean).map(Number);
  for (const pid of [...children, monitor]) kill(pid);
}

async function removeBox(host: BoundaryHost, instance: Instance, id: string): Promise<boolean> {
  const podman = (...args: string[]) =>
    callPodman(host.podman, instance, [...globalArguments(host, instance), ...args, containerName(id)]);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const isGone = (await podman('container', 'exists')).code === NO_SUCH_CONTAINER;
    const client = clientOf(instance, id);
    if (isGone && client === undefined) {
      sweep(instance, id);
      rmSync(instance.runDirectory(id), { recursive: true, force: true });
      return true;
    }
    // The first one after a killed conmon fails and lets the next succeed.
    if (!isGone) await podman('rm', '--force', '--time', '0');
    else if (client !== undefined && attempt > 1) kill(client);
    else await pause(CLIENT_PAUSE_MS);
  }
  return false;
}

export async function reap(host: BoundaryHost, instance: Instance): Promise<ReapOutcome> {
  const ids = new Set([...abandonedRuns(instance), ...(await abandonedContainers(host, instance))]);
  let removed = 0;
  for (const id of ids) if (await removeBox(host, instance, id).catch(() => false)) removed += 1;
  return { removed, left: ids.size - removed };
}
