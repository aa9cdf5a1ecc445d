/** The way of a writer's work: cloned, changed, collected, reset, removed. */
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isMountable } from '../../../src/adapters/git/layout.ts';
import { BRANCH, collected, differences, layOut, openLab, SIGNAL, trespasses } from './lab.ts';

const files = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));

describe('the clone', () => {
  test('has one branch of one commit’s history, and nothing else of its source', async () => {
    const lab = layOut({
      prepare: ({ operator, checkout }) => {
        operator('branch', 'private');
        operator('tag', 'v1');
        operator('remote', 'add', 'origin', 'https://user:secret@example.invalid/x');
        operator('config', 'core.hooksPath', 'evil');
        writeFileSync(join(checkout, 'secret'), 'amended away\n');
        operator('add', '--all');
        operator('commit', '--quiet', '--message', 'secret');
        operator('branch', 'hidden');
        operator('reset', '--quiet', '--hard', 'HEAD~1');
      },
    });
    const before = lab.snapshot();
    expect(await lab.writer.clone('HEAD', SIGNAL)).toMatchObject({ ok: true, baseline: { branch: BRANCH } });
    expect(differences(before, lab.snapshot())).toEqual([]);
    const { layout } = lab;
    const head = lab.operator('rev-parse', 'HEAD').trim();
    expect(lab.work('git for-each-ref')).toBe(`${head} commit\trefs/heads/${BRANCH}\n`);
    expect(lab.work('git remote; git cat-file --batch-check --batch-all-objects | wc -l')).toBe('7\n');
    expect(readFileSync(join(layout.work, 'file'), 'utf8')).toBe('two\n');
    expect(existsSync(join(layout.git, 'objects/info/alternates'))).toBe(false);
    expect(files(layout.root).filter((path) => lstatSync(path).nlink !== 1)).toEqual([]);
    expect(files(layout.root).filter((path) => /secret|example\.invalid/.test(readFileSync(path, 'latin1')))).toEqual(
      [],
    );
    expect(lab.baseline()).toEqual({ commit: head, branch: BRANCH });
    expect(lstatSync(lab.layout.root).mode & 0o777).toBe(0o700);
  });

  test('is no repository to git on the host', async () => {
    const { layout } = await openLab();
    const env = { PATH: '/usr/bin:/bin', GIT_CEILING_DIRECTORIES: layout.root };
    for (const cwd of [layout.work, layout.git]) {
      expect(() => execFileSync('git', ['status'], { cwd, env, stdio: 'ignore' })).toThrow();
    }
    expect(isMountable(layout)).toBe(true);
    expect(files(layout.hooks)).toEqual([]);
    expect(readFileSync(layout.commonDir, 'utf8')).toBe('.\n');
    expect(readFileSync(layout.config, 'utf8')).not.toMatch(/remote|credential|include|url/);
  });

  test.each<[string, Parameters<typeof layOut>[0] & object, string, string]>([
    ['another revision', { prepare: ({ operator }) => void operator('branch', 'old', 'HEAD~1') }, 'old', 'ok'],
    ['a revision that is none', {}, 'nothing', 'baseline_missing'],
    ['a revision that looks like an option', {}, '--all', 'baseline_missing'],
    ['a tree', {}, 'HEAD:file', 'baseline_missing'],
    [
      'a partial source',
      { prepare: ({ operator }) => void operator('config', 'extensions.partialClone', 'origin') },
      'HEAD',
      'source_unsupported',
    ],
    [
      'a shallow source',
      {
        prepare: ({ operator, checkout }) =>
          writeFileSync(join(checkout, '.git/shallow'), operator('rev-parse', 'HEAD')),
      },
      'HEAD',
      'source_unsupported',
    ],
  ])('of %s', async (_, options, revision, expected) => {
    const lab = layOut(options);
    const outcome = await lab.writer.clone(revision, SIGNAL);
    expect(outcome.ok ? 'ok' : outcome.code).toBe(expected);
    expect(existsSync(lab.layout.root)).toBe(expected === 'ok');
  });

  test('of a linked worktree, and of a directory that is no root', async () => {
    const lab = layOut();
    const linked = join(lab.place, 'linked');
    lab.operator('worktree', 'add', '--quiet', linked, '-b', 'side');
    const { createWriterGit } = await import('../../../src/adapters/git/writer-git.ts');
    const at = (checkout: string) =>
      createWriterGit({ git: lab.git, writer: 'shop-1', checkout, directory: lab.directory, inside: lab.inside });
    expect(await at(linked).clone('HEAD', SIGNAL)).toMatchObject({ ok: true });
    lab.work('echo work >>file; git commit --quiet --all --message work');
    expect(await at(linked).collect(SIGNAL)).toMatchObject({ ok: true, collection: { incomplete: {} } });
    expect(Object.keys(lab.landed())).toEqual([BRANCH]);
    mkdirSync(join(lab.checkout, 'inner'));
    expect(await at(join(lab.checkout, 'inner')).clone('HEAD', SIGNAL)).toEqual({
      ok: false,
      code: 'source_unavailable',
    });
    expect(await at(lab.layout.work).clone('HEAD', SIGNAL)).toEqual({ ok: false, code: 'source_unsupported' });
  });

  test('replaces what was there, in one step, and may be made again', async () => {
    const lab = await openLab();
    lab.work('echo gone >gone');
    expect(await lab.writer.clone('HEAD~1', SIGNAL)).toMatchObject({ ok: true });
    expect(readFileSync(join(lab.layout.work, 'file'), 'utf8')).toBe('one\n');
    expect(readdirSync(lab.directory)).toEqual(['clone']);
  });
});

