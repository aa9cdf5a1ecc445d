/** Names and sizes that the configuration must keep to (docs/configuration.md). */

/** Workspaces, profiles and catalogued skills. */
export const ALIAS = /^[a-z][a-z0-9_-]{0,63}$/;
/** External servers and their tools: shorter, because both go into one tool name. */
export const GRANT_ALIAS = /^[a-z][a-z0-9_-]{0,23}$/;
export const ENVIRONMENT_NAME = /^[A-Z_][A-Z0-9_]{0,127}$/;
/** Agent Skills rule; `isSkillName` adds the length. */
const SKILL_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

export const MAX_FILE_BYTES = 1_048_576;
/** The deepest field sits at level 8; anything far below is no configuration. */
export const MAX_NESTING = 16;
/** Enough to work from, and a bound on what a broken file can make us print. */
export const MAX_ISSUES = 50;

export const MAX_PATH_LENGTH = 4096;
export const MAX_NAME_LENGTH = 256;
export const MAX_CATALOG_SKILLS = 64;
export const MAX_PROFILE_SKILLS = 16;
export const MAX_SKILL_BYTES = 262_144;
export const MAX_EXTENSIONS = 8;
export const MAX_EXTENSION_TOOLS = 32;
export const MAX_SERVERS = 8;
export const MAX_SERVER_TOOLS = 64;
export const MAX_ARGUMENTS = 128;
export const MAX_ENVIRONMENT = 64;
export const MAX_WRITERS = 16;
/** What `container` in execution-modes.json may say, and setup's options of these names; the first is the default. */
export const LIFECYCLES = ['persistent', 'ephemeral'] as const;
export const NETWORKS = ['pasta', 'slirp4netns', 'none'] as const;
export const CACHES = ['none', 'go'] as const;
/** An image name, tag, digest or id; it becomes an argument of podman, so it must not look like an option. */
export const IMAGE_NAME = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,255}$/;
/** The contract sets no limit here; this one only bounds the work on a broken file. */
export const MAX_CONTAINER_PROFILES = 64;

export function isWriterCount(count: number): boolean {
  return Number.isInteger(count) && count >= 1 && count <= MAX_WRITERS;
}

/** Is this the name of a library skill: hyphen-separated groups of lowercase letters and digits, 1–64 characters? */
export function isSkillName(name: string): boolean {
  return name.length <= 64 && SKILL_NAME.test(name);
}
