import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { repositoryRoot } from '../../../src/adapters/fs/repository-root.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'repository-root-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const place = (...parts: string[]) => {
  const path = join(root, ...parts);
  mkdirSync(path, { recursive: true });
  return path;
};
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@localhost', ...args], { cwd, stdio: 'ignore' });

const main = place('main');
git(main, 'init');
git(main, 'commit', '--allow-empty', '-m', 'x');
git(main, 'worktree', 'add', '../linked');
git(root, 'clone', '--bare', 'main', 'bare.git');
git(join(root, 'bare.git'), 'worktree', 'add', '../of-bare', '-b', 'other');

test.each([
  ['no repository', place('plain', 'sub'), 'plain/sub'],
  ['the root', main, 'main'],
  ['a subdirectory', place('main', 'a', 'b'), 'main'],
  ['a linked worktree', join(root, 'linked'), 'main'],
  ['a subdirectory of a linked worktree', place('linked', 'a'), 'main'],
  ['a linked worktree of a bare repository', join(root, 'of-bare'), 'bare.git'],
])('%s', (_what, directory, expected) => expect(repositoryRoot(directory)).toBe(join(root, expected)));

test.each<[string, (directory: string) => void]>([
  ['leads nowhere', (directory) => writeFileSync(join(directory, '.git'), 'gitdir: /nonexistent\n')],
  [
    'claims to be a worktree that the repository does not know',
    (directory) => writeFileSync(join(directory, '.git'), `gitdir: ${join(main, '.git/worktrees/linked')}\n`),
  ],
  ['is a pipe', (directory) => execFileSync('mkfifo', [join(directory, '.git')])],
  ['is a link to a file', (directory) => symlinkSync(join(root, 'linked/.git'), join(directory, '.git'))],
  ['is empty', (directory) => writeFileSync(join(directory, '.git'), '')],
])('a .git that %s makes a repository of its own', (what, make) => {
  const directory = place(what.replaceAll(' ', '-'));
  make(directory);
  expect(repositoryRoot(directory)).toBe(directory);
});
