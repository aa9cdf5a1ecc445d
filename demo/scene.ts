/**
 * A disposable stage for the demo and the benchmarks: workspaces, the operator's
 * configuration, a Pi agent directory whose only provider is the scripted model,
 * and the environment that leads the server there and nowhere else.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SCRIPTED_MODEL, SCRIPTED_PROVIDER, writePiAgentDirectory } from './scripted-model.ts';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));

/** The executable that `npm run build` makes; the variable tries another build. */
export const BUILT_SERVER = process.env['BUILT_SERVER'] ?? join(PROJECT, 'dist', 'main.js');

export type Mode = 'host' | 'read-only';

export interface SceneOptions {
  /** Prefix of the directory's name below `.cache/`. */
  readonly name: string;
  readonly modelUrl: string;
  /** Workspace alias → its mode and its files. */
  readonly workspaces: Readonly<
    Record<string, { readonly mode: Mode; readonly files: Readonly<Record<string, string>> }>
  >;
  /** More profiles: each is a read-only one on the scripted model, with these fields on top. */
  readonly profiles?: Readonly<Record<string, object>>;
}

export interface Scene {
  readonly agentDirectory: string;
  /** All that the server gets to see; nothing of the caller's environment but PATH. */
  readonly env: Readonly<Record<string, string>>;
  /** Path of a file in a workspace; without a name, of the workspace. */
  path(workspace: string, file?: string): string;
  /** Synchronous, so that it also works while the process ends. */
  remove(): void;
}

const LOCAL = { provider: SCRIPTED_PROVIDER, model: SCRIPTED_MODEL, thinkingLevel: 'off' };

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, JSON.stringify(value, null, 2), { mode: 0o600 });
}

function writeOperatorFiles(directory: string, options: SceneOptions): string {
  const more = Object.entries(options.profiles ?? {}).map(
    ([alias, fields]) => [alias, { default: false, permissionProfile: 'read-only', ...LOCAL, ...fields }] as const,
  );
  const aliases = Object.entries(options.workspaces);
  const config = join(directory, 'pi-session-mcp.json');
  writeJson(config, {
    workspaces: Object.fromEntries(aliases.map(([alias]) => [alias, join('workspaces', alias)])),
    executionProfiles: {
      reader: { default: true, permissionProfile: 'read-only', ...LOCAL },
      coder: { default: false, permissionProfile: 'coding', ...LOCAL },
      ...Object.fromEntries(more),
    },
  });
  const modes = aliases.map(([alias, { mode }]) => [
    alias,
    mode === 'host' ? { mode, acceptHostWrites: true } : { mode },
  ]);
  writeJson(join(directory, 'execution-modes.json'), { schemaVersion: 1, workspaces: Object.fromEntries(modes) });
  return config;
}

/** Builds the stage in the project's `.cache/`, which no tool commits or publishes. */
export async function createScene(options: SceneOptions): Promise<Scene> {
  const directory = join(PROJECT, '.cache', `${options.name}-${process.pid}`);
  const agentDirectory = join(directory, 'agent');
  const path = (workspace: string, file = '') => join(directory, 'workspaces', workspace, file);
  const remove = () => rmSync(directory, { recursive: true, force: true });
  remove();
  mkdirSync(join(directory, 'home'), { recursive: true, mode: 0o700 });
  for (const [alias, { files }] of Object.entries(options.workspaces)) {
    mkdirSync(path(alias), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(path(alias, name), text);
  }
  await writePiAgentDirectory(agentDirectory, options.modelUrl);
  const env = {
    HOME: join(directory, 'home'),
    PATH: process.env['PATH'] ?? '',
    PI_SESSION_MCP_CONFIG: writeOperatorFiles(directory, options),
    PI_CODING_AGENT_DIR: agentDirectory,
    PI_OFFLINE: '1',
    PI_TELEMETRY: '0',
  };
  return { agentDirectory, env, path, remove };
}
