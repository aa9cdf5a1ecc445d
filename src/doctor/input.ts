import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { inspectedFiles } from '../adapters/fs/inspected-files.ts';
import type { InspectedFiles } from '../config/inspected-files.ts';

/** Everything that an examination looks at; it knows no other world. */
export interface DoctorInput {
  /** Absolute root of the package that is examined. */
  readonly packageRoot: string;
  /** `PI_SESSION_MCP_CONFIG` names the configuration. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute home directory, or empty when there is none. */
  readonly home: string;
  /** As in `process.versions.node`. */
  readonly nodeVersion: string;
  /** Absolute path of the Node that a client would start. */
  readonly nodePath: string;
  readonly platform: NodeJS.Platform;
  /** `undefined` where users have no number. */
  readonly userId: number | undefined;
  /** Absolute directories that are cleaned up by others. */
  readonly temporaryDirectories: readonly string[];
  readonly files: InspectedFiles;
}

/** This process and this machine, with what the caller knows better. */
export function hostInput(known: Partial<DoctorInput> & Pick<DoctorInput, 'packageRoot'>): DoctorInput {
  return {
    env: process.env,
    home: homeDirectory(),
    nodeVersion: process.versions.node,
    nodePath: process.execPath,
    platform: process.platform,
    userId: process.getuid?.(),
    temporaryDirectories: [tmpdir(), '/tmp', '/var/tmp'],
    files: inspectedFiles,
    ...known,
  };
}

/** Where Pi keeps keys, models, extensions and tools; the same rule as Pi's own. */
export function agentDirectory({ env, home }: Pick<DoctorInput, 'env' | 'home'>): string {
  const named = env['PI_CODING_AGENT_DIR'];
  if (named === undefined || named === '') return defaultAgentDirectory(home);
  if (named === '~' || named.startsWith('~/')) return join(home, named.slice(1));
  return resolve(named);
}

export function defaultAgentDirectory(home: string): string {
  return join(home, '.pi', 'agent');
}

/** Is there an executable file of this name on `PATH`? Relative entries depend on the client and count for nothing. */
export function isOnPath({ env, files }: Pick<DoctorInput, 'env' | 'files'>, name: string): boolean {
  const directories = (env['PATH'] ?? '').split(':').filter(isAbsolute);
  return directories.some((directory) => isExecutable(files, join(directory, name)));
}

export function isExecutable(files: InspectedFiles, path: string): boolean {
  return files.look(path).kind === 'file' && files.allows(path, ['run']);
}

/** A user without a home is no reason to give up; what would lie there is then missing. */
function homeDirectory(): string {
  try {
    return homedir();
  } catch {
    return '';
  }
}
