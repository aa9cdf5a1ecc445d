import { join, resolve } from 'node:path';
import type { ConfigurationFiles } from './files.ts';
import { isSkillName, MAX_PATH_LENGTH } from './limits.ts';

const BUILTIN = 'builtin:';
const SKILL_FILE = 'SKILL.md';

export interface SkillPlaces {
  /** Absolute directory of the configuration file; its `skills/` holds the operator's overrides. */
  readonly directory: string;
  /** Absolute root of the package; its `skills/` holds the shipped ones. */
  readonly packageRoot: string;
  readonly files: Pick<ConfigurationFiles, 'exists'>;
}

/** What is wrong with a catalogue value, as fixed text, or `undefined` for a good one (docs/skills.md). */
export function catalogValueProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length > MAX_PATH_LENGTH) return `must have at most ${MAX_PATH_LENGTH} characters`;
  if (value.startsWith(BUILTIN)) {
    return isSkillName(value.slice(BUILTIN.length)) ? undefined : 'must name a library skill after builtin:';
  }
  if (value.includes('\0')) return 'must not contain NUL';
  if (value.includes('~')) return 'must not contain ~, which is not expanded';
  if (value.includes('\\')) return 'must not contain a backslash';
  // A colon before the first slash is a scheme or a remote host, never one of our paths.
  if (/^[^/]*:/.test(value)) return 'must be builtin:<name> or a local path, not another source';
  if (/[*?[\]{}]/.test(value)) return 'must name one file, not a pattern';
  if (value !== SKILL_FILE && !value.endsWith(`/${SKILL_FILE}`)) return `must be a path that ends in ${SKILL_FILE}`;
  return undefined;
}

/**
 * The absolute path behind a good catalogue value. A library skill is the
 * operator's override if there is one, else the shipped location, whether or not
 * anything is there: a missing skill fails its session and not the server.
 */
export function resolveSkill(value: string, places: SkillPlaces): string {
  if (!value.startsWith(BUILTIN)) return resolve(places.directory, value);
  const name = value.slice(BUILTIN.length);
  const override = join(places.directory, 'skills', name, SKILL_FILE);
  return places.files.exists(override) ? override : join(places.packageRoot, 'skills', name, SKILL_FILE);
}
