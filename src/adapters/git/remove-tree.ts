/** Deleting what a writer has left behind: any names, any depth, directories closed to their owner. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync } from 'node:fs';

/**
 * Deletes a tree and follows no link. The system's own `rm` walks by descriptors,
 * so that neither names that are no UTF-8 nor paths longer than the kernel takes
 * stop it.
 */
export async function removeTree(path: string): Promise<boolean> {
  if (await run('rm', ['-rf', '--', path])) return true;
  return (await run('chmod', ['-R', 'u+rwx', '--', path])) && (await run('rm', ['-rf', '--', path])) && isGone(path);
}

async function run(tool: string, args: readonly string[]): Promise<boolean> {
  try {
    const child = spawn(tool, args, { cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, stdio: 'ignore' });
    const [code] = await once(child, 'close');
    return code === 0;
  } catch {
    return false;
  }
}

function isGone(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}
