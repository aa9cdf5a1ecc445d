/** `execution-modes.json` with one workspace's mode set: every other entry stays as it is. */
import { dirname, join } from 'node:path';
import type { Configuration } from '../../config/configuration.ts';
import type { ConfigurationFiles } from '../../config/files.ts';
import { loadConfiguration } from '../../config/load-configuration.ts';
import type { ModeChoice } from '../arguments.ts';

export const modesFile = (configuration: string) => join(dirname(configuration), 'execution-modes.json');

const MAX_BYTES = 1_048_576;

/** The mode file that is there; the loaded configuration has proved that it is valid, or absent. */
export function readModes(path: string, files: ConfigurationFiles): Record<string, unknown> {
  const read = files.read(path, MAX_BYTES);
  return read.ok ? (JSON.parse(Buffer.from(read.bytes).toString('utf8')) as Record<string, unknown>) : {};
}

export function entryOf(mode: NonNullable<ModeChoice['mode']>, { settings }: ModeChoice): Record<string, unknown> {
  if (mode === 'host') return { mode, acceptHostWrites: true };
  return mode === 'container' ? { mode, ...settings } : { mode };
}

export function withEntry(document: Record<string, unknown>, workspace: string, entry: unknown): string {
  const { workspaces = {}, ...rest } = document;
  const all = { ...(workspaces as Record<string, unknown>), [workspace]: entry };
  return `${JSON.stringify({ schemaVersion: 1, ...rest, workspaces: all }, null, 2)}\n`;
}

/** The configuration as the server would load it with this text in the place of the mode file. */
export function loadWith(
  text: string,
  configuration: string,
  packageRoot: string,
  files: ConfigurationFiles,
): Configuration | undefined {
  const modes = modesFile(configuration);
  const loaded = loadConfiguration({
    env: { PI_SESSION_MCP_CONFIG: configuration },
    packageRoot,
    files: {
      read: (path, limit) => (path === modes ? { ok: true, bytes: Buffer.from(text) } : files.read(path, limit)),
      exists: (path) => files.exists(path),
    },
  });
  return loaded.ok ? loaded.configuration : undefined;
}
