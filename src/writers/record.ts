/** `boundary.json` in a writer's directory: what setup has decided, and how Podman works on this machine. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import type { BoundaryHost, WriterBox } from '../ports/writers/boundary.ts';

const RECORD_FILE = 'boundary.json';

const path = z.string().check(z.startsWith('/'));
const network = z.enum(['none', 'pasta', 'slirp4netns']);
const amount = z.number().check(z.positive());

const schema = z.strictObject({
  schemaVersion: z.literal(1),
  host: z.strictObject({
    podman: path,
    version: z.string(),
    runtime: z.enum(['crun', 'runc']),
    cgroupManager: z.enum(['systemd', 'cgroupfs']),
    seccompProfile: path,
    networks: z.array(network),
    limits: z.strictObject({ memory: z.boolean(), cpu: z.boolean(), processes: z.boolean() }),
  }),
  root: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('host') }),
    z.strictObject({ kind: z.literal('tree'), path }),
  ]),
  network,
  limits: z.strictObject({
    memoryMiB: z.optional(amount),
    cpus: z.optional(amount),
    processes: z.optional(amount),
  }),
});

export type WriterRecord = z.infer<typeof schema>;

export interface RecordedWriter {
  readonly host: BoundaryHost;
  readonly writer: WriterBox;
  /** The boundary's state directory. */
  readonly stateDirectory: string;
}

/** Undefined when there is no record, or it is not one. */
export function readRecord(directory: string): RecordedWriter | undefined {
  try {
    const parsed = schema.parse(JSON.parse(readFileSync(join(directory, RECORD_FILE), 'utf8')));
    const { host, root, limits } = parsed;
    const writer = { name: basename(directory), directory, root, network: parsed.network, limits: { ...limits } };
    return { host, writer: writer as WriterBox, stateDirectory: dirname(directory) };
  } catch {
    return undefined;
  }
}
