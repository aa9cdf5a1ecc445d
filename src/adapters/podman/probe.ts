/** Is rootless Podman usable here, and how? Found by trying, because what Podman says of itself is not enough. */
import { accessSync, constants, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import type {
  BoundaryHost,
  CgroupManager,
  NetworkKind,
  OciRuntime,
  ProbeOutcome,
  UnusableCode,
} from '../../ports/writers/boundary.ts';
import { globalArguments } from './arguments.ts';
import { callPodman } from './calls.ts';
import { capture } from './capture.ts';
import { type PodmanInfo, parseInfo } from './info.ts';
import { type Instance, openInstance, SYSTEM_PATH } from './instance.ts';
import { thisProcess } from './owner.ts';
import { planRoot } from './root.ts';

export interface ProbeOptions {
  /** Absolute; the parent of the writers' directories. */
  readonly stateDirectory: string;
  readonly path: string;
  /** Searched behind `path`. */
  readonly systemPath?: string;
  readonly platform?: string;
  readonly uid?: number;
  /** Where Podman's profile is looked for, the first that is there. */
  readonly seccompProfiles?: readonly string[];
}

/** Podman's own order. */
const SECCOMP_PROFILES = ['/etc/containers/seccomp.json', '/usr/share/containers/seccomp.json'];
/** The oldest that has been tried. */
const OLDEST = { major: 4, minor: 3 };
const PASTA_SINCE = { major: 4, minor: 4 };
const MAPPED_IDS = 65_536;
const TRIAL_TIMEOUT_MS = 30_000;
const TRIAL_OUTPUT_BYTES = 4096;
const RUNTIMES: readonly OciRuntime[] = ['crun', 'runc'];
/** Only cgroups v2 can be delegated to a user, and only systemd does that. */
const MANAGERS: Readonly<Record<string, readonly CgroupManager[]>> = { v2: ['systemd', 'cgroupfs'] };
const WITHOUT_DELEGATION: readonly CgroupManager[] = ['cgroupfs'];

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function find(name: string, path: string): string | undefined {
  const directories = path.split(delimiter).filter(isAbsolute);
  return directories.map((directory) => join(directory, name)).find(canRun);
}

function isAtLeast(version: string, { major, minor }: typeof OLDEST): boolean {
  const [a = 0, b = 0] = version.split('.').map(Number);
  return a > major || (a === major && b >= minor);
}

/** A user without a range gets no answer from Podman at all. */
function hasRange(file: string): boolean {
  try {
    const { username, uid } = userInfo();
    const owners = new Set([username, String(uid)]);
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.some((line) => owners.has(line.split(':')[0] ?? '') && Number(line.split(':')[2]) >= MAPPED_IDS);
  } catch {
    return false;
  }
}

const unusable = (code: UnusableCode): ProbeOutcome => ({ kind: 'unusable', code });

async function describe(host: BoundaryHost, instance: Instance): Promise<PodmanInfo | UnusableCode> {
  const args = [...globalArguments(host, instance), 'info', '--format=json'];
  const { code, stdout } = await callPodman(host.podman, instance, args);
  const info = code === 0 ? parseInfo(stdout) : undefined;
  if (!info) return hasRange('/etc/subuid') && hasRange('/etc/subgid') ? 'podman_unusable' : 'subordinate_ids_missing';
  if (!isAtLeast(info.version, OLDEST)) return 'podman_too_old';
  if (!info.rootless) return 'root_refused';
  return Math.min(info.mappedUids, info.mappedGids) > MAPPED_IDS ? info : 'subordinate_ids_missing';
}

async function trial(host: BoundaryHost, instance: Instance, network: NetworkKind): Promise<boolean> {
  const spec = { writer: 'probe', owner: thisProcess(), network, ...planRoot({ kind: 'host' }, instance) };
  const limits = { timeoutMs: TRIAL_TIMEOUT_MS, maxOutputBytes: TRIAL_OUTPUT_BYTES };
  const outcome = await capture(host, instance, spec, { argv: ['true'], ...limits });
  return outcome.kind === 'ended' && outcome.code === 0;
}

/** The first combination that runs a box. Podman's preference comes first: it is right on most machines. */
async function findRuntime(
  base: BoundaryHost,
  instance: Instance,
  path: string,
  cgroups: string,
): Promise<BoundaryHost | undefined> {
  for (const runtime of RUNTIMES.filter((name) => find(name, path))) {
    for (const cgroupManager of MANAGERS[cgroups] ?? WITHOUT_DELEGATION) {
      const host = { ...base, runtime, cgroupManager };
      if (await trial(host, instance, 'none')) return host;
    }
  }
  return undefined;
}

async function findNetworks(host: BoundaryHost, instance: Instance, path: string): Promise<NetworkKind[]> {
  const found: NetworkKind[] = ['none'];
  const mayHavePasta = isAtLeast(host.version, PASTA_SINCE) && find('pasta', path) !== undefined;
  if (mayHavePasta && (await trial(host, instance, 'pasta'))) found.push('pasta');
  if (find('slirp4netns', path) && (await trial(host, instance, 'slirp4netns'))) found.push('slirp4netns');
  return found;
}

/** On cgroups v1, and without systemd to delegate them, Podman takes every limit and applies none. */
function enforcedLimits(info: PodmanInfo, manager: CgroupManager): BoundaryHost['limits'] {
  const has = (name: string): boolean =>
    info.cgroupVersion === 'v2' && manager === 'systemd' && info.controllers.includes(name);
  return { memory: has('memory'), cpu: has('cpu'), processes: has('pids') };
}

/** Runs a few boxes with `true` in them; takes a second or two. Never rejects. */
export async function probe(options: ProbeOptions): Promise<ProbeOutcome> {
  const { stateDirectory, platform = process.platform, uid = process.getuid?.() ?? 0 } = options;
  const path = [options.path, options.systemPath ?? SYSTEM_PATH].join(delimiter);
  if (platform !== 'linux') return unusable('platform_unsupported');
  if (uid === 0) return unusable('root_refused');
  const podman = find('podman', path);
  if (!podman) return unusable('podman_missing');
  if (!find('newuidmap', path) || !find('newgidmap', path)) return unusable('user_mapping_tools_missing');
  const seccompProfile = (options.seccompProfiles ?? SECCOMP_PROFILES).find((file) => readable(file));
  if (!seccompProfile) return unusable('seccomp_profile_missing');
  const opened = openInstance(stateDirectory, podman, seccompProfile);
  if (opened.kind === 'unusable') return opened;
  const { instance } = opened;
  const runtime = RUNTIMES.find((name) => find(name, path));
  if (!runtime) return unusable('no_working_runtime');
  const guess: BoundaryHost = {
    ...{ podman, version: '', runtime, cgroupManager: 'cgroupfs', seccompProfile },
    ...{ networks: ['none'], limits: { memory: false, cpu: false, processes: false } },
  };
  const info = await describe(guess, instance);
  if (typeof info === 'string') return unusable(info);
  const host = await findRuntime({ ...guess, version: info.version }, instance, path, info.cgroupVersion);
  if (!host) return unusable('no_working_runtime');
  const networks = await findNetworks(host, instance, path);
  return { kind: 'usable', host: { ...host, networks, limits: enforcedLimits(info, host.cgroupManager) } };
}

function readable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
