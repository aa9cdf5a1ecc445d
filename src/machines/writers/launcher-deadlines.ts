/** The launcher's delays, in milliseconds (docs/boundary.md, docs/writers.md). */
export const LAUNCHER_DELAYS_MS = {
  /** For a provider to renew a token. Clients give a server 10 s to answer, and the box takes some of them. */
  renewalPatience: 5_000,
  /** The server ends itself within 15 s; the rest is for Podman. */
  graceTimeout: 20_000,
  /** Between two looks at the credentials. */
  renewalInterval: 60_000,
} as const;

export type LauncherDelays = Readonly<Record<keyof typeof LAUNCHER_DELAYS_MS, number>>;