describe('collecting', () => {
  test('brings out branches and work in progress, and leaves the clone as it was', async () => {
    const lab = await openLab();
    lab.work(`echo a >>file; git commit --quiet --all --message a
      git switch --quiet --create topic/b; echo b >b; git add b; git commit --quiet --message b
      echo staged >c; git add c; echo later >c; echo new >d; mkdir cache; echo x >cache/x`);
    const status = lab.work('git status --porcelain; git diff --cached');
    const before = lab.snapshot();
    const { refs, incomplete, refused } = await collected(lab);
    expect({ incomplete, refused }).toEqual({ incomplete: {}, refused: {} });
    expect(refs.map(({ branch, change, files }) => [branch, change, files])).toEqual([
      ['topic/b', 'created', 2],
      [BRANCH, 'created', 1],
      ['topic/b-wip', 'created', 4],
    ]);
    expect(trespasses(before, lab.snapshot())).toEqual([]);
    expect(lab.work('git status --porcelain; git diff --cached')).toBe(status);
    const wip = `refs/remotes/${BRANCH}/topic/b-wip`;
    expect(lab.operator('ls-tree', '-r', '--name-only', wip)).toBe('.gitignore\nb\nc\nd\nfile\n');
    expect(lab.operator('show', `${wip}:c`)).toBe('later\n');
    expect(lab.operator('show', `${wip}^2:c`)).toBe('staged\n');
    expect((await collected(lab)).refs.map(({ change }) => change)).toEqual(['unchanged', 'unchanged', 'unchanged']);
    lab.work('git reset --quiet --hard; rm -f d; echo more >>b; git commit --quiet --all --message more');
    expect((await collected(lab)).refs.map(({ change }) => change)).toEqual(['updated', 'unchanged']);
  });

  test('of an untouched clone brings nothing out', async () => {
    const lab = await openLab();
    const before = lab.snapshot();
    expect(await collected(lab)).toEqual({ refs: [], refused: {}, incomplete: {}, kept: 0 });
    expect(differences(before, lab.snapshot())).toEqual([]);
    expect(await lab.writer.hasWork(SIGNAL)).toEqual({ ok: true, work: false });
  });

  test('finds what flags in the index hide, and keeps commits that no branch holds', async () => {
    const lab = await openLab();
    lab.work(`git switch --quiet --detach; echo loose >loose; git add loose; git commit --quiet --message loose
      git update-index --assume-unchanged file; echo hidden >file`);
    const { refs, incomplete } = await collected(lab);
    expect([refs.map(({ branch }) => branch), incomplete]).toEqual([['detached-wip'], {}]);
    expect(lab.operator('show', `refs/remotes/${BRANCH}/detached-wip:file`)).toBe('hidden\n');
    expect(lab.operator('show', `refs/remotes/${BRANCH}/detached-wip:loose`)).toBe('loose\n');
  });

  test.each([
    ['a stash', 'echo x >>file; git stash --quiet', ['stash']],
    [
      'a commit under a tag',
      'git commit --quiet --allow-empty -m x; git tag t; git reset --quiet --hard HEAD~1',
      ['other_refs'],
    ],
    ['a linked worktree', 'git worktree add --quiet ../elsewhere', ['linked_worktrees']],
    [
      'a repository inside',
      'env -u GIT_DIR -u GIT_WORK_TREE -u GIT_COMMON_DIR git init --quiet inner',
      ['nested_repositories', 'partial_wip'],
    ],
    [
      'a name that may not come out',
      'git branch -- "a;b"; git switch --quiet "a;b"; git commit --quiet --allow-empty -m x',
      ['refused_refs'],
    ],
  ])('%s makes it incomplete', async (_, script, reasons) => {
    const lab = await openLab();
    lab.work(script);
    expect(Object.keys((await collected(lab)).incomplete)).toEqual(reasons);
    expect(await lab.writer.hasWork(SIGNAL)).toEqual({ ok: true, work: true });
  });

  test('what is out is no work any more, and a branch that cannot stand beside it is refused', async () => {
    const lab = await openLab();
    lab.work('git switch --quiet --create a; git commit --quiet --allow-empty -m x');
    expect(await lab.writer.hasWork(SIGNAL)).toEqual({ ok: true, work: true });
    await collected(lab);
    expect(await lab.writer.hasWork(SIGNAL)).toEqual({ ok: true, work: false });
    lab.work('git switch --quiet --detach; git branch --quiet --delete --force a; git branch a/b');
    expect((await collected(lab)).refused).toEqual({ conflict: 1 });
    expect(Object.keys(lab.landed())).toEqual(['refused-1']);
    lab.work('git branch --quiet --move a/b Refused-1');
    expect((await collected(lab)).refused).toEqual({ twin: 1 });
    // Nothing stands in its way any more.
    lab.work('git branch --quiet --move Refused-1 a/b');
    expect(await collected(lab)).toMatchObject({ refused: {}, kept: 0 });
    expect(Object.keys(lab.landed())).toEqual(['a/b']);
  });
});

