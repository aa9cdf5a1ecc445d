/** Where things are for one run of setup. Paths stay in here and in the adapters; no report ever holds one. */
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Built, this file is part of `dist/`; from source it lies one directory deeper. */
export const packageRoot = fileURLToPath(new URL(import.meta.url.endsWith('.js') ? '..' : '../..', import.meta.url));

export interface Places {
  readonly home: string;
  /** `~/.local/state/pi-session-mcp`: what setup has to remember. */
  readonly stateDirectory: string;
  /** Real path of the working directory: where a project registration and its skill go. */
  readonly project: string;
  readonly packageRoot: string;
}

/** @returns `undefined` when there is no home, or no working directory: it may have been removed. */
export function findPlaces(): Places | undefined {
  try {
    const home = homedir();
    if (!isAbsolute(home)) return undefined;
    const stateDirectory = join(home, '.local', 'state', 'pi-session-mcp');
    return { home, stateDirectory, project: realpathSync(process.cwd()), packageRoot };
  } catch {
    return undefined;
  }
}

/** Where `--init` writes when nobody says otherwise. The server itself never looks there by itself. */
export const defaultConfiguration = (home: string) => join(home, '.config', 'pi-session-mcp', 'pi-session-mcp.json');

/** The configuration that the operator named, absolute and normalized; `--config` wins over the variable. */
export function namedConfiguration(
  option: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const named = option ?? env['PI_SESSION_MCP_CONFIG'];
  return named !== undefined && isAbsolute(named) ? resolve(named) : undefined;
}
