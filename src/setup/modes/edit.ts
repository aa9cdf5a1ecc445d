/** `execution-modes.json` with one workspace's mode set: every other entry stays as it is. */
import type { ConfigurationFiles } from '../../config/files.ts';
import { MAX_FILE_BYTES } from '../../config/limits.ts';
import type { ModeChoice } from '../arguments.ts';

/** The mode file that is there; the loaded configuration has proved that it is valid, or absent. */
export function readModes(path: string, files: ConfigurationFiles): Record<string, unknown> {
  const read = files.read(path, MAX_FILE_BYTES);
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
