/** The first configuration of somebody who has none, as exact text. */
import { basename, isAbsolute, resolve } from 'node:path';
import type { ThinkingLevel } from '../../config/configuration.ts';
import type { ConfigurationFiles } from '../../config/files.ts';
import { ALIAS } from '../../config/limits.ts';
import { modesFileOf } from '../../config/load-configuration.ts';
import { loadWith } from '../load-with.ts';

export interface FirstChoice {
  readonly alias: string;
  /** Absolute. */
  readonly directory: string;
  readonly provider: string;
  readonly model: string;
  readonly thinkingLevel: ThinkingLevel;
  /** A second profile that may change files in the directory itself. */
  readonly coding: boolean;
}

export interface FirstFiles {
  readonly configuration: string;
  /** Only with coding: the operator's word that it happens on the host. */
  readonly modes?: string;
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

export function firstFiles({ alias, directory, provider, model, thinkingLevel, coding }: FirstChoice): FirstFiles {
  const choice = { provider, model, thinkingLevel };
  const reviewer = { default: true, permissionProfile: 'read-only', ...choice, skills: ['review'] };
  const coder = { default: false, permissionProfile: 'coding', ...choice, skills: ['implementation'] };
  const catalog = { review: 'builtin:pi-session-review' };
  const configuration = json({
    workspaces: { [alias]: directory },
    skillCatalog: coding ? { ...catalog, implementation: 'builtin:pi-session-implementation' } : catalog,
    executionProfiles: coding ? { reviewer, coder } : { reviewer },
  });
  if (!coding) return { configuration };
  const workspaces = { [alias]: { mode: 'host', acceptHostWrites: true } };
  return { configuration, modes: json({ schemaVersion: 1, workspaces }) };
}

/** There is nothing yet but what would be written. */
const NOTHING: ConfigurationFiles = { read: () => ({ ok: false, reason: 'missing' }), exists: () => false };

/** Would the server take exactly these bytes? */
export function isValid({ configuration, modes }: FirstFiles, path: string, packageRoot: string): boolean {
  const texts = new Map([[path, configuration]]);
  if (modes !== undefined) texts.set(modesFileOf(path), modes);
  return loadWith(texts, path, packageRoot, NOTHING) !== undefined;
}

/** `ALIAS=DIRECTORY`, or a directory alone, whose name then gives the alias. */
export function parseWorkspace(text: string, cwd: string): { alias: string; directory: string } | undefined {
  const named = /^([a-z][a-z0-9_-]{0,63})=(.+)$/s.exec(text);
  const place = named?.[2] ?? text;
  const alias = named?.[1] ?? aliasFor(place);
  if (place === '' || place.startsWith('~') || alias === undefined) return undefined;
  return { alias, directory: isAbsolute(place) ? resolve(place) : resolve(cwd, place) };
}

/** The directory's own name, bent into an alias. */
function aliasFor(directory: string): string | undefined {
  const bent = basename(resolve(directory))
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 64);
  return ALIAS.test(bent) ? bent : undefined;
}
