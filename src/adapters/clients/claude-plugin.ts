/**
 * The hook as a plugin of Claude Code, by its public `plugin` commands. A
 * marketplace that is a directory is loaded in place, so ours stays where it is;
 * what a command prints is only believed where it says what it always says.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rmdir, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CommandResult, CommandRunner } from '../../ports/setup/command.ts';
import type { Mutation } from '../../ports/setup/registration.ts';
import type { PluginInspection, WakePlugin } from '../../ports/setup/wake-plugin.ts';

export interface ClaudePluginOptions {
  readonly runner: CommandRunner;
  /** The operator's variables, for the client's home, its proxies and PATH. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute; private, stable, and of nobody but us. Its parent has to be there. */
  readonly directory: string;
  /** Relative path with `/` → text. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly marketplace: string;
  readonly plugin: string;
}

const COMMAND_TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 1_024 * 1_024;
/** No update, no telemetry. */
const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_TELEMETRY: '1',
  NO_COLOR: '1',
  TERM: 'dumb',
};

type Fields = Readonly<Record<string, unknown>>;

export function claudePlugin(options: ClaudePluginOptions): WakePlugin {
  const { directory, marketplace, plugin, files } = options;
  const id = `${plugin}@${marketplace}`;
  const run = (args: readonly string[], signal: AbortSignal) =>
    options.runner.run(
      {
        file: 'claude',
        args: ['plugin', ...args],
        // Nobody's project: its settings would count, too.
        cwd: dirname(directory),
        env: { ...options.env, ...QUIET },
        timeoutMs: COMMAND_TIMEOUT_MS,
        maxOutputBytes: MAX_OUTPUT_BYTES,
      },
      signal,
    );

  return {
    async inspect(signal) {
      const market = await run(['marketplace', 'list', '--json'], signal);
      const markets = listed(market);
      if (markets === undefined) return withoutList(market);
      const list = await run(['list', '--json'], signal);
      const plugins = listed(list);
      if (plugins === undefined) return withoutList(list);
      const ours = markets.filter(({ name }) => name === marketplace);
      const installed = plugins.filter((each) => each['id'] === id);
      return judge(ours, installed, options, await areEqual(directory, files));
    },

    async install(signal) {
      if (!(await writeAll(directory, files))) return 'failed';
      return mutationOf(await run(['install', plugin, '--marketplace', directory, '-s', 'user', '--json'], signal));
    },

    async uninstall(signal) {
      // Either may be gone already; whether both are in the end, the inspection tells.
      const plugged = await run(['uninstall', id, '-s', 'user', '--json'], signal);
      if (plugged.kind !== 'exited') return mutationOf(plugged);
      const market = await run(['marketplace', 'remove', marketplace], signal);
      if (market.kind !== 'exited') return mutationOf(market);
      await removeAll(directory, files);
      return 'ended';
    },
  };
}

function judge(
  markets: readonly Fields[],
  plugins: readonly Fields[],
  { directory, plugin }: ClaudePluginOptions,
  sameFiles: boolean,
): PluginInspection {
  if (markets.length > 1 || plugins.length > 1) return 'divergent';
  const [market] = markets;
  const [installed] = plugins;
  if (market && (market['source'] !== 'directory' || market['path'] !== directory)) return 'divergent';
  if (!installed) return market ? 'outdated' : 'absent';
  const folder = join(directory, 'plugins', plugin);
  if (installed['scope'] !== 'user' || installed['readFromFolder'] !== folder) return 'divergent';
  if (installed['enabled'] !== true) return installed['enabled'] === false ? 'disabled' : 'divergent';
  // Without the marketplace it is half removed.
  return market && sameFiles ? 'equivalent' : 'outdated';
}

/** @returns the entries of a printed list; nothing when it is none. */
function listed(result: CommandResult): readonly Fields[] | undefined {
  if (result.kind !== 'exited' || result.code !== 0) return undefined;
  try {
    const list: unknown = JSON.parse(result.stdout);
    if (!Array.isArray(list)) return undefined;
    return list.every((entry) => typeof entry === 'object' && entry !== null) ? (list as Fields[]) : undefined;
  } catch {
    return undefined;
  }
}

function withoutList(result: CommandResult): PluginInspection {
  return result.kind === 'exited' || result.kind === 'not_found' ? 'unsupported' : 'failed';
}

function mutationOf(result: CommandResult): Mutation {
  if (result.kind === 'retained') return 'retained';
  return result.kind === 'exited' && result.code === 0 ? 'ended' : 'failed';
}

/** With nothing half written beside them. */
async function areEqual(directory: string, files: ClaudePluginOptions['files']): Promise<boolean> {
  for (const { path, text } of files) {
    try {
      const target = join(directory, path);
      if ((await readFile(target, 'utf8')) !== text || existsSync(temporaryOf(target))) return false;
    } catch {
      return false;
    }
  }
  return true;
}

/** Each file whole or not at all: a client may load them at any moment. */
async function writeAll(directory: string, files: ClaudePluginOptions['files']): Promise<boolean> {
  try {
    for (const { path, text } of files) {
      const target = join(directory, path);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      // The same for every run, of which there is one at a time: what a killed one leaves is written over.
      const temporary = temporaryOf(target);
      await writeFile(temporary, text, { mode: 0o600 });
      await rename(temporary, target);
    }
    return true;
  } catch {
    return false;
  }
}

const temporaryOf = (path: string) => `${path}.tmp`;

/** Our files, and the directories that are empty then. */
async function removeAll(directory: string, files: ClaudePluginOptions['files']): Promise<void> {
  const directories = new Set<string>();
  for (const { path } of files) {
    for (const each of [path, temporaryOf(path)]) await attempt(() => unlink(join(directory, each)));
    for (let up = dirname(path); up !== '.'; up = dirname(up)) directories.add(up);
  }
  const deepestFirst = [...directories].sort((one, other) => other.length - one.length);
  for (const path of [...deepestFirst, '.']) await attempt(() => rmdir(join(directory, path)));
}

async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch {
    // What cannot be removed is not ours, or harmless.
  }
}
