import { execFileSync } from 'node:child_process';
import fs, { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTree } from '../../../src/adapters/fs/bounded-tree.ts';
import { fingerprintOf, readSkill, SKILL_LIMITS } from '../../../src/adapters/fs/skill-tree.ts';
import { diskScratch, write } from './lab.ts';

const GOOD = { 'SKILL.md': 'text', 'notes/a.md': 'a' };
const MEBIBYTE = 1_048_576;

function manyFiles(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_none, index) => [`f${index}.md`, '']));
}

function treeOf(files: Readonly<Record<string, string | Uint8Array>> = GOOD): string {
  return write(join(diskScratch(), 'skill'), files);
}

function fingerprintAt(root: string): string {
  const read = readSkill(root);
  if (!read.ok) throw new Error(read.reason);
  return read.tree.fingerprint;
}

describe('what a skill is', () => {
  it('is its files, sorted by bytes, whatever their order on disk', () => {
    const read = readSkill(
      treeOf({ 'b/x.md': '1', 'SKILL.md': '2', '\u{1f600}.md': '3', '\uff5e.md': '4', 'b.md': '5' }),
    );
    expect(read.ok && read.tree.files.map(({ path }) => path)).toEqual([
      'SKILL.md',
      'b.md',
      'b/x.md',
      '\uff5e.md',
      '\u{1f600}.md',
    ]);
    expect(read.ok && read.tree.directories).toEqual(['b']);
    expect(read.ok && read.tree.hidden).toBe(false);
  });

  it('has a fingerprint that stays the same for ever', () => {
    // Recorded in every state file out there: a change here makes all installed copies foreign.
    expect(fingerprintAt(treeOf())).toBe('237466529aab81639b97673145cd3dc0536830e6a996f87b77da9e48093447bd');
  });

  it('leaves out what starts with a dot, and tells', () => {
    const plain = fingerprintAt(treeOf());
    for (const path of ['.DS_Store', 'notes/.mine', '.git/config', 'empty/.keep']) {
      const read = readSkill(treeOf({ ...GOOD, [path]: 'x' }));
      expect(read.ok && [read.tree.fingerprint, read.tree.hidden]).toEqual([plain, true]);
    }
  });

  it('reads what a package manager has hard-linked', () => {
    const root = treeOf();
    linkSync(join(root, 'SKILL.md'), join(root, '..', 'store'));
    expect(readSkill(root).ok).toBe(true);
  });

  it.each<[string, Record<string, string | Uint8Array>]>([
    ['32 files', { 'SKILL.md': '', ...manyFiles(31) }],
    ['1 MiB', { 'SKILL.md': new Uint8Array(MEBIBYTE - 1), 'a.md': 'a' }],
    ['8 levels', { 'SKILL.md': '', '1/2/3/4/5/6/7/8.md': '' }],
  ])('may have %s', (_name, files) => {
    expect(readSkill(treeOf(files)).ok).toBe(true);
  });

  it.each<[string, Record<string, string | Uint8Array>]>([
    ['33 files', { 'SKILL.md': '', ...manyFiles(32) }],
    ['more than 1 MiB', { 'SKILL.md': new Uint8Array(MEBIBYTE), 'a.md': 'a' }],
    ['9 levels', { 'SKILL.md': '', '1/2/3/4/5/6/7/8/9.md': '' }],
    ['no SKILL.md', { 'skill.md': '', 'notes/SKILL.md': '' }],
    ['a line break in a name', { 'SKILL.md': '', 'a\nb.md': '' }],
    ['an escape in the name of a directory', { 'SKILL.md': '', '\u001b[2Ja/b.md': '' }],
    ['a C1 control in a name', { 'SKILL.md': '', 'a\u0085.md': '' }],
  ])('is refused with %s', (_name, files) => {
    expect(readSkill(treeOf(files))).toEqual({ ok: false, reason: 'refused' });
  });

  it.each<[string, (root: string) => unknown]>([
    ['a link to a file', (root) => symlinkSync('SKILL.md', join(root, 'link.md'))],
    ['a link to a directory', (root) => symlinkSync('notes', join(root, 'link'))],
    ['a link to nowhere', (root) => symlinkSync('nowhere', join(root, 'notes', 'link'))],
    ['a FIFO', (root) => execFileSync('mkfifo', [join(root, 'fifo')])],
    [
      'a name that is not UTF-8',
      (root) => writeFileSync(Buffer.concat([Buffer.from(`${root}/a`), Buffer.of(0xff)]), ''),
    ],
    [
      'a name that is not UTF-8 beside the one that it looks like',
      (root) => {
        writeFileSync(Buffer.concat([Buffer.from(`${root}/a`), Buffer.of(0xff)]), '');
        writeFileSync(join(root, 'a\ufffd'), '');
      },
    ],
    [
      'endless empty directories',
      (root) => {
        for (let index = 0; index < 1100; index += 1) mkdirSync(join(root, `d${index}`));
      },
    ],
  ])('is refused with %s', (_name, spoil) => {
    const root = treeOf();
    spoil(root);
    expect(readSkill(root)).toEqual({ ok: false, reason: 'refused' });
  });

  it('is refused with a socket', async () => {
    const root = treeOf();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, 's'), resolve));
    expect(readSkill(root)).toEqual({ ok: false, reason: 'refused' });
    await new Promise((resolve) => server.close(resolve));
  });

  it('is no link, no file, and not missing', () => {
    const root = treeOf();
    symlinkSync(root, join(root, '..', 'link'));
    expect(readSkill(join(root, '..', 'link'))).toEqual({ ok: false, reason: 'refused' });
    expect(readSkill(join(root, 'SKILL.md'))).toEqual({ ok: false, reason: 'refused' });
    expect(readSkill(join(root, 'SKILL.md', 'deeper'))).toEqual({ ok: false, reason: 'refused' });
    expect(readSkill(join(root, 'nothing'))).toEqual({ ok: false, reason: 'missing' });
  });
});

