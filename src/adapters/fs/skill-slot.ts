/** Where one client reads the controller skill (docs/setup.md). The chart decides; each step here is one durable change. */
import { type BigIntStats, lstatSync } from 'node:fs';
import type { SkillSlot, SlotContent, StepOutcome } from '../../ports/setup/skill-slot.ts';
import { createDirectories, removeEmpty } from './durable-file.ts';
import { codeOf } from './regular-file.ts';
import { effectiveSkill, leadToSame } from './skill-source.ts';
import { readSkill, type SkillTree } from './skill-tree.ts';
import { resolvePlace, type SlotRoot } from './slot-place.ts';
import {
  type Bench,
  displacedAt,
  isAbsent,
  isExactly,
  type Leftover,
  leftovers,
  moveTree,
  placeOf,
  provenTree,
  removeTree,
  stagedAt,
  stageTree,
} from './staged-swap.ts';

const PARENT_MODE = 0o755;

export interface SkillSlotInput {
  readonly root: SlotRoot;
  /** Name of the skill and of its directory. */
  readonly skill: string;
  /** Absolute directories that may hold the effective skill, the operator's first. */
  readonly sources: readonly string[];
}

/** The slot of one target on the real disk. */
export function skillSlot(input: SkillSlotInput): SkillSlot {
  const slot = new Slot(input);
  return {
    source: async () => slot.source(),
    look: async () => slot.look(),
    recover: async (ours) => attempt(() => slot.recover(ours)),
    stage: async () => attempt(() => slot.stage()),
    displace: async (expected) => attempt(() => slot.displace(expected)),
    place: async () => attempt(() => slot.place()),
    discard: async (expected) => attempt(() => slot.discard(expected)),
  };
}

/** Whatever the disk throws means the same: the step was not done. */
function attempt(step: () => boolean): StepOutcome {
  try {
    return { ok: step() };
  } catch {
    return { ok: false };
  }
}

class Slot {
  readonly #input: SkillSlotInput;
  /** Device and inode of the tree that the last look saw. */
  #seen: string | undefined;

  constructor(input: SkillSlotInput) {
    this.#input = input;
  }

  source(): { ok: true; fingerprint: string } | { ok: false } {
    const source = effectiveSkill(this.#input.sources);
    return source === undefined ? { ok: false } : { ok: true, fingerprint: source.tree.fingerprint };
  }

  look(): SlotContent {
    this.#seen = undefined;
    const place = resolvePlace(this.#input.root);
    if (place.kind !== 'place') return place;
    const path = placeOf({ parent: place.parent, name: this.#input.skill });
    let stat: BigIntStats;
    try {
      stat = lstatSync(path, { bigint: true });
    } catch (error) {
      return { kind: codeOf(error) === 'ENOENT' ? 'absent' : 'foreign' };
    }
    if (stat.isSymbolicLink()) return { kind: this.#isLinked(path) ? 'linked' : 'foreign' };
    const read = readSkill(path);
    if (!read.ok) return { kind: 'foreign' };
    this.#seen = read.tree.identity;
    return { kind: 'tree', fingerprint: read.tree.fingerprint, hidden: read.tree.hidden };
  }

  recover(ours: readonly string[]): boolean {
    const bench = this.#bench();
    if (bench === undefined) return true;
    const source = effectiveSkill(this.#input.sources)?.tree;
    const known = source === undefined ? ours : [...ours, source.fingerprint];
    let clean = true;
    for (const leftover of leftovers(bench)) {
      const tree = provenTree(leftover, ours, source);
      if (tree === undefined) continue;
      if (leftover.kind === 'displaced' && isAbsent(placeOf(bench))) clean = putBack(leftover, bench, known) && clean;
      else clean = removeTree(leftover.path, tree, bench) && clean;
    }
    return clean;
  }

  stage(): boolean {
    const source = effectiveSkill(this.#input.sources);
    const place = resolvePlace(this.#input.root);
    if (source === undefined || place.kind !== 'place') return false;
    if (!createDirectories(place.missing, PARENT_MODE)) return false;
    const bench = this.#bench();
    if (bench?.parent === place.parent && stageTree(bench, source.tree)) return true;
    removeEmpty(place.missing);
    return false;
  }

  displace(expected: string): boolean {
    const bench = this.#bench();
    if (bench === undefined) return false;
    const path = placeOf(bench);
    const aside = displacedAt(bench, expected);
    if (isAbsent(path)) return isExactly(aside, expected);
    const tree = exactSkill(path, expected);
    if (tree === undefined || (this.#seen !== undefined && tree.identity !== this.#seen)) return false;
    moveTree(path, aside);
    if (exactSkill(aside, expected)?.identity === tree.identity) return true;
    // Somebody was at it between the look and the move: theirs again, where it was.
    moveTree(aside, path);
    return false;
  }

  place(): boolean {
    const bench = this.#bench();
    const source = effectiveSkill(this.#input.sources)?.tree;
    if (bench === undefined || source === undefined) return false;
    const staged = stagedAt(bench, source.fingerprint);
    if (!isExactly(staged, source.fingerprint)) return false;
    moveTree(staged, placeOf(bench));
    return true;
  }

  discard(expected: string): boolean {
    const bench = this.#bench();
    if (bench === undefined) return false;
    const aside = displacedAt(bench, expected);
    if (isAbsent(aside)) return true;
    const tree = exactSkill(aside, expected);
    return tree !== undefined && removeTree(aside, tree, bench);
  }

  /** Where there is one already and no link of a project leads to it. */
  #bench(): Bench | undefined {
    const place = resolvePlace(this.#input.root);
    if (place.kind !== 'place' || place.missing.length > 0) return undefined;
    return { parent: place.parent, name: this.#input.skill };
  }

  /** A link counts only while the effective skill itself is valid. */
  #isLinked(path: string): boolean {
    const source = effectiveSkill(this.#input.sources);
    return source !== undefined && leadToSame(path, source.directory);
  }
}

function exactSkill(path: string, expected: string): SkillTree | undefined {
  const read = readSkill(path);
  return read.ok && !read.tree.hidden && read.tree.fingerprint === expected ? read.tree : undefined;
}

/** Only what a record or the source vouches for goes where a client reads; anything else stays aside, as the last copy. */
function putBack({ path, fingerprint }: Leftover, bench: Bench, known: readonly string[]): boolean {
  if (!known.includes(fingerprint) || !isExactly(path, fingerprint)) return true;
  moveTree(path, placeOf(bench));
  return true;
}
