/** `--repo`: where coding may happen in one workspace, checked first and recorded when all else has been checked. */
import { isDeepStrictEqual } from 'node:util';
import { configurationFiles } from '../../adapters/fs/configuration-files.ts';
import { replaceFile } from '../../adapters/fs/durable-file.ts';
import {
  type Configuration,
  type ContainerSettings,
  DEFAULT_IMAGE,
  type ExecutionProfile,
} from '../../config/configuration.ts';
import type { ConfigurationFiles } from '../../config/files.ts';
import { ALIAS } from '../../config/limits.ts';
import { loadConfiguration, modesFileOf } from '../../config/load-configuration.ts';
import type { Finding, ModeCode, RunCode, SettingName, Status } from '../../ports/setup/target.ts';
import type { ModeChoice } from '../arguments.ts';
import { filesWith, loadWith } from '../load-with.ts';
import { entryOf, readModes, withEntry } from './edit.ts';

export type Obstacle = 'container_unusable' | 'image_missing';

export interface SetModeInput {
  readonly workspace: string;
  readonly choice: ModeChoice;
  /** Absolute. */
  readonly configuration: string;
  readonly packageRoot: string;
  /**
   * What keeps a container with this image from being used here, if something does. Tries it, which takes a
   * moment; asked only when the answer matters.
   */
  readonly obstacle: (image: string) => Promise<Obstacle | undefined>;
}

export type Mode = NonNullable<ModeChoice['mode']>;
type Outcome = readonly [Status, ModeCode | RunCode];

/** A mode that fits the configuration, and is not written yet. */
export interface PreparedMode {
  readonly ok: true;
  readonly alias: string;
  readonly mode: Mode;
  /** Is it another one than is recorded? */
  readonly isChanged: boolean;
  /** The configuration's files as they will be. */
  readonly files: ConfigurationFiles;
  readonly container?: ContainerSettings;
  finding(status: Status, code: ModeCode): Finding;
  /** Writes it; whatever has become of the other entries meanwhile stays. @returns The mode's last finding. */
  record(): Finding;
}

/** Writes nothing. Never rejects, except for defects. A refusal's alias is the workspace if it is a possible one, else `invalid`. */
export async function prepareMode(input: SetModeInput): Promise<PreparedMode | { ok: false; finding: Finding }> {
  const prepared = await prepare(input);
  if ('ok' in prepared) return prepared;
  const [status, code] = prepared;
  const alias = ALIAS.test(input.workspace) ? input.workspace : 'invalid';
  return { ok: false, finding: { target: { client: 'workspace', scope: 'mode', alias }, status, code } };
}

async function prepare(input: SetModeInput): Promise<PreparedMode | Outcome> {
  const { workspace, choice, configuration, packageRoot } = input;
  const env = { PI_SESSION_MCP_CONFIG: configuration };
  const loaded = loadConfiguration({ env, packageRoot, files: configurationFiles });
  if (!loaded.ok) return ['failed', loaded.code === 'invalid_execution_modes' ? 'modes_invalid' : 'doctor_failed'];
  if (!Object.hasOwn(loaded.configuration.workspaces, workspace)) return ['failed', 'workspace_unknown'];
  if (choice.mode === 'host' && !choice.acceptHostWrites) return ['failed', 'host_writes_not_accepted'];
  const entry = await chooseEntry(input, loaded.configuration);
  if (entry === undefined) return ['failed', 'mode_required'];
  const path = modesFileOf(configuration);
  const draft = () => {
    const texts = new Map([[path, withEntry(readModes(path, configurationFiles), workspace, entry)]]);
    return { texts, next: loadWith(texts, configuration, packageRoot, configurationFiles) };
  };
  const { texts, next } = draft();
  if (next === undefined) return ['failed', 'mode_settings_invalid'];
  const [before, after] = [loaded.configuration.workspaces[workspace], next.workspaces[workspace]];
  const settings = changesOf(before?.container, after?.container);
  const mode = choice.mode ?? 'container';
  const finding = (status: Status, code: ModeCode): Finding => ({
    ...{ target: { client: 'workspace', scope: 'mode', alias: workspace }, status, code, mode },
    ...(settings.length > 0 && { settings }),
  });
  const write = (): boolean => {
    try {
      const now = draft();
      return now.next !== undefined && replaceFile(path, Buffer.from(now.texts.get(path) ?? ''), 0o600);
    } catch {
      // Meanwhile it has become something that is no JSON.
      return false;
    }
  };
  return {
    ...{ ok: true, alias: workspace, mode, isChanged: !isDeepStrictEqual(before, after), finding },
    files: filesWith(texts, configurationFiles),
    ...(after?.container && { container: after.container }),
    record: () => (write() ? finding('ok', 'mode_applied') : finding('failed', 'mode_write_failed')),
  };
}

/** Nothing when it was no container: then all of it is new. */
function changesOf(before: ContainerSettings | undefined, after: ContainerSettings | undefined): SettingName[] {
  if (before === undefined || after === undefined) return [];
  const names = Object.keys(after) as (keyof ContainerSettings)[];
  return names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
}

/** Without a choice a container is taken, but only where it works; nothing weaker is ever chosen by itself. */
async function chooseEntry({ choice, obstacle }: SetModeInput, { executionProfiles }: Configuration) {
  if (choice.mode !== undefined) return entryOf(choice.mode, choice);
  const profiles = Object.values(executionProfiles).filter(worksInBox);
  if (profiles.length === 0 || (await obstacle(DEFAULT_IMAGE))) return undefined;
  return entryOf('container', { ...choice, settings: { profiles: profiles.map(({ alias }) => alias) } });
}

/** A box has no extensions and no external servers (docs/boundary.md), and none of Cursor's own processes. */
function worksInBox({ permissionProfile, provider, extensions, mcpServers }: ExecutionProfile): boolean {
  const isPlain = extensions.length === 0 && mcpServers.length === 0;
  return permissionProfile === 'coding' && provider.toLowerCase() !== 'cursor' && isPlain;
}
