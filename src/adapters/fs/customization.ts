/** The operator's own version of a shipped skill (docs/skills.md). An existing version is never written to. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isSkillName } from '../../config/limits.ts';
import type { Customization, OverrideContent, RecordedBase } from '../../ports/setup/customization.ts';
import type { StepOutcome } from '../../ports/setup/skill-slot.ts';
import { createDirectories, removeEmpty, replaceFile, sweepTemporaries } from './durable-file.ts';
import { codeOf } from './regular-file.ts';
import { basesFile, parseBases, readBases, shippedSkill } from './skill-bases.ts';
import { readSkill, type SkillTree } from './skill-tree.ts';
import {
  type Bench,
  isAbsent,
  isExactly,
  leftovers,
  moveTree,
  placeOf,
  provenTree,
  removeTree,
  stagedAt,
  stageTree,
} from './staged-swap.ts';

const DIRECTORY_MODE = 0o755;
const BASES_MODE = 0o644;

export interface CustomizationInput {
  /** Any text; one that is not the name of a skill is of nothing. */
  readonly name: string;
  /** Absolute root of the package, with the shipped `skills/`. */
  readonly packageRoot: string;
  /** Absolute: `skills/` beside the configuration file. */
  readonly overrides: string;
}

/** One skill of the library on the real disk. */
export function customization({ name, packageRoot, overrides }: CustomizationInput): Customization {
  const bench: Bench = { parent: overrides, name };
  const source = (): SkillTree | undefined => {
    const read = isSkillName(name) ? readSkill(join(packageRoot, 'skills', name)) : undefined;
    return read?.ok ? read.tree : undefined;
  };
  return {
    shipped: async () => shippedSkill(packageRoot, name),
    override: async () => overrideAt(bench),
    base: async () => baseOf(overrides, name),
    recover: async () => attempt(() => recover(bench, source())),
    stage: async () => attempt(() => stage(bench, source())),
    place: async () => attempt(() => place(bench, source())),
    recordBase: async (fingerprint) => attempt(() => recordBase(overrides, name, fingerprint)),
  };
}

function attempt(step: () => boolean): StepOutcome {
  try {
    return { ok: step() };
  } catch {
    return { ok: false };
  }
}

function overrideAt(bench: Bench): OverrideContent {
  if (!isSkillName(bench.name)) return 'invalid';
  const path = placeOf(bench);
  try {
    lstatSync(path);
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'absent' : 'invalid';
  }
  return readSkill(path).ok ? 'present' : 'invalid';
}

function baseOf(overrides: string, name: string): RecordedBase {
  const read = readBases(overrides);
  if (read.kind !== 'bases') return read;
  const fingerprint = read.bases.get(name);
  return fingerprint === undefined ? { kind: 'none' } : { kind: 'base', fingerprint };
}

function recover(bench: Bench, source: SkillTree | undefined): boolean {
  sweepTemporaries(basesFile(bench.parent));
  let clean = true;
  for (const leftover of leftovers(bench)) {
    const tree = leftover.kind === 'displaced' ? undefined : provenTree(leftover, [], source);
    if (tree !== undefined) clean = removeTree(leftover.path, tree, bench) && clean;
  }
  return clean;
}

function stage(bench: Bench, source: SkillTree | undefined): boolean {
  if (source === undefined) return false;
  // The configuration's own directory is the operator's to make.
  const missing = isAbsent(bench.parent) ? [bench.parent] : [];
  if (!createDirectories(missing, DIRECTORY_MODE)) return false;
  if (stageTree(bench, source)) return true;
  removeEmpty(missing);
  return false;
}

function place(bench: Bench, source: SkillTree | undefined): boolean {
  if (source === undefined) return false;
  const staged = stagedAt(bench, source.fingerprint);
  if (!isExactly(staged, source.fingerprint)) return false;
  moveTree(staged, placeOf(bench));
  return true;
}

function recordBase(overrides: string, name: string, fingerprint: string): boolean {
  const read = readBases(overrides);
  if (read.kind === 'corrupt') return false;
  const bases = new Map(read.kind === 'bases' ? read.bases : []).set(name, fingerprint);
  const sorted = [...bases].sort(([a], [b]) => (a < b ? -1 : 1));
  const text = `${JSON.stringify({ schemaVersion: 1, bases: Object.fromEntries(sorted) }, null, 2)}\n`;
  const bytes = Buffer.from(text);
  return parseBases(bytes) !== undefined && replaceFile(basesFile(overrides), bytes, BASES_MODE);
}
