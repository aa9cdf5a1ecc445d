/** From what is wanted to Podman's command line: pure, so that it can be tested with every path there is. */
import { dirname, join } from 'node:path';
import type {
  BoundaryHost,
  BoxCommand,
  BoxLimits,
  NetworkKind,
  ReadOnlyMount,
  WriterLayout,
} from '../../ports/writers/boundary.ts';
import { BOX } from './box-places.ts';
import type { Instance } from './instance.ts';
import { formatOwner, type Owner } from './owner.ts';
import { csvRecord } from './paths.ts';
import { supervised } from './supervisor.ts';

export const OWNER_LABEL = 'pi-writer.owner';
const WRITER_LABEL = 'pi-writer.name';

const ENVIRONMENT = {
  HOME: BOX.home,
  PATH: `${dirname(BOX.node)}:/usr/local/bin:/usr/bin:/bin`,
  LANG: 'C.UTF-8',
};

/** For Go, the only tool chain with a cache so far. */
const CACHE_ENVIRONMENT = { GOPATH: `${BOX.cache}/go`, GOCACHE: `${BOX.cache}/go-build` };

export interface RunSpec {
  /** Names the container, and its run directory. */
  readonly id: string;
  readonly writer: string;
  readonly owner: Owner;
  readonly user: { readonly uid: number; readonly gid: number };
  /** Of the host: `/usr` and its companions, or none when the tree brings its own. */
  readonly rootMounts: readonly ReadOnlyMount[];
  readonly rootPath: string;
  /** Of the image. */
  readonly rootEnvironment?: Readonly<Record<string, string>>;
  /** Host directory of the writer's cache. */
  readonly cache?: string;
  /** Absent for a box without a writer's files, as a probe runs. */
  readonly layout?: WriterLayout;
  readonly network: NetworkKind;
  readonly limits?: BoxLimits;
  readonly command: BoxCommand;
  /** From the end of stdin until everything in the box is killed. */
  readonly graceSeconds: number;
  /** Tells the command's stderr from Podman's own. */
  readonly marked?: boolean;
}

/** What comes before Podman's own verb in every call; the same store, runtime and cgroup manager each time. */
export function globalArguments(host: BoundaryHost, instance: Instance): string[] {
  return [
    `--root=${instance.store}`,
    `--runroot=${instance.runRoot}`,
    // Nothing is stored: a box's root is a directory of ours, mounted as it is.
    '--storage-driver=vfs',
    `--runtime=${host.runtime}`,
    `--cgroup-manager=${host.cgroupManager}`,
  ];
}

export function containerName(id: string): string {
  return `pi-writer-${id}`;
}

interface Mount extends ReadOnlyMount {
  readonly writable?: boolean;
}

/** Not recursive: a mount below the source would stay writable in spite of `ro`; so it makes the start fail. */
function mountArgument({ source, destination, writable }: Mount): string {
  const fields = ['type=bind', `src=${source}`, `dst=${destination}`, 'nosuid', 'nodev', 'bind-nonrecursive=true'];
  return `--mount=${csvRecord(writable ? fields : [...fields, 'ro=true'])}`;
}

/** Parents before children: Podman mounts in the order of the destinations' depth, and so does this list. */
function writerMounts({ work, git, hooks, config, commonDir, agent, server, events }: WriterLayout): Mount[] {
  const inGit = (name: string): string => join(BOX.work, '.git', name);
  return [
    { source: work, destination: BOX.work, writable: true },
    { source: git, destination: join(BOX.work, '.git'), writable: true },
    { source: hooks, destination: inGit('hooks') },
    { source: config, destination: inGit('config') },
    { source: commonDir, destination: inGit('commondir') },
    { source: agent, destination: BOX.agent },
    { source: server, destination: BOX.server },
    { source: events, destination: BOX.events, writable: true },
  ];
}

function cacheMounts(cache: string | undefined): Mount[] {
  return cache === undefined ? [] : [{ source: cache, destination: BOX.cache, writable: true }];
}

/** Node first: whatever an image calls `node` is another one. */
function environmentOf({ rootEnvironment = {}, cache, command }: RunSpec): [string, string][] {
  const { PATH: path, ...image } = rootEnvironment;
  const ours = { ...ENVIRONMENT, ...(path && { PATH: `${dirname(BOX.node)}:${path}` }) };
  return Object.entries({ ...image, ...ours, ...(cache !== undefined && CACHE_ENVIRONMENT), ...command.env });
}

function networkArgument(kind: NetworkKind): string {
  return `--network=${kind}`;
}

/** Only what is enforced: Podman accepts and ignores the others. */
function limitArguments(host: BoundaryHost, limits: BoxLimits = {}): string[] {
  const { memoryMiB, cpus, processes } = limits;
  return [
    ...(host.limits.memory && memoryMiB ? [`--memory=${memoryMiB}m`, `--memory-swap=${memoryMiB}m`] : []),
    ...(host.limits.cpu && cpus ? [`--cpus=${cpus}`] : []),
    ...(host.limits.processes && processes ? [`--pids-limit=${processes}`] : []),
  ];
}

const CONFINEMENT = [
  '--cap-drop=all',
  '--security-opt=no-new-privileges',
  // Labelling the host's own /usr for the box would break the host; elsewhere this changes nothing.
  '--security-opt=label=disable',
  '--read-only',
  '--read-only-tmpfs=false',
  '--tmpfs=/tmp:rw,nosuid,nodev,mode=1777,size=256m',
  `--tmpfs=${BOX.home}:rw,nosuid,nodev,mode=1777,size=64m`,
  '--ulimit=nofile=4096:4096',
  '--ulimit=core=0:0',
];

/** Nothing of the caller's world comes along: proxies, hosts, logs on disk. */
const ISOLATION = ['--http-proxy=false', '--no-hosts', '--hostname=writer', '--systemd=false', '--log-driver=none'];

/** Arguments of `podman`, all of them. Paths must have passed `isUsablePath`. */
export function runArguments(host: BoundaryHost, instance: Instance, spec: RunSpec): string[] {
  const { id, user, command, layout } = spec;
  const directory = instance.runDirectory(id);
  const own = [...(layout ? writerMounts(layout) : []), ...cacheMounts(spec.cache)];
  const mounts = [...spec.rootMounts, ...own, ...(command.mounts ?? [])];
  const environment = environmentOf(spec);
  return [
    ...globalArguments(host, instance),
    'run',
    '--interactive',
    '--rm',
    `--name=${containerName(id)}`,
    `--label=${WRITER_LABEL}=${spec.writer}`,
    `--label=${OWNER_LABEL}=${formatOwner(spec.owner)}`,
    `--cidfile=${join(directory, 'cid')}`,
    `--conmon-pidfile=${join(directory, 'conmon')}`,
    ...ISOLATION,
    networkArgument(spec.network),
    '--userns=keep-id',
    `--user=${user.uid}:${user.gid}`,
    ...CONFINEMENT,
    `--security-opt=seccomp=${instance.seccomp}`,
    ...limitArguments(host, spec.limits),
    '--stop-timeout=5',
    ...mounts.map(mountArgument),
    `--workdir=${layout ? BOX.work : '/'}`,
    ...environment.map(([key, value]) => `--env=${key}=${value}`),
    '--rootfs',
    spec.rootPath,
    ...supervised(command.argv, spec.graceSeconds, spec.marked ?? false),
  ];
}
