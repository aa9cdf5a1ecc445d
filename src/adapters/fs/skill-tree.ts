/** What a skill on disk is: a small plain tree with a SKILL.md, and the fingerprint of it (docs/skills.md). */
import { createHash } from 'node:crypto';
import { readTree, type Tree, type TreeFile, type TreeLimits } from './bounded-tree.ts';

export const SKILL_LIMITS: TreeLimits = { files: 32, bytes: 1_048_576, levels: 8, entries: 1024 };

const SKILL_FILE = 'SKILL.md';
const FRAME = 'pi-session-mcp skill tree 1';

export interface SkillTree extends Tree {
  /** SHA-256 in lower-case hex over the sorted relative paths and contents. */
  readonly fingerprint: string;
}

export type SkillRead =
  | { readonly ok: true; readonly tree: SkillTree }
  /** `refused`: not a plain directory within the bounds, or without a SKILL.md. */
  | { readonly ok: false; readonly reason: 'missing' | 'refused' };

/**
 * The skill in the directory `root` (absolute; a link there is refused).
 * Entries whose name starts with a dot are no part of it; `hidden` says that there is one. Never throws.
 */
export function readSkill(root: string): SkillRead {
  const read = readTree(root, SKILL_LIMITS);
  if (!read.ok) return read;
  if (!read.tree.files.some(({ path }) => path === SKILL_FILE)) return { ok: false, reason: 'refused' };
  return { ok: true, tree: { ...read.tree, fingerprint: fingerprintOf(read.tree.files) } };
}

/**
 * SHA-256 over files that are sorted by path. Every part goes in behind its
 * length, so that no two trees write the same bytes.
 */
export function fingerprintOf(files: readonly TreeFile[], frame = FRAME): string {
  const hash = createHash('sha256');
  const add = (part: Uint8Array): void => {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(part.length));
    hash.update(length).update(part);
  };
  add(Buffer.from(frame));
  for (const { path, bytes } of files) {
    add(Buffer.from(path));
    add(bytes);
  }
  return hash.digest('hex');
}
