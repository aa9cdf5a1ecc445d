/** What was collected before and nothing else holds stays within reach, whatever comes out next. */
import { expect, test } from 'vitest';
import { BRANCH, collected, type Lab, openLab, SIGNAL, trespasses } from './lab.ts';

const KEPT = `refs/remotes/${BRANCH}-kept`;

/** Name → commit. */
function kept({ operator }: Lab): Record<string, string> {
  const lines = operator('for-each-ref', '--format=%(refname) %(objectname)', KEPT).split('\n').filter(Boolean);
  return Object.fromEntries(lines.map((line) => line.slice(KEPT.length + 1).split(' ')));
}

const short = (commit = '') => commit.slice(0, 12);

/** One session from its baseline to a finish, with nothing merged. */
async function session(lab: Lab, script: string) {
  lab.work(script);
  const { kept: count, incomplete } = await collected(lab);
  expect(incomplete).toEqual({});
  const landed = lab.landed();
  expect(await lab.writer.reset('HEAD', SIGNAL)).toMatchObject({ ok: true });
  return { count, landed };
}

const commit = (text: string) => `echo ${text} >${text}; git add ${text}; git commit --quiet --message ${text}`;

test('three sessions in a row, nothing merged: all of their work can be found', async () => {
  const lab = await openLab();
  const before = lab.snapshot();
  const one = await session(lab, `${commit('one')}; echo half >half`);
  const two = await session(lab, `${commit('two')}; git branch extra; echo other >half`);
  const three = await session(lab, commit('three'));
  expect([one.count, two.count, three.count]).toEqual([0, 2, 3]);
  expect(Object.keys(three.landed)).toEqual([BRANCH]);
  const wip = `${BRANCH}-wip`;
  expect(kept(lab)).toEqual({
    [`${BRANCH}/${short(one.landed[BRANCH])}`]: one.landed[BRANCH],
    [`${wip}/${short(one.landed[wip])}`]: one.landed[wip],
    [`${BRANCH}/${short(two.landed[BRANCH])}`]: two.landed[BRANCH],
    [`${wip}/${short(two.landed[wip])}`]: two.landed[wip],
    [`extra/${short(two.landed['extra'])}`]: two.landed['extra'],
  });
  expect(trespasses(before, lab.snapshot())).toEqual([]);
});

test('what was merged, continued or finished is not kept', async () => {
  const lab = await openLab();
  const one = await session(lab, `git switch --quiet --create a; ${commit('a')}`);
  lab.operator('update-ref', 'refs/tags/taken', one.landed['a'] ?? '');
  // Gone from the clone, and a tag has it; then the same branch goes on; then uncommitted work is committed.
  expect((await session(lab, commit('two'))).count).toBe(0);
  expect(Object.keys(lab.landed())).toEqual([BRANCH]);
  lab.operator('update-ref', 'refs/heads/merged', lab.landed()[BRANCH] ?? '');
  lab.work(`${commit('three')}; echo half >half`);
  await collected(lab);
  lab.work('git add --all; git commit --quiet --message half');
  expect(await collected(lab)).toMatchObject({ kept: 0, refs: [{ change: 'updated' }] });
  expect(Object.keys(lab.landed())).toEqual([BRANCH]);
  expect(kept(lab)).toEqual({});
});

test('only refs that stay count, and what they held comes back when they go', async () => {
  const lab = await openLab();
  const one = await session(lab, commit('one'));
  lab.operator('update-ref', 'refs/remotes/origin/x', one.landed[BRANCH] ?? '');
  expect((await session(lab, commit('two'))).count).toBe(0);
  const two = lab.landed()[BRANCH] ?? '';
  // Neither of these is a place where anybody looks for it.
  lab.operator('update-ref', 'refs/stash', two);
  lab.operator('checkout', '--quiet', '--detach', two);
  expect((await session(lab, `git switch --quiet --create b HEAD~1; ${commit('b')}`)).count).toBe(1);
  expect(Object.values(kept(lab))).toEqual([two]);
});

