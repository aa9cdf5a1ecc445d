/** Everything that the checks look at, as plain data. Stays in memory: it holds paths and the token. */

import type { Call } from '../kit/driving/transcript.ts';
import type { ClientName } from '../kit/driving/wire/wire.ts';
import type { FixtureName } from './fixtures.ts';
import type { Seen } from './watch.ts';

export interface FixtureEvidence {
  readonly alias: string;
  /** Lines of `git status`, sorted. */
  readonly status: readonly string[];
  readonly tests: { readonly passed: number; readonly failed: number };
  /** When each changed file was last written, in milliseconds since 1970. */
  readonly written: Readonly<Record<string, number>>;
  readonly handshake: string | undefined;
}

export interface Evidence {
  readonly client: ClientName;
  /** What the run was made of. */
  readonly made: {
    readonly version: string;
    readonly fingerprint: string;
    readonly token: string;
    readonly credentials: readonly string[];
    /** Directories that no result may name. */
    readonly paths: readonly string[];
    readonly privateDirectory: string;
    readonly handshakeSkill: string;
  };
  readonly setup: {
    readonly statuses: readonly string[];
    /** Is it a regular copy, byte for byte? */
    readonly skillCopied: boolean;
  };
  readonly controller: {
    readonly code: number | null;
    readonly failure: string | undefined;
    readonly finished: boolean;
    readonly answer: string;
    readonly others: readonly string[];
    /** The first request to its model. */
    readonly firstRequest: string;
    /** All that it printed and all that it asked its model. */
    readonly said: string;
    readonly calls: readonly Call[];
  };
  readonly worker: {
    readonly prompts: readonly string[];
    /** Paths of `read` calls that the workers' model made. */
    readonly reads: readonly string[];
  };
  readonly processes: { readonly seen: readonly Seen[]; readonly left: readonly Seen[] };
  readonly fixtures: Readonly<Partial<Record<FixtureName, FixtureEvidence>>>;
  /** The file that an aborted worker would have left, looked at when its command would have ended. */
  readonly lateFile: boolean;
}
