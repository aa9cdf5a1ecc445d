/** Bundles, packs and objects that no git would make. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { type ImportCaps, type ImportOutcome, importBundle } from '../../../src/adapters/git/import-bundle.ts';
import { type Lab, NAME, SIGNAL } from './lab.ts';

const ENVIRONMENT = {
  PATH: '/usr/bin:/bin',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'x',
  GIT_AUTHOR_EMAIL: 'x@localhost',
  GIT_COMMITTER_NAME: 'x',
  GIT_COMMITTER_EMAIL: 'x@localhost',
};

/** A repository of the attacker's own, with the checkout's history in it. */
export class Forge {
  readonly base: string;
  readonly #place: string;
  readonly #lab: Lab;

  constructor(lab: Lab) {
    this.#lab = lab;
    this.#place = join(lab.place, 'forge');
    mkdirSync(this.#place);
    this.git(['init', '--quiet', '--bare']);
    this.git(['fetch', '--quiet', lab.checkout, 'HEAD:refs/heads/base']);
    this.base = this.git(['rev-parse', 'base']);
  }

  git(args: readonly string[], input: string | Buffer = ''): string {
    return this.bytes(args, input).toString('latin1').trim();
  }

  bytes(args: readonly string[], input: string | Buffer = ''): Buffer {
    return execFileSync('git', args, { cwd: this.#place, env: ENVIRONMENT, input, maxBuffer: 2 ** 28, stdio: 'pipe' });
  }

  blob(content: string): string {
    return this.git(['hash-object', '-w', '--stdin'], content);
  }

  tree(...entries: readonly (readonly [mode: string, name: string, id: string])[]): string {
    const raw = entries.map(([mode, name, id]) =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')]),
    );
    return this.git(['hash-object', '-t', 'tree', '--literally', '-w', '--stdin'], Buffer.concat(raw));
  }

  commit(tree: string, parent: string | null = this.base): string {
    return this.git(['commit-tree', ...(parent ? ['-p', parent] : []), '-m', 'forged', tree]);
  }

  /** A commit on the base with one harmless file. */
  plain(text = 'plain'): string {
    return this.commit(this.tree(['100644', 'plain', this.blob(text)]));
  }

  /** Everything that a commit has and the base has not. */
  pack(...commits: readonly string[]): Buffer {
    const args = ['pack-objects', '--quiet', '--revs', '--stdout'];
    return this.bytes(args, [...commits, `^${this.base}`, ''].join('\n'));
  }

  /** Only these objects. */
  packOf(...ids: readonly string[]): Buffer {
    return this.bytes(['pack-objects', '--quiet', '--stdout'], `${ids.join('\n')}\n`);
  }

  /** A bundle of a plain commit under these full names. */
  named(...names: readonly string[]): Buffer {
    const commit = this.plain();
    return bundle({ refs: names.map((name) => [commit, name]), pack: this.pack(commit), prerequisites: [this.base] });
  }

  async import(bytes: Buffer, caps?: ImportCaps): Promise<ImportOutcome> {
    const { git, checkout, directory } = this.#lab;
    const repository = await git.find(checkout, SIGNAL);
    if (!repository) throw new Error('no checkout');
    const base = { commit: this.base, branch: `writer-${NAME}` };
    const folder = join(directory, 'quarantine');
    return importBundle(
      git,
      { bundle: bytes, checkout: repository, folder, writer: NAME, base, ...(caps && { caps }) },
      SIGNAL,
    );
  }
}

interface BundleParts {
  readonly refs: readonly (readonly [commit: string, name: string])[];
  readonly pack: Buffer;
  readonly prerequisites?: readonly string[];
  readonly signature?: string;
}

export function bundle({ refs, pack, prerequisites = [], signature = '# v2 git bundle' }: BundleParts): Buffer {
  const lines = [signature, ...prerequisites.map((id) => `-${id} x`), ...refs.map(([id, name]) => `${id} ${name}`)];
  return Buffer.concat([Buffer.from(`${lines.join('\n')}\n\n`, 'latin1'), pack]);
}

const TYPES = { commit: 1, tree: 2, blob: 3, tag: 4, delta: 7, nonsense: 5 };

export interface ForgedObject {
  readonly type: keyof typeof TYPES;
  readonly data: Buffer;
  /** What the pack says about its size. */
  readonly size?: number;
  /** Of a delta: its base. */
  readonly of?: string;
}

/** A pack by hand; its hash is right. */
export function forgePack(objects: readonly ForgedObject[], count = objects.length): Buffer {
  const head = Buffer.alloc(12);
  head.write('PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(count, 8);
  const body = objects.flatMap(({ type, data, size = data.length, of }) => [
    objectHead(TYPES[type], size),
    ...(of ? [Buffer.from(of, 'hex')] : []),
    deflateSync(data),
  ]);
  const bytes = Buffer.concat([head, ...body]);
  return Buffer.concat([bytes, createHash('sha1').update(bytes).digest()]);
}

function objectHead(type: number, size: number): Buffer {
  const rest = Math.floor(size / 16);
  return Buffer.concat([
    Buffer.from([(rest > 0 ? 0x80 : 0) | (type << 4) | (size & 15)]),
    rest > 0 ? number(rest) : Buffer.alloc(0),
  ]);
}

/** Seven bits a byte, the lowest first. */
export function number(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) | (rest >= 128 ? 0x80 : 0));
    if (rest < 128) return Buffer.from(bytes);
  }
}
