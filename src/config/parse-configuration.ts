import { resolve } from 'node:path';
import type { ExecutionProfile, GrantedServer, SelectedSkill, ThinkingLevel } from './configuration.ts';
import type { IssueLog } from './issues.ts';
import { ALIAS } from './limits.ts';
import { checkProfile, selectSkills } from './profile-rules.ts';
import { recordOf } from './records.ts';
import { documentSchema, type ProfileInput, profileSchema, workspaceSchema } from './schema.ts';
import { catalogValueProblem, resolveSkill, type SkillPlaces } from './skill-catalog.ts';

export interface ParsedConfiguration {
  /** Alias → absolute directory. */
  readonly workspaces: ReadonlyMap<string, string>;
  readonly executionProfiles: Readonly<Record<string, ExecutionProfile>>;
  readonly defaultExecutionProfile: string;
}

/**
 * Turns the parsed JSON into workspaces and profiles with every path resolved.
 * `undefined` means that at least one issue went to the log.
 */
export function parseConfiguration(
  value: unknown,
  places: SkillPlaces,
  log: IssueLog,
): ParsedConfiguration | undefined {
  const document = documentSchema.safeParse(value);
  if (!document.success) {
    log.addAll([], document.error);
    return undefined;
  }
  const workspaces = parseWorkspaces(document.data.workspaces, places.directory, log);
  const skills = catalogOf(document.data.skillCatalog ?? {}, places, log);
  const profiles: ExecutionProfile[] = [];
  let complete = true;
  for (const [alias, entry] of Object.entries(document.data.executionProfiles)) {
    if (log.settled) return undefined;
    const profile = parseProfile(alias, entry, skills, log);
    if (profile === undefined) complete = false;
    else profiles.push(profile);
  }
  // An unread profile may be the default, so who it is can only be judged with all of them.
  const chosen = complete ? findDefault(profiles, log) : undefined;
  if (chosen === undefined || !log.empty) return undefined;
  const executionProfiles = recordOf(profiles.map((profile) => [profile.alias, profile] as const));
  return { workspaces, executionProfiles, defaultExecutionProfile: chosen };
}

function parseWorkspaces(entries: Record<string, unknown>, directory: string, log: IssueLog): Map<string, string> {
  const workspaces = new Map<string, string>();
  for (const [alias, entry] of Object.entries(entries)) {
    if (log.settled) break;
    if (!ALIAS.test(alias)) log.add(['workspaces', alias], 'has a malformed alias');
    const result = workspaceSchema.safeParse(entry);
    if (result.success) workspaces.set(alias, resolve(directory, result.data));
    else log.addAll(['workspaces', alias], result.error);
  }
  return workspaces;
}

interface Catalog {
  /** Is there an entry, good or bad? */
  listed(alias: string): boolean;
  /** What a good entry resolves to; looked up once per alias. */
  pathOf(alias: string): string | undefined;
}

function catalogOf(entries: Record<string, unknown>, places: SkillPlaces, log: IssueLog): Catalog {
  const values = new Map<string, string>();
  const paths = new Map<string, string>();
  for (const [alias, value] of Object.entries(entries)) {
    if (!ALIAS.test(alias)) log.add(['skillCatalog', alias], 'has a malformed alias');
    const problem = catalogValueProblem(value);
    if (problem !== undefined) log.add(['skillCatalog', alias], problem);
    else values.set(alias, value as string);
  }
  return {
    listed: (alias) => Object.hasOwn(entries, alias),
    pathOf: (alias) => {
      const value = values.get(alias);
      if (value === undefined) return undefined;
      const path = paths.get(alias) ?? resolveSkill(value, places);
      paths.set(alias, path);
      return path;
    },
  };
}

/** `undefined` when the entry's shape is broken; a profile with a wrong level is still judged by every other rule. */
function parseProfile(alias: string, entry: unknown, skills: Catalog, log: IssueLog): ExecutionProfile | undefined {
  if (!ALIAS.test(alias)) log.add(['executionProfiles', alias], 'has a malformed alias');
  const result = profileSchema.safeParse(entry);
  if (!result.success) {
    log.addAll(['executionProfiles', alias], result.error);
    return undefined;
  }
  const level = checkProfile(alias, result.data, log);
  const selected = selectSkills(alias, result.data, skills, log);
  return buildProfile(alias, result.data, level ?? 'off', selected);
}

function buildProfile(
  alias: string,
  input: ProfileInput,
  thinkingLevel: ThinkingLevel,
  skills: readonly SelectedSkill[],
): ExecutionProfile {
  const servers = Object.entries(input.mcpServers ?? {});
  return {
    alias,
    default: input.default,
    permissionProfile: input.permissionProfile,
    provider: input.provider,
    model: input.model,
    thinkingLevel,
    extensions: input.extensions ?? [],
    grantedExtensionTools: input.grantedExtensionTools ?? [],
    skills,
    mcpServers: servers.map(
      ([server, grant]): GrantedServer => ({
        alias: server,
        command: grant.command,
        args: grant.args ?? [],
        envFrom: recordOf(Object.entries(grant.envFrom ?? {})),
        tools: recordOf(Object.entries(grant.tools)),
      }),
    ),
  };
}

/** Exactly one profile is the default, and it cannot write: a client that names no profile must get the safe one. */
function findDefault(profiles: readonly ExecutionProfile[], log: IssueLog): string | undefined {
  const defaults = profiles.filter((profile) => profile.default);
  const [first, ...others] = defaults;
  if (first === undefined) log.add(['executionProfiles'], 'must have one profile with default: true');
  for (const { alias } of others) log.add(['executionProfiles', alias, 'default'], 'is true for another profile too');
  for (const { alias, permissionProfile } of defaults) {
    if (permissionProfile !== 'read-only') {
      log.add(['executionProfiles', alias, 'permissionProfile'], 'must be "read-only" for the default profile');
    }
  }
  return first?.alias;
}
