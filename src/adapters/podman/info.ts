/** The few things of `podman info` that matter here. */
import * as z from 'zod/mini';

const mapping = z.array(z.object({ size: z.number() }));

const schema = z.object({
  host: z.object({
    cgroupVersion: z.string(),
    cgroupControllers: z.nullish(z.array(z.string())),
    // Absent where the user has no subordinate ids.
    idMappings: z.nullish(z.object({ uidmap: z.nullish(mapping), gidmap: z.nullish(mapping) })),
    security: z.object({ rootless: z.boolean() }),
  }),
  version: z.object({ Version: z.string().check(z.regex(/^\d+\.\d+\.\d+/)) }),
});

export interface PodmanInfo {
  /** `major.minor.patch`, without what a distribution has added. */
  readonly version: string;
  readonly rootless: boolean;
  readonly cgroupVersion: string;
  /** Those that this user may use. */
  readonly controllers: readonly string[];
  readonly mappedUids: number;
  readonly mappedGids: number;
}

const total = (entries: readonly { size: number }[] | null | undefined): number =>
  (entries ?? []).reduce((sum, { size }) => sum + size, 0);

export function parseInfo(text: string): PodmanInfo | undefined {
  try {
    const { host, version } = schema.parse(JSON.parse(text));
    return {
      version: /^\d+\.\d+\.\d+/.exec(version.Version)?.[0] ?? '',
      rootless: host.security.rootless,
      cgroupVersion: host.cgroupVersion,
      controllers: host.cgroupControllers ?? [],
      mappedUids: total(host.idMappings?.uidmap),
      mappedGids: total(host.idMappings?.gidmap),
    };
  } catch {
    return undefined;
  }
}
