import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export const REPOSITORY = resolve(import.meta.dirname, '..', '..');

interface BuildScript {
  buildManifest(root: string, files: ReadonlyMap<string, string>, metafile: { inputs: object }): string;
}
const script: BuildScript = await import(pathToFileURL(resolve(REPOSITORY, 'scripts', 'build-manifest.mjs')).href);

/** What the build itself writes into `dist/build.json`. */
export const { buildManifest } = script;

/**
 * A fresh directory that others may enter. In the temporary directory every
 * package would be one that does not stay, and among the sources others would meet it.
 */
export function scratch(name: string): string {
  const ignored = join(REPOSITORY, '.cache');
  mkdirSync(ignored, { recursive: true });
  const directory = mkdtempSync(join(ignored, name));
  chmodSync(directory, 0o755);
  return directory;
}
