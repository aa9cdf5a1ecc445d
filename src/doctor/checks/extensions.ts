/** Are the pinned packages in Pi's user install? The same rules as a session's start, as far as they need no Pi. */
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Configuration } from '../../config/configuration.ts';
import { isEntryPattern, MAX_MANIFEST_BYTES, parseExtensionManifest } from '../../config/extension-manifest.ts';
import { type ExtensionSpec, parseExtensionSpec } from '../../config/extension-spec.ts';
import { agentDirectory, type DoctorInput } from '../input.ts';
import type { DoctorCheck } from '../model.ts';
import { finding, passed } from '../remedies.ts';

type Files = DoctorInput['files'];

export function checkExtensions(input: DoctorInput, { executionProfiles }: Configuration): readonly DoctorCheck[] {
  const modules = join(agentDirectory(input), 'npm', 'node_modules');
  return Object.values(executionProfiles).flatMap((profile) =>
    profile.extensions.flatMap((text) => {
      const spec = parseExtensionSpec(text);
      return spec === undefined ? [] : checkPackage(input.files, modules, spec, `${profile.alias}:${spec.name}`);
    }),
  );
}

function checkPackage(files: Files, modules: string, spec: ExtensionSpec, subject: string): readonly DoctorCheck[] {
  const root = join(modules, spec.name);
  if (files.look(join(root, 'package.json')).kind === 'missing') return [finding('extension_missing', subject)];
  const found = passed('extension_missing', subject);
  const fits = isPinned(files, modules, root, spec);
  return [found, fits ? passed('extension_version_mismatch', subject) : finding('extension_version_mismatch', subject)];
}

function isPinned(files: Files, modulesPath: string, rootPath: string, spec: ExtensionSpec): boolean {
  const modules = files.canonical(modulesPath);
  const root = files.canonical(rootPath);
  const manifestPath = files.canonical(join(rootPath, 'package.json'));
  if (modules === undefined || root === undefined || manifestPath === undefined) return false;
  // A package that is linked in from a checkout is nobody's pinned version.
  if (!isInside(modules, root) || !isInside(root, manifestPath)) return false;
  const file = files.read(manifestPath, MAX_MANIFEST_BYTES);
  const manifest = file.ok ? parseExtensionManifest(file.bytes) : undefined;
  if (manifest?.name !== spec.name || manifest.version !== spec.version) return false;
  return manifest.entries?.every((entry) => isEntryPattern(entry) || leadsInside(files, root, entry)) ?? false;
}

/** Neither the path as written nor what it links to may leave the package. */
function leadsInside(files: Files, root: string, entry: string): boolean {
  const path = resolve(root, entry);
  const target = files.canonical(path);
  return isInside(root, path) && target !== undefined && isInside(root, target) && files.allows(target, ['read']);
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
