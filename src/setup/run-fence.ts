/** The fence of one run on the real lock and the real guardian. */
import { fileURLToPath } from 'node:url';
import { createGuardedRunner } from '../adapters/process/guarded-runner.ts';
import { createKernelLock } from '../adapters/process/kernel-lock.ts';
import { createFence, type Fenced } from './fence.ts';
import type { Places } from './places.ts';

/** Beside this module, built or as source. */
const GUARDIAN = fileURLToPath(
  new URL(import.meta.url.endsWith('.js') ? './guardian.cjs' : './guardian.ts', import.meta.url),
);

export function openFence({ stateDirectory }: Pick<Places, 'stateDirectory'>): Fenced {
  return createFence(createKernelLock({ directory: stateDirectory }), (lockFd) =>
    createGuardedRunner({ guardianPath: GUARDIAN, ...(lockFd === undefined ? {} : { lockFd }) }),
  );
}
