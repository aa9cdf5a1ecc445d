/** Will what a client registers still be there tomorrow? */
import { sep } from 'node:path';
import type { DoctorInput } from '../input.ts';
import type { DoctorCheck } from '../model.ts';
import { judge } from '../remedies.ts';

/** Of version managers and of Homebrew, which delete a Node when another one takes its place. */
const REPLACED = /[/\\](?:\.?nvm|\.?fnm|fnm_multishells|\.volta|\.asdf|mise|\.nodenv|\.nodebrew|\.nvs|Cellar)[/\\]/;
/** Of `npx`, `pnpm dlx` and `bunx`. */
const CACHE = /[/\\](?:_npx|dlx(?:-[^/\\]*)?|bunx-[^/\\]*)[/\\]/;

export function checkStablePaths(input: DoctorInput): readonly DoctorCheck[] {
  const { nodePath, packageRoot } = input;
  return [
    judge('node_path_unstable', 'node', !REPLACED.test(nodePath) && !isTransient(input, nodePath)),
    judge('package_path_unstable', 'package', !isTransient(input, packageRoot)),
  ];
}

function isTransient({ files, temporaryDirectories }: DoctorInput, path: string): boolean {
  const real = files.canonical(path) ?? path;
  return (
    CACHE.test(`${real}${sep}`) || temporaryDirectories.some((place) => isBelow(files.canonical(place) ?? place, real))
  );
}

/** A temporary directory that is the root would make everything transient. */
function isBelow(directory: string, path: string): boolean {
  return directory.length > 1 && path.startsWith(directory.endsWith(sep) ? directory : `${directory}${sep}`);
}
