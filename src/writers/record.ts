/**
 * `boundary.json` in a writer's directory: what setup has decided, and how Podman works on this machine.
 * By hand, because a schema library would take longer to load than the rest of the launcher.
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type {
  BoundaryHost,
  BoxLimits,
  BoxRoot,
  CacheKind,
  CgroupManager,
  NetworkKind,
  OciRuntime,
  WriterBox,
} from '../ports/writers/boundary.ts';

const RECORD_FILE = 'boundary.json';
const SCHEMA_VERSION = 1;
const RUNTIMES: readonly OciRuntime[] = ['crun', 'runc'];
const MANAGERS: readonly CgroupManager[] = ['systemd', 'cgroupfs'];
const CACHES: readonly CacheKind[] = ['go'];
const NETWORKS: readonly NetworkKind[] = ['none', 'pasta', 'slirp4netns'];

type Fields = Readonly<Record<string, unknown>>;

/** Caught in `readRecord`, and nowhere else. */
class NoRecord extends Error {}

function check(holds: boolean): asserts holds {
  if (!holds) throw new NoRecord();
}

function object(value: unknown, known: readonly string[]): Fields {
  check(typeof value === 'object' && value !== null && !Array.isArray(value));
  check(Object.keys(value).every((key) => known.includes(key)));
  return value as Fields;
}

function oneOf<T extends string>(value: unknown, known: readonly T[]): T {
  const found = known.find((one) => one === value);
  check(found !== undefined);
  return found;
}

function path(value: unknown): string {
  check(typeof value === 'string' && isAbsolute(value));
  return value;
}

function flag(value: unknown): boolean {
  check(typeof value === 'boolean');
  return value;
}

function hostOf(value: unknown): BoundaryHost {
  const keys = ['podman', 'version', 'runtime', 'cgroupManager', 'seccompProfile', 'networks', 'limits'];
  const { podman, version, runtime, cgroupManager, seccompProfile, networks, limits } = object(value, keys);
  check(typeof version === 'string' && Array.isArray(networks));
  const { memory, cpu, processes } = object(limits, ['memory', 'cpu', 'processes']);
  return {
    podman: path(podman),
    version,
    runtime: oneOf(runtime, RUNTIMES),
    cgroupManager: oneOf(cgroupManager, MANAGERS),
    seccompProfile: path(seccompProfile),
    networks: networks.map((network) => oneOf(network, NETWORKS)),
    limits: { memory: flag(memory), cpu: flag(cpu), processes: flag(processes) },
  };
}

function rootOf(value: unknown): BoxRoot {
  const { kind, path: tree, image, environment } = object(value, ['kind', 'path', 'image', 'environment']);
  if (oneOf(kind, ['host', 'tree']) === 'host') return { kind: 'host' };
  check(typeof image === 'string' && typeof environment === 'object' && environment !== null);
  check(Object.values(environment).every((text) => typeof text === 'string'));
  return { kind: 'tree', path: path(tree), image, environment: environment as Record<string, string> };
}

function limitsOf(value: unknown): BoxLimits {
  const limits = object(value, ['memoryMiB', 'cpus', 'processes']);
  check(Object.values(limits).every((limit) => typeof limit === 'number' && limit > 0 && Number.isFinite(limit)));
  return limits as BoxLimits;
}

export interface RecordedWriter {
  readonly host: BoundaryHost;
  readonly writer: WriterBox;
  /** The boundary's state directory. */
  readonly stateDirectory: string;
}

/** Undefined when there is no record, or it is not one. Never throws. */
export function readRecord(directory: string): RecordedWriter | undefined {
  try {
    const text = readFileSync(join(directory, RECORD_FILE), 'utf8');
    const record = object(JSON.parse(text), ['schemaVersion', 'host', 'root', 'network', 'limits', 'cache']);
    check(record['schemaVersion'] === SCHEMA_VERSION);
    const writer: WriterBox = {
      name: basename(directory),
      directory,
      root: rootOf(record['root']),
      network: oneOf(record['network'], NETWORKS),
      limits: limitsOf(record['limits']),
      ...(record['cache'] !== undefined && { cache: oneOf(record['cache'], CACHES) }),
    };
    return { host: hostOf(record['host']), writer, stateDirectory: dirname(directory) };
  } catch {
    return undefined;
  }
}

export interface BoundaryRecord {
  readonly host: BoundaryHost;
  readonly root: BoxRoot;
  readonly network: NetworkKind;
  readonly limits: BoxLimits;
  readonly cache?: CacheKind;
}

/** The text of `boundary.json`, that `readRecord` takes. */
export function recordDocument(record: BoundaryRecord): object {
  return { schemaVersion: SCHEMA_VERSION, ...record };
}
