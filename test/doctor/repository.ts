import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export const REPOSITORY = resolve(import.meta.dirname, '..', '..');

interface BuildScript {
  buildManifest(root: string, files: ReadonlyMap<string, string>, metafile: { inputs: object }): string;
}
const script: BuildScript = await import(pathToFileURL(resolve(REPOSITORY, 'scripts', 'build-manifest.mjs')).href);

/** What the build itself writes into `dist/build.json`. */
export const { buildManifest } = script;
