/** The effective skill of a name: the operator's version if there is one, else the shipped one (docs/skills.md). */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { readSkill, type SkillTree } from './skill-tree.ts';

/**
 * The first of these directories that has a SKILL.md, as the server chooses too:
 * one that turns out to be unusable does not bring the next one back. Never throws.
 *
 * @param candidates Absolute skill directories, the operator's first.
 */
export function effectiveSkill(candidates: readonly string[]): { directory: string; tree: SkillTree } | undefined {
  const directory = candidates.find((candidate) => existsSync(join(candidate, 'SKILL.md')));
  const read = directory === undefined ? undefined : readSkill(directory);
  return directory !== undefined && read?.ok ? { directory, tree: read.tree } : undefined;
}

/** Do both paths lead to the same directory, links followed? Never throws. */
export function leadToSame(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}
