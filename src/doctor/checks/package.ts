/** Is this Node new enough, and is the package whole and of one version? */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { parseObject } from '../../config/json-object.ts';
import { isNodeSupported } from '../../config/node-version.ts';
import { SERVER_NAME, SERVER_VERSION } from '../../version.ts';
import { type BuildManifest, parseBuildManifest } from '../build-manifest.ts';
import type { DoctorInput } from '../input.ts';
import type { DoctorCheck } from '../model.ts';
import { finding, judge } from '../remedies.ts';

type Place = Pick<DoctorInput, 'packageRoot' | 'files'>;

const MAX_BYTES = 16_777_216;
const VERSION = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[0-9A-Za-z.-]{1,64})?$/;
/** Without these nothing can be registered, whatever the build says of itself. */
const EXECUTABLES = ['main.js', 'setup.js', 'doctor.js', 'reaper.js'];

export function checkNode({ nodeVersion }: Pick<DoctorInput, 'nodeVersion'>): readonly DoctorCheck[] {
  return [judge('node_version_unsupported', 'node', isNodeSupported(nodeVersion))];
}

export interface ExaminedPackage {
  readonly checks: readonly DoctorCheck[];
  /** Only one that looks like a version. */
  readonly version: string | undefined;
}

export function checkPackage(place: Place): ExaminedPackage {
  const version = readVersion(place);
  const checks = [judge('package_metadata_unreadable', 'package', version !== undefined)];
  const build = readBuild(place);
  if (build === undefined || !isWhole(place, build))
    return { checks: [...checks, finding('build_missing', 'build')], version };
  checks.push(judge('build_missing', 'build', true));
  // An installed package has no sources that could be newer.
  if (place.files.look(join(place.packageRoot, 'src')).kind === 'directory') {
    checks.push(judge('build_stale', 'build', allMatch(place, '.', build.sources)));
  }
  if (version !== undefined) {
    checks.push(judge('version_mismatch', 'package', build.version === version && SERVER_VERSION === version));
  }
  return { checks, version };
}

function readVersion({ packageRoot, files }: Place): string | undefined {
  const file = files.read(join(packageRoot, 'package.json'), MAX_BYTES);
  const manifest = file.ok ? parseObject(file.bytes) : undefined;
  if (manifest?.['name'] !== SERVER_NAME) return undefined;
  const version = manifest['version'];
  return typeof version === 'string' && VERSION.test(version) ? version : undefined;
}

function readBuild({ packageRoot, files }: Place): BuildManifest | undefined {
  const file = files.read(join(packageRoot, 'dist', 'build.json'), MAX_BYTES);
  return file.ok ? parseBuildManifest(file.bytes) : undefined;
}

function isWhole(place: Place, build: BuildManifest): boolean {
  return EXECUTABLES.every((name) => Object.hasOwn(build.files, name)) && allMatch(place, 'dist', build.files);
}

function allMatch(
  { packageRoot, files }: Place,
  directory: string,
  digests: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(digests).every(([name, digest]) => {
    const file = files.read(join(packageRoot, directory, name), MAX_BYTES);
    return file.ok && hash('sha256', file.bytes) === digest;
  });
}