test('a collection that brings nothing out leaves everything where it is', async () => {
  const lab = await openLab();
  const one = await session(lab, commit('one'));
  expect(await collected(lab)).toMatchObject({ refs: [], kept: 0 });
  expect(lab.landed()).toEqual(one.landed);
});

test('a name that was made to be in the way is no obstacle', async () => {
  const lab = await openLab();
  const one = await session(lab, `git switch --quiet --create a; ${commit('one')}`);
  const name = `a/${short(one.landed['a'])}`;
  lab.operator('update-ref', `${KEPT}/${name}/x`, lab.operator('commit-tree', '-m', 'x', 'HEAD^{tree}').trim());
  await session(lab, `git switch --quiet --create a; ${commit('two')}`);
  expect(kept(lab)).toMatchObject({ [`a/${one.landed['a']}`]: one.landed['a'] });
});

test('however many names were made to be in the way, there is another one', async () => {
  const lab = await openLab();
  const one = await session(lab, `git switch --quiet --create a; ${commit('one')}`);
  const name = `a/${short(one.landed['a'])}`;
  // In the way of both names of the first, once they are kept.
  const made = `git switch --quiet --create ${name}/x; ${commit('in-the-way')}; git branch ${name}/y; git switch --quiet --detach; git branch --delete --force ${BRANCH}`;
  await session(lab, commit('two'));
  const three = await session(lab, made);
  const { count } = await session(lab, commit('four'));
  expect(count).toBe(Object.keys(three.landed).length);
  expect(Object.values(kept(lab))).toEqual(expect.arrayContaining(Object.values(three.landed)));
});

test('a remote’s HEAD that means a branch of the writer’s holds nothing', async () => {
  const lab = await openLab();
  const one = await session(lab, `git switch --quiet --create a; ${commit('one')}`);
  lab.operator('symbolic-ref', 'refs/remotes/origin/HEAD', `refs/remotes/${BRANCH}/a`);
  expect((await session(lab, commit('two'))).count).toBe(1);
  expect(Object.values(kept(lab))).toEqual([one.landed['a']]);
});

test('a ref of the operator’s with any name in UTF-8 is no obstacle', async () => {
  const lab = await openLab();
  const made = lab.operator('commit-tree', '-m', 'x', 'HEAD^{tree}').trim();
  lab.operator('update-ref', `refs/remotes/${BRANCH}/é`, made);
  expect((await session(lab, commit('one'))).count).toBe(1);
  expect(Object.values(kept(lab))).toEqual([made]);
});

test('refs of the operator’s own are replaced and never followed; what is no commit is kept', async () => {
  const lab = await openLab();
  const blob = lab.operator('rev-parse', 'HEAD:file').trim();
  lab.operator('update-ref', `refs/remotes/${BRANCH}/blob`, blob);
  lab.operator('symbolic-ref', `refs/remotes/${BRANCH}/link`, 'refs/heads/main');
  const main = lab.operator('rev-parse', 'main');
  expect((await session(lab, commit('one'))).count).toBe(1);
  expect(lab.operator('rev-parse', 'main')).toBe(main);
  expect([Object.keys(lab.landed()), kept(lab)]).toEqual([[BRANCH], { [`blob/${short(blob)}`]: blob }]);
});

test('more than may be kept at once: nothing moves, and the collection is incomplete', async () => {
  const lab = await openLab();
  for (let at = 0; at < 65; at += 1) {
    const made = lab.operator('commit-tree', '-m', String(at), 'HEAD^{tree}').trim();
    lab.operator('update-ref', `refs/remotes/${BRANCH}/b${at}`, made);
  }
  const landed = lab.landed();
  lab.work(commit('one'));
  expect(await collected(lab)).toMatchObject({ refs: [], incomplete: { too_much_earlier_work: 1 } });
  expect([lab.landed(), kept(lab)]).toEqual([landed, {}]);
  lab.operator('update-ref', '-d', `refs/remotes/${BRANCH}/b0`);
  expect(await collected(lab)).toMatchObject({ kept: 64, incomplete: {} });
  expect(Object.keys(kept(lab)).length).toBe(64);
});
