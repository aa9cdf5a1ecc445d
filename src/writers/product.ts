/** What of the product a box gets to see, read-only: the built files, and the modules that they load late. */
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import type { ReadOnlyMount } from '../ports/writers/boundary.ts';
import { INSIDE } from './places.ts';

const LATE = '@earendil-works/pi-coding-agent';
const MODULES = 'node_modules';
const PARTS = ['dist', 'package.json', 'skills'];

/** The `node_modules` that holds the Pi SDK, wherever a package manager has put it. */
function modulesOf(packageRoot: string): string | undefined {
  const { paths } = createRequire(join(packageRoot, 'dist', 'main.js')).resolve;
  const candidates = paths(LATE) ?? [];
  const found = candidates.find((candidate) => existsSync(join(candidate, LATE)));
  return found && realpathSync(found);
}

/** Undefined when the product is not installed as a whole. */
export function productMounts(packageRoot: string, nodePath: string): ReadOnlyMount[] | undefined {
  try {
    const modules = modulesOf(packageRoot);
    if (!modules?.endsWith(`${sep}${MODULES}`)) return undefined;
    const parts = PARTS.filter((part) => existsSync(join(packageRoot, part)));
    return [
      { source: realpathSync(nodePath), destination: INSIDE.node },
      ...parts.map((part) => ({
        source: realpathSync(join(packageRoot, part)),
        destination: join(INSIDE.product, part),
      })),
      { source: modules, destination: join(INSIDE.product, MODULES) },
    ];
  } catch {
    return undefined;
  }
}

/** The directory that a file lies in, with its links resolved. */
export function packageRootOf(builtFile: string): string {
  return dirname(dirname(realpathSync(builtFile)));
}
