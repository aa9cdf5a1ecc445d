/** One writer's git: the port's methods on the parts beside this. */

import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Baseline, CloneOutcome, CollectOutcome, RunInside, WriterGit } from '../../ports/writers/git.ts';
import { makeClone } from './clone.ts';
import { askInside, collectWork, isAtBaseline, readStatus } from './collect.ts';
import type { HostGit, HostRepository } from './host-git.ts';
import type { ImportCaps } from './import-bundle.ts';
import { checkoutCommand, otherWorkCommand, wipCommand } from './inside-commands.ts';
import { parseAny, parseWip } from './inside-output.ts';
import { readLanded } from './landing.ts';
import { isMountable, layoutAt, readBaseline } from './layout.ts';
import { WIP_SUFFIX } from './ref-names.ts';
import { removeTree } from './remove-tree.ts';
import { resetClone } from './reset.ts';

export interface WriterGitOptions {
  readonly git: HostGit;
  /** `<alias>-<n>`. */
  readonly writer: string;
  /** The operator's checkout, absolute. */
  readonly checkout: string;
  /** The writer's own directory, private to this user, absolute. The clone is `clone` in it. */
  readonly directory: string;
  readonly inside: RunInside;
  readonly caps?: ImportCaps;
}

/** The git side of one writer (docs/writers-git.md). */
export function createWriterGit(options: WriterGitOptions): WriterGit {
  const { git, writer, checkout, directory, inside, caps } = options;
  const root = join(directory, 'clone');
  const layout = layoutAt(root);
  const branch = `writer-${writer}`;

  /** What commands inside need; undefined when there is no clone that could be mounted. */
  const current = (): Baseline | undefined => (isMountable(layout) ? readBaseline(layout) : undefined);

  async function destination(signal: AbortSignal): Promise<HostRepository | undefined> {
    const real = await realpath(checkout).catch(() => undefined);
    return real === undefined ? undefined : git.find(real, signal);
  }

  async function clone(revision: string, signal: AbortSignal): Promise<CloneOutcome> {
    const made = await makeClone(git, { checkout, root, revision, branch }, signal);
    if (!made.ok) return made;
    const isOut = await askInside(inside, checkoutCommand(), () => true, signal);
    return isOut ? made : { ok: false, code: 'failed' };
  }

  async function collect(signal: AbortSignal): Promise<CollectOutcome> {
    const base = current();
    if (!base) return { ok: false, code: 'inside_failed' };
    const target = await destination(signal);
    if (!target) return { ok: false, code: 'checkout_unavailable' };
    const folder = join(directory, 'quarantine');
    const request = { inside, checkout: target, folder, writer, base, ...(caps && { caps }) };
    return collectWork(git, request, signal);
  }

  async function hasWork(signal: AbortSignal): ReturnType<WriterGit['hasWork']> {
    const base = current();
    const read = base ? await readStatus(inside, base, signal) : undefined;
    if (!base || !read?.ok) return { ok: false };
    const other = await askInside(inside, otherWorkCommand(base), parseAny, signal);
    if (other === undefined) return { ok: false };
    if (other) return { ok: true, work: true };
    if (isAtBaseline(read.status, base)) return { ok: true, work: false };
    const { changes, nested, stashes, worktrees, hasMoreBranches, branches, commit } = read.status;
    if (nested + stashes > 0 || worktrees > 1 || hasMoreBranches) return { ok: true, work: true };
    const target = await destination(signal);
    const landed = target && (await readLanded(git, target, writer, signal));
    if (!landed) return { ok: false };
    const isOut = (each: { readonly name: string; readonly commit: string }) => landed.get(each.name) === each.commit;
    if (!branches.every(isOut)) return { ok: true, work: true };
    const isKnown = commit === null || [base.commit, ...branches.map((each) => each.commit)].includes(commit);
    const isEven = changes === 0;
    if (isEven && isKnown) return { ok: true, work: false };
    // Asking takes as long as reading every file, and it has been collected under such a name or not at all.
    if (!isEven && ![...landed.keys()].some((name) => name.endsWith(WIP_SUFFIX))) return { ok: true, work: true };
    // The same work is the same commit: with that one in the checkout, all of it is.
    const wip = await askInside(inside, wipCommand(base, undefined), parseWip, signal);
    const isOld = wip?.kind === 'whole' && [...landed.values()].includes(wip.commit);
    return { ok: true, work: !(isOld || (wip?.kind === 'clean' && isEven)) };
  }

  return {
    clone,
    collect,
    hasWork,
    async status(signal) {
      const base = current();
      return base ? readStatus(inside, base, signal) : { ok: false };
    },
    async reset(revision, signal) {
      const base = current();
      if (!base) return { ok: false, code: 'failed' };
      return resetClone({ git, inside, checkout, layout, base, revision }, signal);
    },
    async remove() {
      const parts = [root, `${root}.new`, `${root}.old`, join(directory, 'quarantine')];
      let ok = true;
      for (const path of parts) ok = (await removeTree(path)) && ok;
      return { ok };
    },
  };
}
