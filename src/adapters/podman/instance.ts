/**
 * Podman's own state for the boxes of one state directory: store, run files,
 * settings and the empty root. A fresh one for each boot, so that nothing of it
 * has to survive or to be migrated, and none of the operator's own Podman state
 * and settings comes into it (docs/boundary.md).
 */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { UnusableCode } from '../../ports/writers/boundary.ts';
import { linkTarget, PREFIX, RUNTIME, removeInstance } from './instance-end.ts';
import { bootId } from './owner.ts';
import { isUsablePath } from './paths.ts';
import { narrowProfile } from './seccomp.ts';

export interface Instance {
  readonly directory: string;
  readonly store: string;
  readonly runRoot: string;
  /** The root of boxes that use the host's programs: directories to mount on, and links into `/usr`. */
  readonly skeleton: string;
  readonly seccomp: string;
  /** One directory for each box that runs or may have left something. */
  readonly runs: string;
  runDirectory(id: string): string;
  /** All that Podman gets of an environment. */
  readonly environment: Readonly<Record<string, string>>;
}

export type InstanceOutcome =
  | { readonly kind: 'ready'; readonly instance: Instance }
  | { readonly kind: 'unusable'; readonly code: UnusableCode };

const BOOT_CHARACTERS = 13;
const NAME_CHARACTERS = 12;
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const PRIVATE = 0o700;
const FOR_EVERYONE = 0o1777;

/** Replaces every settings file of the system and of the user. Events in a file of ours: not in the journal. */
const SETTINGS = '[engine]\nevents_logger = "file"\n';

/** Everything that something may be mounted on. */
export const PLACES = [
  ...['usr', 'etc/alternatives', 'etc/ssl/certs', 'tmp', 'proc', 'sys', 'dev', 'run', 'root', 'home/writer', 'var'],
  ...['work', 'opt/pi', 'opt/node/bin', 'pi/events', 'pi/agent', 'pi/server', 'pi/cache'],
];
const LINKS = ['bin', 'sbin', 'lib', 'lib64'];
/** Podman ignores the mode that is asked for a tmpfs and takes that of the directory below. */
export const WORLD_WRITABLE = ['tmp', 'home/writer'];

/** Pure paths: nothing is made. */
function instanceIn(directory: string, runtime: string, podman: string): Instance {
  const at = (name: string): string => join(directory, name);
  const bus = `/run/user/${process.getuid?.()}/bus`;
  return {
    directory,
    store: at('store'),
    runRoot: join(runtime, 'run'),
    skeleton: at('skeleton'),
    seccomp: at('seccomp.json'),
    runs: at('boxes'),
    runDirectory: (id) => join(directory, 'boxes', id),
    environment: {
      PATH: `${SYSTEM_PATH}:${dirname(podman)}`,
      // The administrator's mounts.conf cannot be kept out, the user's can.
      HOME: at('home'),
      XDG_RUNTIME_DIR: join(runtime, 'xdg'),
      CONTAINERS_CONF: at('containers.conf'),
      CONTAINERS_STORAGE_CONF: at('storage.conf'),
      // Podman hands on no other word of the locale to conmon, which refuses paths that it cannot read.
      LC_ALL: 'C.UTF-8',
      // Where there is a session bus, systemd is asked for the box's cgroup over it.
      ...(exists(bus) && { DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}` }),
    },
  };
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Whole or not at all: another start may read it at the same time. */
function writeWhole(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}

function makeSkeleton(root: string): void {
  for (const place of PLACES) mkdirSync(join(root, place), { recursive: true, mode: 0o755 });
  for (const place of WORLD_WRITABLE) chmodSync(join(root, place), FOR_EVERYONE);
  for (const name of LINKS) if (!exists(join(root, name))) symlinkSync(`usr/${name}`, join(root, name));
  if (!exists(join(root, 'opt/node/bin/node'))) writeFileSync(join(root, 'opt/node/bin/node'), '');
}

/**
 * Podman refuses run files at a path of more than 50 characters, and a socket's may not be long either. So they
 * have a short place elsewhere, and a link that says where: it is chosen once, whoever starts us with what environment.
 */
function runtimeOf(directory: string): string {
  const link = join(directory, 'runtime');
  const chosen = linkTarget(link);
  if (chosen !== undefined) return chosen;
  const uid = process.getuid?.() ?? 0;
  const name = crypto.randomUUID().slice(-NAME_CHARACTERS);
  const session = `/run/user/${uid}`;
  const place = isDirectoryOf(session, uid) ? join(session, RUNTIME + name) : `/tmp/${RUNTIME}${uid}-${name}`;
  try {
    symlinkSync(place, link);
  } catch {
    // Somebody else has just chosen.
  }
  return linkTarget(link) ?? place;
}

function isDirectoryOf(path: string, uid: number): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === uid;
}

/** What earlier boots have left: nothing of it runs any more. Never fails. */
function forgetEarlierBoots(stateDirectory: string, current: string): void {
  for (const name of readdirSync(stateDirectory)) {
    const path = join(stateDirectory, name);
    if (!name.startsWith(PREFIX) || path === current || bootId() === '') continue;
    removeInstance(path);
  }
}

function isPrivate(path: string): boolean {
  const stat = lstatSync(path);
  return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
}

/** The marker is written last. */
const MARKER = 'ready';

function build(instance: Instance, stateDirectory: string, profilePath: string): UnusableCode | undefined {
  const { directory, environment, runs } = instance;
  forgetEarlierBoots(stateDirectory, directory);
  for (const path of [environment['HOME'] ?? '', runs]) mkdirSync(path, { recursive: true, mode: PRIVATE });
  makeSkeleton(instance.skeleton);
  let system: string;
  try {
    system = readFileSync(profilePath, 'utf8');
  } catch {
    return 'seccomp_profile_missing';
  }
  const profile = narrowProfile(system);
  if (profile === undefined) return 'seccomp_profile_unusable';
  writeWhole(instance.seccomp, profile);
  writeWhole(environment['CONTAINERS_CONF'] ?? '', SETTINGS);
  writeWhole(environment['CONTAINERS_STORAGE_CONF'] ?? '', '[storage]\ndriver = "vfs"\n');
  writeWhole(join(directory, MARKER), '');
  return undefined;
}

/** Makes this boot's instance unless it is there. Safe to run at the same time in several processes. */
export function openInstance(stateDirectory: string, podman: string, seccompProfile: string): InstanceOutcome {
  if (!isUsablePath(stateDirectory)) return { kind: 'unusable', code: 'state_directory_unusable' };
  const directory = join(stateDirectory, `${PREFIX}${bootId().slice(0, BOOT_CHARACTERS)}`);
  try {
    mkdirSync(directory, { recursive: true, mode: PRIVATE });
    if (!isPrivate(directory)) return { kind: 'unusable', code: 'state_directory_unusable' };
    const instance = instanceIn(directory, runtimeOf(directory), podman);
    // Each time: it may lie where a logout or a clean-up removes it.
    const runtime = dirname(instance.runRoot);
    mkdirSync(runtime, { recursive: true, mode: PRIVATE });
    if (!isPrivate(runtime)) return { kind: 'unusable', code: 'state_directory_unusable' };
    mkdirSync(join(runtime, 'xdg'), { recursive: true, mode: PRIVATE });
    const isBuilt = exists(join(directory, MARKER));
    const fault = isBuilt ? undefined : build(instance, stateDirectory, seccompProfile);
    return fault ? { kind: 'unusable', code: fault } : { kind: 'ready', instance };
  } catch {
    return { kind: 'unusable', code: 'state_directory_unusable' };
  }
}
