/** A home or a project with a slot in it, and two versions of a skill to put there. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillSlotInput } from '../../../src/adapters/fs/skill-slot.ts';
import { fingerprintOf } from '../../../src/adapters/fs/skill-tree.ts';
import { slotRootOf } from '../../../src/adapters/fs/slot-place.ts';
import type { Version } from '../../contracts/setup-skill-slot.ts';
import { type Files, scratch, write } from './lab.ts';

export const SKILL = 'pi-session-orchestration';

/** More than one file and a directory each, so that there is something to tear. */
export const VERSIONS: Readonly<Record<Version, Files>> = {
  old: { 'SKILL.md': 'the old text', 'notes/a.md': 'old notes', 'z.md': 'only in the old one' },
  new: { 'SKILL.md': 'the new text, longer', 'notes/a.md': 'new notes', 'notes/deep/b.md': 'more' },
};

export function fingerprint(version: Version): string {
  const files = Object.entries(VERSIONS[version]).map(([path, text]) => ({ path, bytes: Buffer.from(text as string) }));
  return fingerprintOf(files.sort((a, b) => (a.path < b.path ? -1 : 1)));
}

export interface SlotStage {
  readonly root: string;
  readonly base: string;
  readonly input: SkillSlotInput;
  /** Where the client reads the skill. */
  readonly entry: string;
  readonly shipped: string;
  readonly override: string;
  ship(version: Version | 'none'): void;
}

export function stageOf(kind: 'home' | 'project'): SlotStage {
  const root = scratch();
  const base = join(root, kind);
  mkdirSync(base);
  const shipped = join(root, 'package', 'skills', SKILL);
  const override = join(root, 'config', 'skills', SKILL);
  const scope = kind === 'home' ? 'user' : 'project';
  return {
    root,
    base,
    shipped,
    override,
    entry: join(base, '.claude', 'skills', SKILL),
    input: {
      root: slotRootOf({ client: 'claude-code', scope }, { home: base, project: base }),
      skill: SKILL,
      sources: [override, shipped],
    },
    ship: (version) => {
      rmSync(shipped, { recursive: true, force: true });
      if (version !== 'none') write(shipped, VERSIONS[version]);
    },
  };
}