describe('resetting', () => {
  test('starts at the operator’s newest commit and keeps what is ignored', async () => {
    const lab = await openLab();
    lab.work(`mkdir cache; echo warm >cache/x; echo dirty >>file; echo new >new; git switch --quiet --create b
      git commit --quiet --all --message b; git stash --quiet --include-untracked; git tag t; echo left >left`);
    writeFileSync(join(lab.checkout, 'file'), 'three\n');
    lab.operator('commit', '--quiet', '--all', '--message', 'three');
    const before = lab.snapshot();
    const outcome = await lab.writer.reset('HEAD', SIGNAL);
    expect(outcome).toEqual({ ok: true, baseline: lab.baseline() });
    expect(differences(before, lab.snapshot())).toEqual([]);
    expect(lab.baseline().commit).toBe(lab.operator('rev-parse', 'HEAD').trim());
    expect(readFileSync(join(lab.layout.work, 'file'), 'utf8')).toBe('three\n');
    expect(readdirSync(lab.layout.work).sort()).toEqual(['.git', '.gitignore', 'cache', 'file']);
    expect(lab.work('git for-each-ref --format="%(refname)"')).toBe(`refs/heads/${BRANCH}\n`);
    expect(await lab.writer.hasWork(SIGNAL)).toEqual({ ok: true, work: false });
    expect(await lab.writer.reset('HEAD', SIGNAL)).toEqual(outcome);
  });

  test('removing leaves nothing, and may be asked again', async () => {
    const lab = await openLab();
    lab.work('mkdir -p closed/inner; touch closed/inner/x; chmod 000 closed/inner');
    expect(await lab.writer.remove()).toEqual({ ok: true });
    expect(readdirSync(lab.directory)).toEqual([]);
    expect(await lab.writer.remove()).toEqual({ ok: true });
    expect(await lab.writer.status(SIGNAL)).toEqual({ ok: false });
  });
});

test('git on the host is never pointed at what a writer has seen', async () => {
  const lab = await openLab();
  const ofClone = (calls: readonly string[]) => calls.filter((call) => call.includes('/writers/'));
  // Only the clone that is still being made.
  const places = ofClone(lab.hostCalls()).map((call) => /\/writers\/shop-1\/([^/ ]+)/.exec(call)?.[1]);
  expect(new Set(places)).toEqual(new Set(['clone.new']));
  const before = lab.hostCalls().length;
  lab.work('echo a >>file; git commit --quiet --all --message a; echo b >>file');
  await collected(lab);
  await lab.writer.hasWork(SIGNAL);
  await lab.writer.reset('HEAD', SIGNAL);
  await lab.writer.remove();
  const later = ofClone(lab.hostCalls().slice(before));
  expect(later.filter((call) => !/\/writers\/shop-1\/quarantine\/import-/.test(call))).toEqual([]);
  expect(later.length).toBeGreaterThan(5);
});
