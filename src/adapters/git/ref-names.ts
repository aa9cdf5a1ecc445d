/** Which branch names may come out: those that every tool, shell and file system takes for the same plain name. */
import type { RefusedReason } from '../../ports/writers/git.ts';

const MAX_NAME_LENGTH = 100;
const COMPONENT = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
const OBJECT_ID = /^[0-9a-fA-F]{40}$/;
const DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;
/** Names that git reads as something else than a branch. */
const SPECIAL = new Set(['head', 'fetch_head', 'orig_head', 'merge_head', 'stash', 'refs']);
export const WIP_SUFFIX = '-wip';

/** Undefined: the name may come out. */
export function judgeName(name: string): Extract<RefusedReason, 'name' | 'reserved'> | undefined {
  const parts = name.split('/');
  const isPlain = (part: string) =>
    COMPONENT.test(part) && !part.includes('..') && !part.endsWith('.') && !/\.lock$/i.test(part);
  if (name.length > MAX_NAME_LENGTH || !parts.every(isPlain)) return 'name';
  const isReserved =
    SPECIAL.has((parts[0] ?? '').toLowerCase()) || OBJECT_ID.test(name) || parts.some((part) => DEVICE.test(part));
  return isReserved ? 'reserved' : undefined;
}

/** The same for a branch of the writer's own: the suffix belongs to what collecting makes. */
export function judgeBranch(name: string): ReturnType<typeof judgeName> {
  return judgeName(name) ?? (name.toLowerCase().endsWith(WIP_SUFFIX) ? 'reserved' : undefined);
}

/**
 * Names that cannot stand beside another one on every file system. Both of a pair
 * are refused: which one was meant is not ours to guess. `present` are names that
 * are there already and stay.
 */
export function collisions(
  names: readonly string[],
  present: readonly string[] = [],
): ReadonlyMap<string, Extract<RefusedReason, 'twin' | 'conflict'>> {
  const all = [...new Set([...names, ...present])].map((name) => ({ name, key: name.toLowerCase() }));
  const found = new Map<string, 'twin' | 'conflict'>();
  for (const name of names) {
    const key = name.toLowerCase();
    const others = all.filter((other) => other.name !== name);
    if (others.some((other) => other.key === key)) found.set(name, 'twin');
    else if (others.some((other) => other.key.startsWith(`${key}/`) || key.startsWith(`${other.key}/`))) {
      found.set(name, 'conflict');
    }
  }
  return found;
}

/** Counts from 1 until a name is free; what is in the way is finite, so it ends. */
export function firstOf(nameOf: (number: number) => string, isFree: (name: string) => boolean): string {
  for (let number = 1; ; number += 1) {
    const name = nameOf(number);
    if (isFree(name)) return name;
  }
}
