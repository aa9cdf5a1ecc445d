/** A private directory for one run of Claude Code, so that nothing of the surroundings shines through. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface Scratch {
  /** Looks like a repository of its own: Claude Code keys local entries by the repository around the directory. */
  readonly neutral: string;
  /** To be used in place of the user's configuration. */
  readonly emptyConfiguration: string;
}

/**
 * @param parent A private directory of ours; it has to be there.
 * @param use Must not reject.
 * @returns `undefined` when there is no such place to work in.
 */
export async function withScratch<T>(parent: string, use: (scratch: Scratch) => Promise<T>): Promise<T | undefined> {
  const place = await mkdtemp(join(parent, 'client-')).catch(() => undefined);
  if (place === undefined) return undefined;
  const scratch = { neutral: join(place, 'neutral'), emptyConfiguration: join(place, 'configuration') };
  try {
    await mkdir(join(scratch.neutral, '.git'), { recursive: true });
    await mkdir(scratch.emptyConfiguration);
    return await use(scratch);
  } catch {
    return undefined;
  } finally {
    await rm(place, { recursive: true, force: true }).catch(() => {});
  }
}
