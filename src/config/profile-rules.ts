/** Rules over one profile that no single field can show (docs/configuration.md). */
import { type SelectedSkill, THINKING_LEVELS, type ThinkingLevel } from './configuration.ts';
import { parseExtensionSpec } from './extension-spec.ts';
import type { IssueLog } from './issues.ts';
import { MAX_SERVER_TOOLS } from './limits.ts';
import type { ProfileInput } from './schema.ts';

const EXTENSION_TOOL = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
const BUILT_IN_TOOLS = new Set(['read', 'bash', 'edit', 'write', 'grep', 'find', 'ls']);
const RESERVED_TOOLS = new Set(['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource']);

/** Alias → absolute path, for every catalogue entry that is good. */
export type SkillPaths = (alias: string) => string | undefined;

type Report = (path: readonly PropertyKey[], problem: string) => void;

/** Checks everything but skills; returns the level if it is one. */
export function checkProfile(alias: string, profile: ProfileInput, log: IssueLog): ThinkingLevel | undefined {
  const report: Report = (path, problem) => log.add(['executionProfiles', alias, ...path], problem);
  checkExtensions(profile, report);
  checkExtensionTools(profile, report);
  checkGrants(profile, report);
  const level = THINKING_LEVELS.find((known) => known === profile.thinkingLevel);
  if (level === undefined) log.addThinkingLevel(alias, `must be one of ${THINKING_LEVELS.join(', ')}`);
  return level;
}

/** The profile's skills in configured order, with what they resolve to; bad ones are reported and left out. */
export function selectSkills(
  alias: string,
  profile: ProfileInput,
  paths: { readonly listed: (skill: string) => boolean; readonly pathOf: SkillPaths },
  log: IssueLog,
): readonly SelectedSkill[] {
  const report: Report = (path, problem) => log.add(['executionProfiles', alias, ...path], problem);
  const chosen = new Set<string>();
  const taken = new Set<string>();
  const selected: SelectedSkill[] = [];
  for (const [index, skill] of (profile.skills ?? []).entries()) {
    if (chosen.has(skill)) {
      report(['skills', index], 'selects a skill that is already selected');
      continue;
    }
    chosen.add(skill);
    if (!paths.listed(skill)) report(['skills', index], 'is not an alias of the skillCatalog');
    const path = paths.pathOf(skill);
    if (path === undefined) continue;
    if (taken.has(path)) report(['skills', index], 'resolves to the same file as another selected skill');
    taken.add(path);
    selected.push({ alias: skill, path });
  }
  return selected;
}

function checkExtensions(profile: ProfileInput, report: Report): void {
  const packages = new Set<string>();
  for (const [index, spec] of (profile.extensions ?? []).entries()) {
    const parsed = parseExtensionSpec(spec);
    if (parsed === undefined) report(['extensions', index], 'must be npm:<name>@<exact version>');
    else if (packages.has(parsed.name)) report(['extensions', index], 'names a package that is already listed');
    if (parsed !== undefined) packages.add(parsed.name);
  }
}

function checkExtensionTools(profile: ProfileInput, report: Report): void {
  const tools = profile.grantedExtensionTools;
  if (tools === undefined) return;
  const field = 'grantedExtensionTools';
  if (profile.permissionProfile !== 'read-only') report([field], 'is only for read-only profiles');
  if ((profile.extensions ?? []).length === 0) report([field], 'needs at least one extension');
  for (const [index, tool] of tools.entries()) {
    const problem = extensionToolProblem(tool);
    if (problem !== undefined) report([field, index], problem);
    else if (tools.indexOf(tool) < index) report([field, index], 'is already granted');
  }
}

/** What is wrong with a name for an extension's tool, whoever gives it. */
export function extensionToolProblem(tool: string): string | undefined {
  if (!EXTENSION_TOOL.test(tool)) return 'must be 1 to 64 letters, digits, _ or -, not starting with -';
  if (BUILT_IN_TOOLS.has(tool)) return 'is the name of a built-in tool';
  return tool.startsWith('mcp__') || RESERVED_TOOLS.has(tool) ? 'is a name reserved for MCP' : undefined;
}

function checkGrants(profile: ProfileInput, report: Report): void {
  const names = new Set<string>();
  let count = 0;
  for (const [server, grant] of Object.entries(profile.mcpServers ?? {})) {
    for (const [tool, granted] of Object.entries(grant.tools)) {
      const path = ['mcpServers', server, 'tools', tool];
      const name = `mcp_${server}_${tool}`;
      if (names.has(name)) report(path, 'makes a tool name that another server and tool make too');
      names.add(name);
      count += 1;
      if (profile.permissionProfile === 'read-only' && !granted.readOnly) {
        report([...path, 'readOnly'], 'must be true in a read-only profile');
      }
    }
  }
  if (count > MAX_SERVER_TOOLS) report(['mcpServers'], `must grant at most ${MAX_SERVER_TOOLS} tools in all`);
}