/** As on a machine without `/proc`. */
function withoutDescriptors<T>(action: () => T): T {
  const { existsSync } = fs;
  fs.existsSync = () => false;
  syncBuiltinESMExports();
  try {
    return action();
  } finally {
    fs.existsSync = existsSync;
    syncBuiltinESMExports();
  }
}

describe('a tree that changes while it is read', () => {
  /** `wanted` is asked between the listing of a file and its opening. */
  const readWhile = (root: string, change: () => void) =>
    readTree(root, {
      ...SKILL_LIMITS,
      wanted: (name) => {
        if (name === 'secret.md') change();
        return true;
      },
    });
  const stage = () => {
    const root = treeOf({ 'SKILL.md': '', 'notes/secret.md': 'inside' });
    const outside = write(join(root, '..', 'outside'), { 'secret.md': 'outside' });
    return { root, outside };
  };

  it.each<[string, (root: string, outside: string) => void]>([
    [
      'the file becomes a link',
      (root, outside) => {
        rmSync(join(root, 'notes/secret.md'));
        symlinkSync(join(outside, 'secret.md'), join(root, 'notes/secret.md'));
      },
    ],
    [
      'the file becomes another one',
      (root, outside) => renameSync(join(outside, 'secret.md'), join(root, 'notes/secret.md')),
    ],
    [
      'its directory becomes a link to a place with the same file',
      (root, outside) => {
        rmSync(join(outside, 'secret.md'));
        renameSync(join(root, 'notes/secret.md'), join(outside, 'secret.md'));
        rmSync(join(root, 'notes'), { recursive: true });
        symlinkSync(outside, join(root, 'notes'));
      },
    ],
    [
      'the root becomes a link to the same tree',
      (root) => {
        renameSync(root, `${root}.moved`);
        symlinkSync(`${root}.moved`, root);
      },
    ],
    ['the file outgrows the bound', (root) => truncateSync(join(root, 'notes/secret.md'), 2 * MEBIBYTE)],
  ])('is refused when %s', (_name, change) => {
    const { root, outside } = stage();
    expect(readWhile(root, () => change(root, outside))).toEqual({ ok: false, reason: 'refused' });
    const again = stage();
    const read = withoutDescriptors(() => readWhile(again.root, () => change(again.root, again.outside)));
    expect(read).toEqual({ ok: false, reason: 'refused' });
  });

  it('is never read from elsewhere, even if all is put back in time', () => {
    const root = treeOf({ 'notes/a.md': 'inside', 'notes/b.md': 'inside', 'notes/c.md': 'inside' });
    const outside = write(join(root, '..', 'outside'), { 'a.md': 'outside', 'b.md': 'outside', 'c.md': 'outside' });
    const notes = join(root, 'notes');
    let asked = 0;
    const swap = (name: string): boolean => {
      asked += 1;
      if (asked === 1) {
        // The first file would be noticed as another one, so it is not another one.
        rmSync(join(outside, name));
        linkSync(join(notes, name), join(outside, name));
        renameSync(notes, `${root}.moved`);
        symlinkSync(outside, notes);
      } else if (asked === 3) {
        rmSync(notes);
        renameSync(`${root}.moved`, notes);
      }
      return true;
    };
    const read = readTree(root, { ...SKILL_LIMITS, wanted: swap });
    expect(asked).toBe(3);
    expect(read.ok ? read.tree.files.map(({ bytes }) => bytes.toString()) : []).not.toContain('outside');
  });

  it('is read when nothing changes', () => {
    expect(readWhile(stage().root, () => {}).ok).toBe(true);
    expect(withoutDescriptors(() => readWhile(stage().root, () => {})).ok).toBe(true);
  });
});

