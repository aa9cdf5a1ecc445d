/** Why a file could not be used; `missing` means that nothing at all is there. */
export type ReadFailure = 'missing' | 'not_a_file' | 'too_large' | 'unreadable';

export type FileRead =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly reason: ReadFailure };

/** What loading asks of the disk. Synchronous: nothing else runs yet, and one read is one moment in time. */
export interface ConfigurationFiles {
  /** The exact bytes of a regular file of at most `limit` bytes; never throws. */
  read(path: string, limit: number): FileRead;
  /** Is there something behind this path, links followed? True when that cannot be told; never throws. */
  exists(path: string): boolean;
}
