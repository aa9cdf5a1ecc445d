/**
 * A disposable world for one server: a home with a Pi agent directory, workspaces,
 * the operator's files and a scripted model. Everything that must stay inside has
 * a canary in its name, so that any byte that leaves can be checked for it.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  SCRIPTED_MODEL,
  SCRIPTED_PROVIDER,
  type ScriptedModel,
  type ScriptedModelOptions,
  startScriptedModel,
  writePiAgentDirectory,
} from '../../../demo/scripted-model.ts';
import { endAll, processesOf } from './processes.ts';
import { until } from './until.ts';

export const REPOSITORY = join(import.meta.dirname, '../../..');

/** What no byte of stdout or stderr may hold. */
export const CANARY = {
  path: 'PATHCANARY',
  key: 'KEYCANARY',
  prompt: 'PROMPTCANARY',
  /** The words in which the scripted provider fails. */
  providerError: 'scripted failure',
} as const;

type Files = Readonly<Record<string, string>>;

export interface StageOptions {
  /** Alias → what is in it. By default one, `app`. */
  readonly workspaces?: Readonly<Record<string, Files>>;
  /** `execution-modes.json` as text or value. */
  readonly modes?: unknown;
  /** More profiles, or replacements; each is completed to a read-only one on the scripted model. */
  readonly profiles?: Readonly<Record<string, object>>;
  /** More top-level fields of the configuration. */
  readonly configuration?: object;
  readonly model?: ScriptedModelOptions;
}

export interface Stage {
  readonly root: string;
  readonly home: string;
  readonly agentDirectory: string;
  readonly configuration: string;
  readonly model: ScriptedModel;
  /** All that the server gets: HOME, PATH and the configuration's path. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path in a workspace. */
  path(workspace: string, file?: string): string;
}

export function profile(override: object = {}): object {
  const selection = { provider: SCRIPTED_PROVIDER, model: SCRIPTED_MODEL, thinkingLevel: 'off' };
  return { default: false, permissionProfile: 'read-only', ...selection, ...override };
}

export function writeFiles(directory: string, files: Files): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

function writeOperatorFiles(root: string, options: StageOptions, aliases: readonly string[]): string {
  const path = join(root, 'operator', 'config.json');
  const profiles = Object.entries({
    reader: { default: true },
    coder: { permissionProfile: 'coding' },
    ...options.profiles,
  });
  const document = {
    workspaces: Object.fromEntries(aliases.map((alias) => [alias, `../workspaces/${alias}`])),
    executionProfiles: Object.fromEntries(profiles.map(([alias, override]) => [alias, profile(override)])),
    ...options.configuration,
  };
  writeFiles(dirname(path), {
    'config.json': text(document),
    ...(options.modes !== undefined && { 'execution-modes.json': text(options.modes) }),
  });
  return path;
}

let count = 0;

async function openStage(options: StageOptions): Promise<Stage> {
  count += 1;
  const root = join(REPOSITORY, '.cache', 'e2e', `${CANARY.path}-${process.pid}-${count}`);
  rmSync(root, { recursive: true, force: true });
  const home = join(root, 'home');
  const agentDirectory = join(home, '.pi', 'agent');
  const workspaces = Object.entries(options.workspaces ?? { app: {} });
  for (const [alias, files] of workspaces) writeFiles(join(root, 'workspaces', alias), files);
  const model = await startScriptedModel(options.model);
  await writePiAgentDirectory(agentDirectory, model.baseUrl);
  const models = join(agentDirectory, 'models.json');
  writeFileSync(models, readFileSync(models, 'utf8').replace('not-a-secret', CANARY.key));
  const configuration = writeOperatorFiles(
    root,
    options,
    workspaces.map(([alias]) => alias),
  );
  return {
    root,
    home,
    agentDirectory,
    configuration,
    model,
    env: { HOME: home, PATH: process.env['PATH'] ?? '', PI_SESSION_MCP_CONFIG: configuration },
    path: (workspace, file = '') => join(root, 'workspaces', workspace, file),
  };
}

/** A stage for the running test. Afterwards no process may be left that knows of it. */
export async function useStage(options: StageOptions = {}): Promise<Stage> {
  const stage = await openStage(options);
  onTestFinished(async () => {
    try {
      await until('no process of the stage is left', () => processesOf(stage.root).length === 0, 5_000);
    } finally {
      endAll(processesOf(stage.root));
      await stage.model.close();
      rmSync(stage.root, { recursive: true, force: true });
    }
  });
  return stage;
}
