/** What may not come out under its own name comes out under one of ours, through the same checks. */
import { expect, test } from 'vitest';
import { bundle, Forge } from './forge.ts';
import { BRANCH, collected, type Lab, layOut, openLab, SIGNAL, trespasses } from './lab.ts';

const subjects = ({ operator }: Lab): Record<string, string> => {
  const lines = operator('for-each-ref', '--format=%(refname:lstrip=3) %(subject)', `refs/remotes/${BRANCH}`);
  return Object.fromEntries(
    lines
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ')),
  );
};

/** A branch with one commit of its own, from the baseline. */
const branch = (name: string, text: string) =>
  `git update-ref 'refs/heads/${name}' "$(git commit-tree -p HEAD -m ${text} 'HEAD^{tree}')"`;

test.each<[string, string, object, Record<string, string>]>([
  [
    'names that may not come out',
    `${branch('a;b', 'odd')}; ${branch('x-wip', 'wip')}; ${branch('T', 'upper')}; ${branch('t', 'lower')}`,
    { refused_refs: 4 },
    { 'refused-1': 'upper', 'refused-2': 'odd', 'refused-3': 'lower', 'refused-4': 'wip' },
  ],
  [
    'beside branches that are called like that',
    `${branch('a;b', 'odd')}; ${branch('refused-1', 'own')}; ${branch('refused-2/x', 'inner')}; ${branch('REFUSED-3', 'big')}`,
    { refused_refs: 1 },
    { 'refused-1': 'own', 'refused-2/x': 'inner', 'REFUSED-3': 'big', 'refused-4': 'odd' },
  ],
  [
    'stashes, the newest first',
    'echo 1 >>file; git stash --quiet -m one; echo 2 >new; git stash --quiet --include-untracked -m two',
    { stash: 2 },
    { 'stash-1': 'On', 'stash-2': 'On' },
  ],
  [
    'uncommitted work on a branch that comes out under another name',
    `git switch --quiet --create 'b-wip'; git commit --quiet --allow-empty -m own; echo half >half`,
    { refused_refs: 1 },
    { 'refused-1': 'own', 'refused-1-wip': 'Work' },
  ],
  [
    'uncommitted work on a branch that has nothing else',
    `git switch --quiet --create 'b-wip'; echo half >half`,
    {},
    { 'unnamed-wip': 'Work' },
  ],
  [
    'a ref that points at what comes out anyway',
    `${branch('real', 'real')}; git symbolic-ref refs/heads/link refs/heads/real`,
    { refused_refs: 1 },
    { real: 'real' },
  ],
])('%s', async (_, script, incomplete, expected) => {
  const lab = await openLab();
  const before = lab.snapshot();
  lab.work(script);
  const first = await collected(lab);
  expect(first.incomplete).toEqual(incomplete);
  expect(subjects(lab)).toEqual(expected);
  expect(trespasses(before, lab.snapshot())).toEqual([]);
  // Again, the same.
  expect((await collected(lab)).refs.every(({ change }) => change === 'unchanged')).toBe(true);
  const work = Object.keys(incomplete).length > 0;
  expect(await lab.writer.hasWork(SIGNAL)).toEqual({ ok: true, work });
});

test('a stash is whole: what was staged, and what was untracked', async () => {
  const lab = await openLab();
  lab.work('echo staged >>file; git add file; echo later >>file; echo new >new; git stash --quiet --include-untracked');
  await collected(lab);
  const stash = `refs/remotes/${BRANCH}/stash-1`;
  expect(lab.operator('show', `${stash}:file`)).toBe('two\nstaged\nlater\n');
  expect(lab.operator('show', `${stash}^2:file`)).toBe('two\nstaged\n');
  expect(lab.operator('show', `${stash}^3:new`)).toBe('new\n');
});

test('more of them than there is room for: the newest come out, and it says so', async () => {
  const lab = await openLab();
  lab.work(`${branch('own', 'own')}
    for at in $(seq 70); do git stash store -m "$at" "$(git commit-tree -p HEAD -m "stash$at" 'HEAD^{tree}')"; done`);
  expect((await collected(lab)).incomplete).toEqual({ too_many_branches: 1, stash: 70 });
  const names = subjects(lab);
  expect([Object.keys(names).length, names['own'], names['stash-1'], names['stash-62']]).toEqual([
    63,
    'own',
    'stash70',
    'stash9',
  ]);
});

test('what is refused for what it holds keeps nothing else in', async () => {
  const lab = await openLab();
  // A link in place of `.gitmodules`, which git's strict checks refuse.
  lab.work(`link=$(printf elsewhere | git hash-object -w --stdin)
    tree=$(printf '120000 blob %s\\t.gitmodules\\n' "$link" | git mktree)
    git stash store -m x "$(git commit-tree -p HEAD -m x "$tree")"
    echo work >>file; git commit --quiet --all --message work`);
  expect((await collected(lab)).incomplete).toEqual({ stash: 1, missing_refs: 1 });
  expect(subjects(lab)).toEqual({ [BRANCH]: 'work' });
});

test('a bundle can name only what collecting would call so, and nothing twice', async () => {
  const lab = layOut();
  const forge = new Forge(lab);
  const refused = ['x', 'refused-0', 'refused-01', 'refused-x', 'refused-1/x', 'stash', 'Stash-1', 'other-1'];
  const exports = (names: readonly string[]) => names.map((name) => `refs/pi-export/${name}`);
  expect(await forge.import(forge.named(...exports([...refused, 'refused-1', 'stash-12'])))).toMatchObject({
    ok: true,
    refused: { name: refused.length },
  });
  expect(Object.keys(lab.landed())).toEqual(['refused-1', 'stash-12']);
  const malformed = { ok: false, code: 'bundle_malformed' };
  expect(await forge.import(forge.named('refs/heads/stash-1', 'refs/pi-export/stash-1'))).toEqual(malformed);
  // No way around the history that it has to share.
  const stranger = forge.commit(forge.tree(), null);
  const pack = forge.packOf(stranger, forge.tree());
  expect(await forge.import(bundle({ refs: [[stranger, 'refs/pi-export/refused-2']], pack }))).toMatchObject({
    ok: true,
    refs: [],
    refused: { unrelated: 1 },
  });
  // And what has brought nothing displaces nothing.
  expect(Object.keys(lab.landed())).toEqual(['refused-1', 'stash-12']);
});

test('uncommitted work that is out is no work any more, until it goes on', async () => {
  const lab = await openLab();
  const work = async () => {
    const found = await lab.writer.hasWork(SIGNAL);
    return found.ok && found.work;
  };
  lab.work('echo more >>file; git add file; echo later >>file; echo new >new');
  expect(await work()).toBe(true);
  await collected(lab);
  const refs = lab.work('git for-each-ref');
  expect(await work()).toBe(false);
  expect(lab.work('git for-each-ref')).toBe(refs);
  lab.work('echo other >new');
  expect(await work()).toBe(true);
  // Asking has brought nothing out.
  await lab.writer.hasWork(SIGNAL);
  expect(await work()).toBe(true);
  await collected(lab);
  lab.work('git switch --quiet --detach; echo loose >loose; git add loose; git commit --quiet --message loose');
  expect(await work()).toBe(true);
  await collected(lab);
  expect(await work()).toBe(false);
  lab.operator('update-ref', '-d', `refs/remotes/${BRANCH}/detached-wip`);
  expect(await work()).toBe(true);
});
