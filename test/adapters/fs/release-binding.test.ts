import { linkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { registrationFingerprint, releaseFingerprint } from '../../../src/adapters/fs/release-binding.ts';
import { scratch, write } from './lab.ts';

const RELEASE = {
  'package.json': '{}',
  'package-lock.json': '{"lockfileVersion":3}',
  'dist/main.js': 'main',
  'dist/chunk-A.js': 'chunk',
  'dist/deep/x.mjs': 'x',
};

const packageOf = (files: Readonly<Record<string, string>> = RELEASE): string => write(scratch(), files);

function printOf(root: string): string {
  const release = releaseFingerprint(root);
  if (!release.ok) throw new Error('not a release');
  return release.fingerprint;
}

function linkInstead(root: string, name: string): void {
  renameSync(join(root, name), join(root, 'moved'));
  symlinkSync('moved', join(root, name));
}

describe('the fingerprint of a release', () => {
  it('is the same for the same bytes in another place', () => {
    expect(printOf(packageOf())).toBe(printOf(packageOf()));
    const { 'package-lock.json': _lock, ...published } = RELEASE;
    expect(releaseFingerprint(packageOf(published)).ok).toBe(true);
  });

  it.each<[string, (root: string) => unknown]>([
    ['package.json', (root) => write(root, { 'package.json': '{ }' })],
    ['the lockfile', (root) => write(root, { 'package-lock.json': '{}' })],
    ['a lockfile that is gone', (root) => rmSync(join(root, 'package-lock.json'))],
    ['a shrinkwrap', (root) => write(root, { 'npm-shrinkwrap.json': '' })],
    [
      'a lockfile by another name',
      (root) => renameSync(join(root, 'package-lock.json'), join(root, 'npm-shrinkwrap.json')),
    ],
    ['a module', (root) => write(root, { 'dist/chunk-A.js': 'chunk!' })],
    ['a module deep down', (root) => write(root, { 'dist/deep/x.mjs': 'y' })],
    ['a module more', (root) => write(root, { 'dist/new.js': '' })],
    ['a module less', (root) => rmSync(join(root, 'dist/chunk-A.js'))],
    ['the name of a module', (root) => renameSync(join(root, 'dist/chunk-A.js'), join(root, 'dist/chunk-B.js'))],
    ['the place of a module', (root) => renameSync(join(root, 'dist/chunk-A.js'), join(root, 'dist/deep/chunk-A.js'))],
  ])('changes with %s', (_name, change) => {
    const root = packageOf();
    const before = printOf(root);
    change(root);
    expect(printOf(root)).not.toBe(before);
  });

  it('does not look at what nobody runs', () => {
    const root = packageOf();
    const before = printOf(root);
    write(root, { 'dist/LICENSES.txt': 'x', 'dist/.DS_Store': 'x', 'README.md': 'x', 'src/main.ts': 'x' });
    linkSync(join(root, 'dist/main.js'), join(root, 'store'));
    expect(printOf(root)).toBe(before);
  });

  it.each<[string, (root: string) => unknown]>([
    ['no package.json', (root) => rmSync(join(root, 'package.json'))],
    ['no dist', (root) => rmSync(join(root, 'dist'), { recursive: true })],
    ['an empty dist', (root) => rmSync(join(root, 'dist'), { recursive: true }) ?? write(join(root, 'dist'), {})],
    ['a linked module', (root) => symlinkSync('main.js', join(root, 'dist/link.js'))],
    ['a link among the modules, whatever its name', (root) => symlinkSync('deep', join(root, 'dist/other'))],
    ['a linked dist', (root) => linkInstead(root, 'dist')],
    ['a linked package.json', (root) => linkInstead(root, 'package.json')],
    ['a linked lockfile', (root) => symlinkSync('package.json', join(root, 'npm-shrinkwrap.json'))],
    ['a lockfile that is a directory', (root) => write(join(root, 'npm-shrinkwrap.json'), {})],
  ])('does not exist with %s', (_name, change) => {
    const root = packageOf();
    change(root);
    expect(releaseFingerprint(root)).toEqual({ ok: false });
  });

  it('exists for the package itself', () => {
    expect(releaseFingerprint(resolve(import.meta.dirname, '../../..')).ok).toBe(true);
  });
});

describe('the fingerprint of a registration', () => {
  const entry = { command: '/usr/bin/node', args: ['/p/dist/main.js'], env: { B: '2', A: '1' } };

  it('does not depend on the order of the environment, and stays the same for ever', () => {
    expect(registrationFingerprint({ ...entry, env: { A: '1', B: '2' } })).toBe(registrationFingerprint(entry));
    expect(registrationFingerprint(entry)).toBe('d1563b4c58eaed1b5e38edfec9a76c4f597314434860931001f7bc0ed9847571');
  });

  it('differs for entries that differ', () => {
    const text = fc.oneof(
      fc.constantFrom('', '"', ',', '\ud800', '\udfff', '\\ud800', 'a', '__proto__'),
      fc.string({ unit: 'binary' }),
    );
    const entries = fc.record({
      command: text,
      args: fc.array(text, { maxLength: 3 }),
      env: fc.dictionary(text, text, { maxKeys: 3 }),
    });
    const canonical = (value: typeof entry) =>
      JSON.stringify([value.command, value.args, Object.entries(value.env).sort()]);
    fc.assert(
      fc.property(entries, entries, (one, other) => {
        const same = canonical(one as typeof entry) === canonical(other as typeof entry);
        expect(registrationFingerprint(one) === registrationFingerprint(other)).toBe(same);
      }),
      { numRuns: 500 },
    );
    for (const changed of [
      { ...entry, command: '/usr/bin/nodejs' },
      { ...entry, args: [] },
      { ...entry, args: ['/p/dist', '/main.js'] },
      { ...entry, env: { A: '1' } },
      { ...entry, env: { A: '2', B: '2' } },
    ]) {
      expect(registrationFingerprint(changed)).not.toBe(registrationFingerprint(entry));
    }
  });
});
