/** `--repo`: records where coding may happen in one workspace. */
import { isDeepStrictEqual } from 'node:util';
import { configurationFiles } from '../../adapters/fs/configuration-files.ts';
import { replaceFile } from '../../adapters/fs/durable-file.ts';
import { type Configuration, DEFAULT_IMAGE, type ExecutionProfile } from '../../config/configuration.ts';
import { ALIAS } from '../../config/limits.ts';
import { loadConfiguration, modesFileOf } from '../../config/load-configuration.ts';
import type { Finding, ModeCode, RunCode, Status } from '../../ports/setup/target.ts';
import type { ModeChoice } from '../arguments.ts';
import { loadWith } from '../load-with.ts';
import { entryOf, readModes, withEntry } from './edit.ts';

export interface SetModeInput {
  readonly workspace: string;
  readonly choice: ModeChoice;
  readonly dryRun: boolean;
  /** Absolute. */
  readonly configuration: string;
  readonly packageRoot: string;
  /**
   * What keeps a container with this image from being used here, if something does. Tries it, which takes a
   * moment; asked only when the answer matters.
   */
  readonly obstacle: (image: string) => Promise<'container_unusable' | 'image_missing' | undefined>;
}

type Outcome = readonly [Status, ModeCode | RunCode];

/** Never rejects, except for defects. The finding's alias is the workspace if it is a possible one, else `invalid`. */
export async function setMode(input: SetModeInput): Promise<Finding> {
  const [status, code] = await decide(input);
  const alias = ALIAS.test(input.workspace) ? input.workspace : 'invalid';
  return { target: { client: 'workspace', scope: 'mode', alias }, status, code };
}

async function decide(input: SetModeInput): Promise<Outcome> {
  const { workspace, choice, configuration, packageRoot } = input;
  const env = { PI_SESSION_MCP_CONFIG: configuration };
  const loaded = loadConfiguration({ env, packageRoot, files: configurationFiles });
  if (!loaded.ok) return ['failed', loaded.code === 'invalid_execution_modes' ? 'modes_invalid' : 'doctor_failed'];
  if (!Object.hasOwn(loaded.configuration.workspaces, workspace)) return ['failed', 'workspace_unknown'];
  if (choice.mode === 'host' && !choice.acceptHostWrites) return ['failed', 'host_writes_not_accepted'];
  const entry = await chooseEntry(input, loaded.configuration);
  if (entry === undefined) return ['failed', 'mode_required'];
  const document = readModes(modesFileOf(configuration), configurationFiles);
  const text = withEntry(document, workspace, entry);
  const next = loadWith(new Map([[modesFileOf(configuration), text]]), configuration, packageRoot, configurationFiles);
  if (next === undefined) return ['failed', 'mode_settings_invalid'];
  if (isDeepStrictEqual(next.workspaces[workspace], loaded.configuration.workspaces[workspace])) {
    return ['unchanged', 'mode_unchanged'];
  }
  const { container } = next.workspaces[workspace] ?? {};
  const obstacle = container && (await input.obstacle(container.image));
  if (obstacle) return ['failed', obstacle];
  if (input.dryRun) return ['planned', 'mode_planned'];
  const written = replaceFile(modesFileOf(configuration), Buffer.from(text), 0o600);
  return written ? ['ok', 'mode_applied'] : ['failed', 'mode_write_failed'];
}

/** Without a choice a container is taken, but only where it works; nothing weaker is ever chosen by itself. */
async function chooseEntry({ choice, obstacle }: SetModeInput, { executionProfiles }: Configuration) {
  if (choice.mode !== undefined) return entryOf(choice.mode, choice);
  if (await obstacle(DEFAULT_IMAGE)) return undefined;
  const profiles = Object.values(executionProfiles).filter(worksInBox);
  return entryOf('container', { ...choice, settings: { profiles: profiles.map(({ alias }) => alias) } });
}

/** A box has no extensions and no external servers (docs/boundary.md), and none of Cursor's own processes. */
function worksInBox({ permissionProfile, provider, extensions, mcpServers }: ExecutionProfile): boolean {
  const isPlain = extensions.length === 0 && mcpServers.length === 0;
  return permissionProfile === 'coding' && provider.toLowerCase() !== 'cursor' && isPlain;
}
