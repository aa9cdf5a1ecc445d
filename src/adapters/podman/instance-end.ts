/** What Podman keeps for boxes while the machine runs, and taking it away when no box needs it any more. */
import { readdirSync, readlinkSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readOrNothing } from './owner.ts';

export const PREFIX = '.podman-';
export const RUNTIME = 'pi-writers-';
/** The process that holds Podman's user namespace, by its two names. */
const HOLDERS = ['podman pause', 'catatonit'];

export function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Of this directory, and nobody else's: process numbers are used again. */
function endHolder(runtimeDirectory: string): void {
  const pid = Number.parseInt(readOrNothing(join(runtimeDirectory, 'libpod', 'tmp', 'pause.pid')), 10);
  const name = readOrNothing(`/proc/${pid}/comm`).trim();
  const ours = `XDG_RUNTIME_DIR=${Buffer.from(runtimeDirectory).toString('latin1')}`;
  if (!HOLDERS.includes(name) || !readOrNothing(`/proc/${pid}/environ`).split('\0').includes(ours)) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone by itself.
  }
}

/** @param directory One with what Podman needs for the boxes of one boot, of which none runs. Never throws. */
export function removeInstance(directory: string): void {
  try {
    const runtime = linkTarget(join(directory, 'runtime'));
    if (runtime && basename(runtime).startsWith(RUNTIME)) {
      endHolder(join(runtime, 'xdg'));
      rmSync(runtime, { recursive: true, force: true });
    }
    rmSync(directory, { recursive: true, force: true });
  } catch {
    // It costs some disk.
  }
}

/** For whoever holds setup's lock and has seen that there is no writer any more. Never throws. */
export function removeInstances(stateDirectory: string): void {
  try {
    const names = readdirSync(stateDirectory).filter((name) => name.startsWith(PREFIX));
    for (const name of names) removeInstance(join(stateDirectory, name));
  } catch {
    // There has been none.
  }
}
