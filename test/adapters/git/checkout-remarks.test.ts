/** What of a checkout is said not to be in its clone; nothing that the checkout names is run to find out. */
import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { remarkOn } from '../../../src/adapters/git/checkout-remarks.ts';
import { type Lab, layOut, SIGNAL } from './lab.ts';

async function remarks({ git, checkout, operator }: Lab) {
  const repository = await git.find(checkout, SIGNAL);
  if (!repository) throw new Error('no repository');
  return remarkOn(git, { checkout, repository, commit: operator('rev-parse', 'HEAD').trim() }, SIGNAL);
}

test('nothing to say, a change, a new file, something staged', async () => {
  const lab = layOut();
  expect(await remarks(lab)).toEqual({ hasChanges: false, hasSubmodules: false });
  writeFileSync(join(lab.checkout, 'new'), 'new');
  expect(await remarks(lab)).toMatchObject({ hasChanges: true });
  lab.operator('add', 'new');
  expect(await remarks(lab)).toMatchObject({ hasChanges: true });
  rmSync(join(lab.checkout, 'new'));
  lab.operator('reset', '--quiet', '--hard');
  expect(await remarks(lab)).toMatchObject({ hasChanges: false });
});

test('submodules', async () => {
  const lab = layOut();
  writeFileSync(join(lab.checkout, '.gitmodules'), '');
  expect(await remarks(lab)).toMatchObject({ hasSubmodules: false });
  lab.operator('add', '.');
  lab.operator('commit', '--quiet', '-m', 'Modules');
  expect(await remarks(lab)).toEqual({ hasChanges: false, hasSubmodules: true });
});

test.each(['clean', 'process'])('a filter of the checkout is not run: %s', async (kind) => {
  const lab = layOut();
  writeFileSync(join(lab.checkout, '.gitattributes'), '* filter=some.odd-one\n');
  writeFileSync(join(lab.checkout, 'filtered'), 'text\n');
  lab.operator('add', '.');
  lab.operator('commit', '--quiet', '-m', 'Filtered');
  lab.operator('config', `filter.some.odd-one.${kind}`, lab.payload);
  lab.operator('config', 'filter.some.odd-one.required', 'true');
  // Git has to look into it.
  utimesSync(join(lab.checkout, 'filtered'), 1, 1);
  expect(await remarks(lab)).toMatchObject({ hasChanges: false });
  expect(lab.hasRun()).toBe(false);
});

test('a filter that cannot be named on a command line keeps git from looking', async () => {
  const lab = layOut();
  lab.operator('config', 'filter.a=b.clean', lab.payload);
  writeFileSync(join(lab.checkout, 'new'), 'new');
  expect(await remarks(lab)).toMatchObject({ hasChanges: false });
});
