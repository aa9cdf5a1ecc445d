/** The hook of this package for both clients: what Claude Code shall hold, and what an operator of Codex adds by hand. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { configurationFiles } from '../adapters/fs/configuration-files.ts';
import { loadConfiguration } from '../config/load-configuration.ts';
import type { WakeChoice } from '../ports/setup/run.ts';
import type { Target } from '../ports/setup/target.ts';
import { SERVER_VERSION } from '../version.ts';
import { codexSnippet, type PluginFile, pluginFiles } from '../wake/plugin-files.ts';
import { type Places, packageRoot } from './places.ts';

/** One for all scopes: a hook is the user's, and goes by the name of the tool. */
const KEY = { client: 'claude-code', scope: 'user', alias: 'wake:pi-session-mcp' } as const;

type Package = Pick<Places, 'packageRoot'>;

const sourceOf = ({ packageRoot }: Package) => ({
  node: process.execPath,
  wake: join(packageRoot, 'dist', 'wake.js'),
});

export function hookFiles(places: Package): readonly PluginFile[] {
  return pluginFiles({ ...sourceOf(places), version: SERVER_VERSION });
}

/** TOML with absolute paths: an answer to the operator's own question, never part of a report. */
export function codexHook(): string {
  return codexSnippet(sourceOf({ packageRoot }));
}

export function wakeChoice(target: Target, places: Package, isAsked: boolean, configuration: string): WakeChoice {
  const files = hookFiles(places).map(({ path, text }) => [path, text]);
  return {
    isAsked,
    key: target.client === 'claude-code' ? KEY : null,
    fingerprint: createHash('sha256').update(JSON.stringify(files)).digest('hex'),
    hasEvents: isAsked && hasTurnEvents(configuration, places),
  };
}

/** Whatever is wrong with the configuration, the doctor says. */
function hasTurnEvents(configuration: string, { packageRoot }: Package): boolean {
  const env = { PI_SESSION_MCP_CONFIG: configuration };
  const loaded = loadConfiguration({ env, packageRoot, files: configurationFiles });
  return loaded.ok && loaded.configuration.turnEvents === true;
}
