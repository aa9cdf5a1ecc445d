import type { ConfigurationFiles } from './files.ts';

/** `missing` means that nothing is there; `unreachable` that nobody here can tell. Links are followed. */
export type FileKind = 'file' | 'directory' | 'other' | 'missing' | 'unreachable';

export interface FileLook {
  readonly kind: FileKind;
  /** Bytes of a regular file, otherwise 0. */
  readonly size: number;
}

/** `run` means executing a file, and entering a directory. */
export type FileRight = 'read' | 'write' | 'run';

/** What the doctor asks of the disk. It only ever looks: nothing is made, changed or run. No method throws. */
export interface InspectedFiles extends ConfigurationFiles {
  look(path: string): FileLook;
  /** Does this process have all of these rights? */
  allows(path: string, rights: readonly FileRight[]): boolean;
  /** The path without links, or `undefined` when it cannot be told. */
  canonical(path: string): string | undefined;
}
