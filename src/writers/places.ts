/** Where the parts of one writer lie on the host (docs/writers.md). */
import { join } from 'node:path';
import { BOX } from '../adapters/podman/box-places.ts';
import { cacheOf } from '../adapters/podman/layout.ts';

/** In the box; see docs/boundary.md. */
export const INSIDE = {
  ...BOX,
  configuration: `${BOX.server}/config.json`,
  baseline: `${BOX.server}/baseline.json`,
  program: `${BOX.product}/dist/main.js`,
} as const;

export interface WriterPlaces {
  /** `<alias>-<n>`: of its directory, its registration and its refs. */
  readonly name: string;
  /** The writer's own, private to this user. */
  readonly directory: string;
  /** How its box is run; read by the launcher. */
  readonly record: string;
  /** Under which name, where and as what a client knows it. */
  readonly registration: string;
  /** What the acceptance was bound to. */
  readonly acceptance: string;
  /** Where the launcher gets fresh credentials from. */
  readonly credentials: string;
  /** Everything in it is what the writer may see of the agent directory. */
  readonly agent: string;
  /** Turn events; the writer can write there. */
  readonly events: string;
  /** The contained server's configuration. */
  readonly server: string;
  /** What the contained server compares the clone with. */
  readonly baseline: string;
  /** There while setup works on the clone beside a running box. */
  readonly hold: string;
  /** There while a session in the box writes; the writer may forge it, and only blocks itself with it. */
  readonly mark: string;
  /** There when the writer has a cache: downloads and builds, which it alone can change. */
  readonly cache: string;
  /** The git side's own record of the same, which is never mounted. */
  readonly clone: string;
  /** Holds the lock; not in the writer's directory, whose removal it outlives. */
  readonly lock: string;
}

/** @param state The writers' common directory, absolute and free of links. */
export function placesOf(state: string, name: string): WriterPlaces {
  const directory = join(state, name);
  const at = (...parts: string[]): string => join(directory, ...parts);
  return {
    name,
    directory,
    record: at('boundary.json'),
    registration: at('registration.json'),
    acceptance: at('acceptance.json'),
    credentials: at('credentials.json'),
    agent: at('agent'),
    events: at('events'),
    server: at('server'),
    baseline: at('server', 'baseline.json'),
    hold: at('server', 'hold.json'),
    mark: at('clone', 'git', 'pi-coding-open'),
    cache: cacheOf(directory),
    clone: at('clone'),
    lock: join(state, '.locks', name),
  };
}
