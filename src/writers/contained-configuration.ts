/** The configuration of a contained server: one workspace, the selected coding profiles, nothing of the operator's own. */
import type { Configuration, ExecutionProfile, Workspace } from '../config/configuration.ts';
import { loadConfiguration } from '../config/load-configuration.ts';
import { INSIDE } from './places.ts';

/** The default of a contained server; it names no coding profile, so coding has to be asked for. */
export const DEFAULT_PROFILE = 'boundary-read-only';
const BUILTIN = 'builtin:';
const DIRECTORY = '/pi/server';

export interface ContainedConfiguration {
  /** `config.json`. */
  readonly configuration: string;
  /** `execution-modes.json`, beside it. */
  readonly modes: string;
  /** Names of library skills whose version of the operator's, if there is one, has to come along. */
  readonly skills: readonly string[];
}

export interface ContainedRequest {
  readonly configuration: Configuration;
  readonly workspace: Workspace;
  /** `skillCatalog` as the operator's file has it: alias → source. */
  readonly catalog: Readonly<Record<string, unknown>>;
}

function profileOf(profile: ExecutionProfile, isDefault: boolean): object {
  const { permissionProfile, provider, model, thinkingLevel, skills } = profile;
  const aliases = skills.map(({ alias }) => alias);
  return {
    default: isDefault,
    permissionProfile,
    provider,
    model,
    thinkingLevel,
    ...(aliases.length > 0 && { skills: aliases }),
  };
}

/** @returns `undefined` when a profile cannot work in a box: extensions, external servers, skills of one's own. */
export function containedConfiguration(request: ContainedRequest): ContainedConfiguration | undefined {
  const { configuration, workspace, catalog } = request;
  const selected = (workspace.container?.profiles ?? []).flatMap(
    (alias) => configuration.executionProfiles[alias] ?? [],
  );
  const [first] = selected;
  const isPlain = selected.every(({ extensions, mcpServers }) => extensions.length + mcpServers.length === 0);
  if (first === undefined || !isPlain || selected.some(({ alias }) => alias === DEFAULT_PROFILE)) return undefined;
  const aliases = [...new Set(selected.flatMap(({ skills }) => skills.map(({ alias }) => alias)))];
  const sources = aliases.map((alias) => [alias, catalog[alias]] as const);
  if (!sources.every(([, source]) => typeof source === 'string' && source.startsWith(BUILTIN))) return undefined;
  const reader: ExecutionProfile = { ...first, permissionProfile: 'read-only', skills: [] };
  const document = {
    workspaces: { [workspace.alias]: INSIDE.work },
    ...(aliases.length > 0 && { skillCatalog: Object.fromEntries(sources) }),
    executionProfiles: {
      [DEFAULT_PROFILE]: profileOf(reader, true),
      ...Object.fromEntries(selected.map((profile) => [profile.alias, profileOf(profile, false)])),
    },
  };
  // Inside, the box is the limit: what it lets a session reach, a session may write.
  const modes = {
    schemaVersion: 1,
    workspaces: { [workspace.alias]: { mode: 'host', acceptHostWrites: true } },
    ...(configuration.turnEvents && { turnEvents: true }),
  };
  const made: ContainedConfiguration = {
    configuration: `${JSON.stringify(document, null, 2)}\n`,
    modes: `${JSON.stringify(modes, null, 2)}\n`,
    skills: sources.map(([, source]) => String(source).slice(BUILTIN.length)),
  };
  return isLoadable(made) ? made : undefined;
}

/** As the server would load it; the skills' files are looked for when they are there. */
function isLoadable({ configuration, modes }: ContainedConfiguration): boolean {
  const texts: Readonly<Record<string, string>> = {
    [INSIDE.configuration]: configuration,
    [`${DIRECTORY}/execution-modes.json`]: modes,
  };
  return loadConfiguration({
    env: { PI_SESSION_MCP_CONFIG: INSIDE.configuration },
    packageRoot: '/opt/pi',
    files: {
      read: (path) => {
        const text = texts[path];
        return text === undefined ? { ok: false, reason: 'missing' } : { ok: true, bytes: Buffer.from(text) };
      },
      exists: () => true,
    },
  }).ok;
}
