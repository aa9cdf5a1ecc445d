/** Finds the pinned packages in Pi's own user install. Reads manifests; runs and installs nothing. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import {
  type ExtensionManifest,
  isEntryPattern,
  MAX_MANIFEST_BYTES,
  parseExtensionManifest,
} from '../../config/extension-manifest.ts';
import { type ExtensionSpec, parseExtensionSpec } from '../../config/extension-spec.ts';
import type { StartFailure } from '../../ports/agent.ts';
import type { StartErrorCode } from '../../ports/error-code.ts';
import type { Sdk } from './sdk.ts';
import { startFailure } from './selection.ts';

export interface ExtensionPackage {
  readonly name: string;
  /** Absolute paths of the files to load, all of them inside the package. */
  readonly entries: readonly string[];
}

export type ResolvedPackages = { readonly ok: true; readonly packages: readonly ExtensionPackage[] } | StartFailure;

/** In configured order; the first package that does not fit decides. */
export async function resolveExtensions(
  sdk: Sdk,
  agentDir: string,
  specs: readonly string[],
): Promise<ResolvedPackages> {
  const packages: ExtensionPackage[] = [];
  for (const text of specs) {
    const spec = parseExtensionSpec(text);
    if (!spec) return startFailure('extension_load_failed', 'extension_resolve');
    const found = await resolvePackage(sdk, agentDir, spec);
    if (typeof found === 'string') {
      return { ...startFailure(found, 'extension_resolve'), subject: { extension: spec.name } };
    }
    packages.push(found);
  }
  return { ok: true, packages };
}

async function resolvePackage(
  sdk: Sdk,
  agentDir: string,
  spec: ExtensionSpec,
): Promise<ExtensionPackage | StartErrorCode> {
  const modules = realPath(join(agentDir, 'npm', 'node_modules'));
  const root = modules && realPath(join(modules, spec.name));
  const manifestPath = root && realPath(join(root, 'package.json'));
  if (!modules || !root || !manifestPath) return 'extension_not_installed';
  try {
    // A package that is linked in from a checkout is nobody's pinned version.
    if (!isInside(modules, root) || !isInside(root, manifestPath)) return 'extension_load_failed';
    const { name, version, entries: declared } = readManifest(manifestPath);
    if (name !== spec.name || !declared) return 'extension_load_failed';
    if (version !== spec.version) return 'extension_version_mismatch';
    if (!declared.every((entry) => isEntryPattern(entry) || leadsInside(root, resolve(root, entry)))) {
      return 'extension_load_failed';
    }
    const entries = await expandEntries(sdk, agentDir, root);
    const good = entries.length > 0 && entries.every((entry) => leadsInside(root, entry) && statSync(entry).isFile());
    return good ? { name: spec.name, entries } : 'extension_load_failed';
  } catch {
    return 'extension_load_failed';
  }
}

/** `undefined`: there is nothing. Whatever else is wrong with the path shows when it is read. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : path;
  }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Neither the path as written nor what it links to may leave the package. */
function leadsInside(root: string, path: string): boolean {
  return isInside(root, path) && isInside(root, realpathSync.native(path));
}

function readManifest(path: string): ExtensionManifest {
  const stat = statSync(path);
  const fits = stat.isFile() && stat.size <= MAX_MANIFEST_BYTES;
  const manifest = fits ? parseExtensionManifest(readFileSync(path)) : undefined;
  if (manifest === undefined) throw new Error('not a manifest');
  return manifest;
}

/** Directories and patterns, by Pi's own rules. A path is a local source for Pi: it never installs one. */
async function expandEntries(sdk: Sdk, agentDir: string, root: string): Promise<readonly string[]> {
  const settingsManager = sdk.SettingsManager.inMemory({}, { projectTrusted: false });
  const manager = new sdk.DefaultPackageManager({ cwd: root, agentDir, settingsManager });
  const { extensions } = await manager.resolveExtensionSources([root], { temporary: true });
  return [...new Set(extensions.filter(({ enabled }) => enabled).map(({ path }) => path))];
}
