/** Names under which a clone's work comes out, where the writer has chosen them to be in each other's way. */
import { expect, test } from 'vitest';
import { nameWork } from '../../../src/adapters/git/export-names.ts';
import type { WriterStatus } from '../../../src/ports/writers/git.ts';

const commitOf = (index: number) => String(index).padStart(40, '0');

/** The first branch is checked out. */
function wipOf(...names: readonly string[]): string {
  const branches = names.map((name, index) => ({ name, commit: commitOf(index), isLink: false }));
  const { name = null, commit = '' } = branches[0] ?? {};
  return nameWork({ branch: name, commit, branches, stashes: 0 } as unknown as WriterStatus, [], []).wip;
}

test.each([
  ['of a branch', ['a'], 'a-wip'],
  ['of one that may not come out', ['q-wip'], 'refused-1-wip'],
  ['of one whose substitute has a namesake below it', ['q-wip', 'refused-1-wip/x'], 'refused-1-2-wip'],
  ['of one whose substitutes both have', ['q-wip', 'refused-1-wip/x', 'refused-1-2-wip/x'], 'refused-1-3-wip'],
])('work in progress %s', (_what, names, wip) => {
  expect(wipOf(...names)).toBe(wip);
});
