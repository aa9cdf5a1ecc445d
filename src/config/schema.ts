/**
 * The shape of every field, one section at a time
 * (docs/configuration.md). Rules that look at two fields are in `profile-rules.ts`. Sizes are
 * checked before entries, so that a huge list is one issue and not thousands.
 * zod/mini, because building these schemas is part of every start.
 */
import * as z from 'zod/mini';
import {
  ENVIRONMENT_NAME,
  GRANT_ALIAS,
  MAX_ARGUMENTS,
  MAX_CATALOG_SKILLS,
  MAX_ENVIRONMENT,
  MAX_EXTENSION_TOOLS,
  MAX_EXTENSIONS,
  MAX_NAME_LENGTH,
  MAX_PATH_LENGTH,
  MAX_PROFILE_SKILLS,
  MAX_SERVER_TOOLS,
  MAX_SERVERS,
} from './limits.ts';

const anyMap = z.record(z.string(), z.unknown());
const nonEmptyMap = anyMap.check(z.refine((map) => Object.keys(map).length > 0, 'must have at least 1 entry'));

function atMost(map: typeof anyMap, max: number): typeof anyMap {
  return map.check(z.refine((entries) => Object.keys(entries).length <= max, `must have at most ${max} entries`));
}

/** A list whose entries are only looked at when there are at most `max` of them. */
export function list<T extends z.ZodMiniType>(item: T, max: number) {
  return z.pipe(z.array(z.unknown()).check(z.maxLength(max)), z.array(item));
}

const withoutNul = z.refine<string>((value) => !value.includes('\0'), 'must not contain NUL');

const name = z.string().check(z.trim(), z.minLength(1), z.maxLength(MAX_NAME_LENGTH));
const grantAlias = z.string().check(z.regex(GRANT_ALIAS));
const environmentName = z.string().check(z.regex(ENVIRONMENT_NAME, 'must be an environment variable name'));

const grantedTool = z.strictObject({
  name: z.string().check(z.minLength(1), z.maxLength(MAX_NAME_LENGTH)),
  readOnly: z.boolean(),
});

const grantedServer = z.strictObject({
  command: z.string().check(
    z.maxLength(MAX_PATH_LENGTH),
    z.refine((value) => value.startsWith('/'), 'must be an absolute path'),
    withoutNul,
  ),
  args: z.optional(list(z.string().check(z.maxLength(MAX_PATH_LENGTH), withoutNul), MAX_ARGUMENTS)),
  envFrom: z.optional(z.pipe(atMost(anyMap, MAX_ENVIRONMENT), z.record(environmentName, environmentName))),
  tools: z.pipe(atMost(nonEmptyMap, MAX_SERVER_TOOLS), z.record(grantAlias, grantedTool)),
});

/** One entry of `executionProfiles`. The level is looked at by a rule, because it has a startup code of its own. */
export const profileSchema = z.strictObject({
  default: z.boolean(),
  permissionProfile: z.enum(['read-only', 'coding']),
  provider: name,
  model: name,
  thinkingLevel: z.unknown(),
  extensions: z.optional(list(z.string(), MAX_EXTENSIONS)),
  grantedExtensionTools: z.optional(list(z.string(), MAX_EXTENSION_TOOLS)),
  skills: z.optional(list(z.string(), MAX_PROFILE_SKILLS)),
  mcpServers: z.optional(z.pipe(atMost(anyMap, MAX_SERVERS), z.record(grantAlias, grantedServer))),
});
export type ProfileInput = z.infer<typeof profileSchema>;

/** One entry of `workspaces`. */
export const workspaceSchema = z.string().check(
  z.minLength(1),
  withoutNul,
  z.refine((value) => !value.includes('~'), 'must not contain ~, which is not expanded'),
);

/** The top level; entries are left to the schemas above, so that each alias gets its own findings. */
export const documentSchema = z.strictObject({
  workspaces: anyMap,
  executionProfiles: nonEmptyMap,
  skillCatalog: z.optional(atMost(anyMap, MAX_CATALOG_SKILLS)),
});
