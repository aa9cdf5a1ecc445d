/** The doctor's word on one workspace and the profiles of its writers. */
import { inspectedFiles } from '../../adapters/fs/inspected-files.ts';
import type { Workspace } from '../../config/configuration.ts';
import type { ConfigurationFiles } from '../../config/files.ts';
import { hostInput } from '../../doctor/input.ts';
import type { DoctorCheck } from '../../doctor/model.ts';
import { runDoctor } from '../../doctor/run-doctor.ts';
import type { Places } from '../places.ts';

export interface DoctorRequest {
  readonly places: Places;
  readonly configuration: string;
  /** Whose errors matter. */
  readonly workspace: Workspace;
  /** With the modes that are to be recorded, when they are not yet. */
  readonly files?: ConfigurationFiles;
}

const OF_PROFILES = /^(?:extension_|mcp_|skill_(?:missing|unreadable|duplicate)$)/;
const OF_WORKSPACES = /^(?:workspace|podman)_/;

/** Is there an error that keeps this workspace's writers from working? */
export async function hasErrors({ places, configuration, workspace, files }: DoctorRequest): Promise<boolean> {
  const env = { ...process.env, PI_SESSION_MCP_CONFIG: configuration };
  const read = files?.read ?? inspectedFiles.read;
  const input = hostInput({ packageRoot: places.packageRoot, env, files: { ...inspectedFiles, read } });
  const { checks } = await runDoctor(input);
  return checks.some((check) => check.severity === 'error' && matters(check, workspace));
}

/** What is wrong with another workspace, or with a profile that no writer of this one has, stands in nobody's way. */
export function matters({ id, subject }: Pick<DoctorCheck, 'id' | 'subject'>, workspace: Workspace): boolean {
  if (OF_WORKSPACES.test(id)) return subject === workspace.alias;
  if (!OF_PROFILES.test(id)) return true;
  const [profile = ''] = subject.split(':');
  return workspace.container?.profiles.includes(profile) ?? true;
}
