/** The rules for tools that extensions register. */
import type { ExecutionProfile } from '../../config/configuration.ts';
import { extensionToolProblem } from '../../config/profile-rules.ts';
import type { StartFailure, StartStage } from '../../ports/agent.ts';
import type { LoadedExtensions } from './extension-set.ts';
import { grantedToolNames } from './granted-tools.ts';
import type { AgentSession, Sdk, ToolDefinition } from './sdk.ts';
import { startFailure } from './selection.ts';
import type { GateRules } from './tool-gate.ts';

/** Names that Pi would let past an allowlist, because they look like MCP's. */
const MCP_TOOLS = ['mcp__*', 'list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource'];

type Registered = Pick<LoadedExtensions, 'result' | 'ownerOf'>;
type SessionOptions = NonNullable<Parameters<Sdk['createAgentSession']>[0]>;

/**
 * A name that is unsafe, reserved, built in, granted from outside or another
 * extension's fails the start. Never says the name: only the extension knows it.
 */
export function toolConflict(
  loaded: Registered,
  profile: ExecutionProfile,
  stage: StartStage,
): StartFailure | undefined {
  const taken = new Set(grantedToolNames(profile));
  for (const extension of loaded.result.extensions) {
    const owner = loaded.ownerOf(extension.path);
    for (const name of extension.tools.keys()) {
      if (extensionToolProblem(name) !== undefined || taken.has(name)) {
        return { ...startFailure('extension_tool_conflict', stage), ...(owner && { subject: { extension: owner } }) };
      }
      taken.add(name);
    }
  }
  return undefined;
}

/** A grant counts when its tool is there as soon as the extension is loaded. */
export function missingGrant(
  profile: ExecutionProfile,
  stage: StartStage,
  isThere: (tool: string) => boolean,
): StartFailure | undefined {
  const [tool] = profile.grantedExtensionTools.filter((name) => !isThere(name));
  return tool === undefined ? undefined : { ...startFailure('extension_tool_missing', stage), subject: { tool } };
}

export function isRegistered(
  { result }: Pick<Registered, 'result'>,
  name: string,
  definition?: ToolDefinition,
): boolean {
  return result.extensions.some(({ tools }) => {
    const found = tools.get(name)?.definition;
    return found !== undefined && (definition === undefined || found === definition);
  });
}

/**
 * Which tools the SDK is asked for. A read-only list is closed: what is
 * registered beyond it never gets in. A coding list only adds to Pi's own,
 * because every extension tool is part of it.
 */
export function toolSelection(
  profile: ExecutionProfile,
  core: readonly string[],
): Pick<SessionOptions, 'tools' | 'excludeTools'> {
  const tools =
    profile.permissionProfile === 'coding'
      ? core.map((name) => `+${name}`)
      : [...core, ...profile.grantedExtensionTools];
  return { tools, excludeTools: MCP_TOOLS };
}

/** What the session may have in use, and has to, when it is admitted. */
export function verifyExtendedTools(
  session: AgentSession,
  profile: ExecutionProfile,
  core: readonly string[],
  loaded: Registered,
): StartFailure | undefined {
  const active = session.getActiveToolNames();
  const used = [...active, ...session.getCallableToolNames()];
  const mismatch = startFailure('execution_selection_mismatch', 'postcheck');
  if (profile.permissionProfile === 'coding') {
    return used.every((name) => core.includes(name) || isRegistered(loaded, name)) ? undefined : mismatch;
  }
  const missing = missingGrant(profile, 'postcheck', (tool) => active.includes(tool));
  if (missing) return missing;
  const expected = [...core, ...profile.grantedExtensionTools];
  const exact = active.length === expected.length && used.every((name) => expected.includes(name));
  return exact ? undefined : mismatch;
}

export function gateRules(profile: ExecutionProfile, core: readonly string[], loaded: Registered): GateRules {
  if (profile.permissionProfile !== 'coding') return { verified: [...core, ...profile.grantedExtensionTools] };
  const admits = (name: string, definition: ToolDefinition) =>
    extensionToolProblem(name) === undefined && isRegistered(loaded, name, definition);
  return { verified: core, admits };
}