const name = fc.constantFrom('a', 'b', 'ab', 'é', '\u{1f600}', 'x.md');
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const bytes = fc.uint8Array({ maxLength: 12 }).map((array) => Buffer.from(array));

describe('fingerprints', () => {
  it('differ for different lists of files, also where their parts run together', () => {
    const files = fc.uniqueArray(fc.record({ path, bytes }), { selector: (file) => file.path, maxLength: 4 });
    fc.assert(
      fc.property(files, files, (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other);
        expect(fingerprintOf(one) === fingerprintOf(other)).toBe(same);
      }),
      { numRuns: 500 },
    );
    const file = (at: string, text: string) => ({ path: at, bytes: Buffer.from(text) });
    const alike = [
      [file('ab', 'c')],
      [file('a', 'bc')],
      [file('abc', '')],
      [file('a', ''), file('b', 'c')],
      [file('', 'abc')],
    ];
    expect(new Set(alike.map((list) => fingerprintOf(list))).size).toBe(alike.length);
  });

  it('do not depend on the order in which the files were made, and see every byte', () => {
    const contents = fc.dictionary(fc.constantFrom('b.md', 'c/d.md', 'c/e/f.md', 'é.md'), bytes, {
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(contents, fc.boolean(), fc.nat(), (others, reversed, at) => {
        const entries = Object.entries({ 'SKILL.md': Buffer.from('text'), ...others });
        const expected = fingerprintAt(treeOf(Object.fromEntries(entries)));
        const root = treeOf(Object.fromEntries(reversed ? entries.toReversed() : entries));
        expect(fingerprintAt(root)).toBe(expected);
        const [changed, old] = entries[at % entries.length] ?? ['SKILL.md', Buffer.of()];
        write(root, { [changed]: Buffer.concat([old, Buffer.of(0)]) });
        expect(fingerprintAt(root)).not.toBe(expected);
      }),
      { numRuns: 50 },
    );
  });
});
