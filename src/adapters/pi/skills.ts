/** Exactly the skills that a profile selects: checked, loaded by the SDK, and kept the only ones. */
import { realpathSync, statSync } from 'node:fs';
import type { ExecutionProfile, SelectedSkill } from '../../config/configuration.ts';
import { MAX_SKILL_BYTES } from '../../config/limits.ts';
import type { StartFailure, StartStage } from '../../ports/agent.ts';
import type { Diagnostics } from '../../ports/diagnostics.ts';
import type { OpenedRuntime } from './model-runtime.ts';
import type { Sdk, Skill } from './sdk.ts';
import { startFailure } from './selection.ts';

export interface SkillSource {
  readonly opened: Pick<OpenedRuntime, 'sdk' | 'agentDir'>;
  readonly profile: Pick<ExecutionProfile, 'skills'>;
  /** Absolute path of the workspace. */
  readonly directory: string;
  readonly diagnostics: Diagnostics;
}

export type SkillSelection = { readonly ok: true; readonly skills: readonly Skill[] } | StartFailure;

type LoaderOptions = ConstructorParameters<Sdk['DefaultResourceLoader']>[0];

/** The failure of a skill; `subject` names the one alias to blame, or counts those that clash. */
export function skillFailure(stage: StartStage, subject?: NonNullable<StartFailure['subject']>): StartFailure {
  const failure = startFailure('skill_load_failed', stage);
  return subject ? { ...failure, subject } : failure;
}

/**
 * Loads the selected files, in configured order. All or nothing: a session that
 * lacks one of its skills, or has it under somebody else's name, must not start.
 */
export function loadSelectedSkills(source: SkillSource): SkillSelection {
  const skills: Skill[] = [];
  const files: string[] = [];
  for (const selected of source.profile.skills) {
    try {
      files.push(requireSkillFile(selected.path));
      skills.push(loadSkill(source, selected));
    } catch {
      // The error may hold the path or the SDK's text; the alias is all that leaves.
      return skillFailure('skill_load', { skill: selected.alias });
    }
  }
  // The SDK would drop one of two namesakes, and of two ways to one file, without failing.
  const clashing = clashes(files) || clashes(skills.map(({ name }) => name));
  return clashing > 0 ? skillFailure('skill_load', { count: clashing }) : { ok: true, skills };
}

/**
 * Loader options with which the session has these skills and no other, and no
 * prompt template or theme. The overrides hold when an extension adds resources
 * later, too; the switches alone would let those in.
 */
export function closedCatalogues(skills: readonly Skill[]) {
  return {
    noSkills: true,
    noPromptTemplates: true,
    noThemes: true,
    skillsOverride: () => ({ skills: [...skills], diagnostics: [] }),
    promptsOverride: () => ({ prompts: [], diagnostics: [] }),
    themesOverride: () => ({ themes: [], diagnostics: [] }),
  } satisfies Partial<LoaderOptions>;
}

/** Are these the same skills, from the same files, in the same order? */
export function sameSkills(actual: readonly Skill[], expected: readonly Skill[]): boolean {
  return (
    actual.length === expected.length &&
    expected.every(({ name, filePath }, at) => actual[at]?.name === name && actual[at].filePath === filePath)
  );
}

/**
 * The canonical path of a file that may be read. Decided without opening it: a
 * FIFO would block, and a device may act on being opened. An empty file is no
 * skill, and neither is one of `/proc`, which says that it is empty.
 */
function requireSkillFile(path: string): string {
  const stat = statSync(path);
  if (!stat.isFile() || stat.size === 0 || stat.size > MAX_SKILL_BYTES) throw new Error('not a skill file');
  return realpathSync.native(path);
}

/** One call per file, so that what the SDK finds wrong belongs to one alias. */
function loadSkill({ opened, directory, diagnostics }: SkillSource, { alias, path }: SelectedSkill): Skill {
  const { sdk, agentDir } = opened;
  const load = () => sdk.loadSkills({ cwd: directory, agentDir, skillPaths: [path], includeDefaults: false });
  const { result, warnings } = withoutWarnings(load);
  const [skill] = result.skills;
  // Pi hides such a skill from the model, and a prompt cannot call it up: it would be there for nobody.
  const usable = skill?.filePath === path && !skill.disableModelInvocation;
  if (!usable || result.diagnostics.length > 0) throw new Error('not a valid skill');
  if (warnings > 0) diagnostics.report('warn', 'skill_warnings_suppressed', { skill: alias, count: warnings });
  return skill;
}

/** The SDK's YAML parser prints the lines that it merely wonders about; contents never leave the server. */
function withoutWarnings<T>(run: () => T): { readonly result: T; readonly warnings: number } {
  const emitWarning = process.emitWarning;
  let warnings = 0;
  process.emitWarning = () => {
    warnings += 1;
  };
  try {
    return { result: run(), warnings };
  } finally {
    // All of this is synchronous, so nobody else's warning is lost.
    process.emitWarning = emitWarning;
  }
}

/** How many share their value with another one. */
function clashes(values: readonly string[]): number {
  return values.filter((value, at) => values.some((other, index) => index !== at && other === value)).length;
}
