/** What a run may leave behind, and may not. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { processesOf } from '../../e2e/kit/processes.ts';
import type { Operator } from './operator.ts';

/** Directories of runs that have not come to their end. */
export function boxesOf(operator: Operator): string[] {
  const instance = readdirSync(operator.state).find((name) => name.startsWith('.podman-'));
  return instance ? readdirSync(join(operator.state, instance, 'boxes')) : [];
}

/** What stays between two boxes, and goes with the last writer: the state of this boot, and the holder of the namespace. */
export function keptByPodman(operator: Operator): string[] {
  const holders = processesOf(operator.root).map(nameOf);
  return [...readdirSync(operator.state).filter((name) => name.startsWith('.podman-')), ...holders];
}

/** Names of the operator's processes. Podman's holder of the user namespace may stay: it is empty, and one for all boxes. */
export function processesLeft(operator: Operator): string[] {
  return processesOf(operator.root)
    .map(nameOf)
    .filter((name) => !name.startsWith('podman') && name !== 'catatonit');
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    // It has just ended.
    return 'podman';
  }
}
