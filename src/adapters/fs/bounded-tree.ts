/**
 * Reads a directory tree that must stay small and plain. No link is followed
 * anywhere below the root, nor at it. Node has no `openat`; where there is a `/proc`, it
 * serves as one, so that a directory that is swapped meanwhile leads nowhere else. Everywhere, each step is
 * checked afterwards: the file that was opened is the one that was listed, and
 * every directory above it is still the one that was entered.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
} from 'node:fs';
import { join } from 'node:path';
import { codeOf, identityOf, readRegularFile } from './regular-file.ts';

export interface TreeLimits {
  readonly files: number;
  /** Of all files together. */
  readonly bytes: number;
  /** Names in one path below the root. */
  readonly levels: number;
  /** Everything that is listed, also what is skipped. */
  readonly entries: number;
  /** Which regular files are read, by name; the others are passed over. Default: all. */
  readonly wanted?: (name: string) => boolean;
}

export interface TreeFile {
  /** Relative to the root, with slashes. */
  readonly path: string;
  readonly bytes: Buffer;
}

export interface Tree {
  /** Sorted by the bytes of their paths. */
  readonly files: readonly TreeFile[];
  /** Relative paths, parents first; without the root. */
  readonly directories: readonly string[];
  /** An entry whose name starts with a dot was skipped somewhere. */
  readonly hidden: boolean;
  /** Device and inode of the root. */
  readonly identity: string;
}

export type TreeRead =
  | { readonly ok: true; readonly tree: Tree }
  /** `refused`: not a directory, a link or special file in it, out of bounds, an unusable name, or unreadable. */
  | { readonly ok: false; readonly reason: 'missing' | 'refused' };

const DESCRIPTORS = '/proc/self/fd';
const ENTER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Ends the walk; everything else that is thrown in it means the same. */
const REFUSED = new Error('refused');

/** Reads the whole tree at `root` (absolute) or nothing of it. Never throws. */
export function readTree(root: string, limits: TreeLimits): TreeRead {
  let stat: BigIntStats;
  try {
    stat = lstatSync(root, { bigint: true });
  } catch (error) {
    return { ok: false, reason: codeOf(error) === 'ENOENT' ? 'missing' : 'refused' };
  }
  try {
    return { ok: true, tree: new Walk(root, limits).read(stat) };
  } catch {
    return { ok: false, reason: 'refused' };
  }
}

interface Entered {
  readonly path: string;
  readonly identity: string;
}

class Walk {
  readonly #root: string;
  readonly #limits: TreeLimits;
  readonly #files: TreeFile[] = [];
  readonly #directories: string[] = [];
  /** From the root to where the walk is. */
  readonly #entered: Entered[] = [];
  readonly #hasDescriptors = existsSync(DESCRIPTORS);
  #bytes = 0;
  #entries = 0;
  #hidden = false;

  constructor(root: string, limits: TreeLimits) {
    this.#root = root;
    this.#limits = limits;
  }

  read(root: BigIntStats): Tree {
    this.#enter('', this.#root, root);
    const files = this.#files.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
    return { files, directories: this.#directories, hidden: this.#hidden, identity: identityOf(root) };
  }

  #enter(relative: string, path: string, listed: BigIntStats): void {
    // Held open while the walk is in it: the inode of a removed directory is soon given to something else.
    const descriptor = openSync(path, ENTER);
    try {
      const identity = identityOf(fstatSync(descriptor, { bigint: true }));
      if (identity !== identityOf(listed)) throw REFUSED;
      this.#entered.push({ path, identity });
      this.#list(relative, this.#hasDescriptors ? `${DESCRIPTORS}/${descriptor}` : path);
      this.#stillInside();
      this.#entered.pop();
    } finally {
      closeSync(descriptor);
    }
  }

  #list(relative: string, path: string): void {
    for (const name of this.#names(path)) {
      if (name.startsWith('.')) this.#hidden = true;
      else this.#visit(relative === '' ? name : `${relative}/${name}`, join(path, name), name);
    }
  }

  #visit(relative: string, path: string, name: string): void {
    if (this.#entered.length > this.#limits.levels) throw REFUSED;
    const stat = lstatSync(path, { bigint: true });
    if (stat.isDirectory()) {
      this.#directories.push(relative);
      this.#enter(relative, path, stat);
    } else if (!stat.isFile()) {
      throw REFUSED;
    } else if (this.#limits.wanted?.(name) ?? true) {
      this.#readFile(relative, path, identityOf(stat));
    }
  }

  #readFile(relative: string, path: string, listed: string): void {
    if (this.#files.length >= this.#limits.files) throw REFUSED;
    const left = this.#limits.bytes - this.#bytes;
    const read = readRegularFile(path, left, (stat) => identityOf(stat) === listed);
    if (!read.ok) throw REFUSED;
    this.#bytes += read.bytes.length;
    this.#files.push({ path: relative, bytes: read.bytes });
  }

  #stillInside(): void {
    for (const { path, identity } of this.#entered) {
      if (identityOf(lstatSync(path, { bigint: true })) !== identity) throw REFUSED;
    }
  }

  #names(path: string): string[] {
    const names: string[] = [];
    const directory = opendirSync(path, { encoding: 'buffer' as BufferEncoding });
    try {
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
        this.#entries += 1;
        if (this.#entries > this.#limits.entries) throw REFUSED;
        names.push(decodeName(entry.name as unknown as Buffer));
      }
    } finally {
      directory.closeSync();
    }
    return names;
  }
}

/** A byte order mark is a part of a name like any other, and must not get lost. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Two names must never become one, so what is not text is refused, and so is what no terminal should print. */
function decodeName(bytes: Buffer): string {
  const name = utf8.decode(bytes);
  if (/\p{Cc}/u.test(name)) throw REFUSED;
  return name;
}
