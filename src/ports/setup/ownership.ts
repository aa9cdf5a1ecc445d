import type { ClientName, Scope } from './target.ts';

/** SHA-256 in lower-case hex. */
export type Fingerprint = string;

/**
 * What a record is about. `alias` is `pi-session-mcp` or
 * `skill:pi-session-orchestration`, and for what lives in a project it ends in
 * `@` and 16 hex digits of the SHA-256 of the project's real path, so that a run in
 * another project never touches it. The two Claude Code home scopes share one skill record (scope `user`).
 * `wake:pi-session-mcp` is the hook of Claude Code, one for all of its scopes (scope `user`).
 */
export interface RecordKey {
  readonly client: ClientName;
  readonly scope: Scope;
  readonly alias: string;
}

/** One thing that setup made, or is about to make. Holds no path and no secret. */
export interface OwnershipRecord extends RecordKey {
  /** `pending`: written before the thing is made. `owned`: it was seen to be there. */
  readonly phase: 'pending' | 'owned';
  /** Of a registration: over command, arguments and environment. Of a skill: over its tree. Of a hook: over its files. */
  readonly fingerprint: Fingerprint;
  /** Registrations only: over the bytes of the release that the registration starts. */
  readonly release?: Fingerprint;
  /** Skills only, while an update is pending: the fingerprint of the copy that it replaces. */
  readonly replaces?: Fingerprint;
}

export type OwnershipRead =
  | { readonly ok: true; readonly records: readonly OwnershipRecord[] }
  /** Corrupt, too large, a link, of another owner, or unreadable. */
  | { readonly ok: false };

/** `written`: durable, also after a crash. `failed`: the file is as it was before. */
export type WriteOutcome = { readonly ok: boolean };

/** The durable state of setup. Writers hold the kernel lock; a read needs none. No method rejects. */
export interface OwnershipStore {
  /** No file yet is an empty list. */
  read(): Promise<OwnershipRead>;
  /** Adds the record, or replaces the one with its key. Keeps every other record. */
  put(record: OwnershipRecord): Promise<WriteOutcome>;
  /** Drops the record with this key; ok also when there is none. */
  drop(key: RecordKey): Promise<WriteOutcome>;
}
