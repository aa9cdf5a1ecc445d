/**
 * What a landing would displace, or leave behind: kept beside the newer work, unless
 * something else in the checkout holds it (docs/writers-git.md).
 */
import type { HostGit, HostRepository } from './host-git.ts';
import { collisions, firstOf, WIP_SUFFIX } from './ref-names.ts';

/** That one landing may add. */
const MAX_KEPT = 64;

/** One ref of an earlier collection, which is about to point elsewhere, or to go. */
export interface Earlier {
  readonly branch: string;
  readonly object: string;
  readonly isCommit: boolean;
}

export interface Kept {
  readonly ref: string;
  readonly object: string;
}

export type KeepOutcome =
  | { readonly ok: true; readonly kept: readonly Kept[] }
  /** `too_many`: more than `MAX_KEPT` would have to be added. */
  | { readonly ok: false; readonly code: 'failed' | 'too_many' };

export interface KeepRequest {
  readonly checkout: HostRepository;
  /** `<alias>-<n>`. */
  readonly writer: string;
  readonly earlier: readonly Earlier[];
  /** All that the writer's refs will point at; in the checkout already. */
  readonly newer: readonly string[];
}

const FAILED: KeepOutcome = { ok: false, code: 'failed' };

/** Finds what has to be kept, and a name for each. Changes nothing. Never rejects. */
export async function planKeeping(git: HostGit, request: KeepRequest, signal: AbortSignal): Promise<KeepOutcome> {
  const { checkout, writer, earlier } = request;
  if (earlier.length === 0) return { ok: true, kept: [] };
  const alone = await onlyHere(git, request, signal);
  const lost = alone && (await withoutRepeats(git, request, alone, signal));
  if (!lost) return FAILED;
  if (lost.length > MAX_KEPT) return { ok: false, code: 'too_many' };
  if (lost.length === 0) return { ok: true, kept: [] };
  // A writer's name ends in a number, so no other writer's refs are here.
  const space = `refs/remotes/writer-${writer}-kept/`;
  const { code, stdout } = await git.run(
    { repository: checkout, args: ['for-each-ref', '--format=%(refname)', space] },
    signal,
  );
  if (code !== 0) return FAILED;
  const lines = stdout.toString('latin1').split('\n').slice(0, -1);
  const names = lines.map((line) => line.slice(space.length));
  const kept: Kept[] = [];
  for (const { branch, object } of lost) {
    const name = nameFor(branch, object, names);
    names.push(name);
    kept.push({ ref: `${space}${name}`, object });
  }
  return { ok: true, kept };
}

/** Those that neither the newer work nor a branch, a tag or another remote's ref reaches. */
async function onlyHere(
  git: HostGit,
  { checkout, writer, earlier, newer }: KeepRequest,
  signal: AbortSignal,
): Promise<readonly Earlier[] | undefined> {
  const commits = earlier.filter(({ isCommit }) => isCommit).map(({ object }) => object);
  const links = await linksTo(git, checkout, writer, signal);
  if (!links) return undefined;
  const passing = [`writer-${writer}/*`, ...links].map((name) => `--exclude=${name}`);
  const staying = ['--not', '--branches', '--tags', ...passing, '--remotes'];
  const input = [...commits, ...newer.map((commit) => `^${commit}`), ''].join('\n');
  // `--stdin` comes first: some versions of git apply a `--not` before it to what is read there.
  const { code, stdout } = await git.run(
    { repository: checkout, args: ['rev-list', '--stdin', ...staying], input },
    signal,
  );
  if (code !== 0) return undefined;
  const unreached = new Set(stdout.toString('latin1').split('\n'));
  return earlier.filter(({ object, isCommit }) => !isCommit || unreached.has(object));
}

/** Remotes' refs that only say which of the writer's they mean, such as a remote's HEAD: they hold nothing. */
async function linksTo(
  git: HostGit,
  checkout: HostRepository,
  writer: string,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const args = ['for-each-ref', '--format=%(symref) %(refname)', 'refs/remotes/'];
  const { code, stdout } = await git.run({ repository: checkout, args }, signal);
  if (code !== 0) return undefined;
  const pairs = stdout
    .toString('latin1')
    .split('\n')
    .map((line) => line.split(' '));
  return pairs.flatMap(([target = '', name = '']) =>
    target.startsWith(`refs/remotes/writer-${writer}/`) ? [name.slice('refs/remotes/'.length)] : [],
  );
}

/** Work in progress that a newer commit has, too: the same files, on at least the same parents. */
async function withoutRepeats(
  git: HostGit,
  { checkout, newer }: KeepRequest,
  alone: readonly Earlier[],
  signal: AbortSignal,
): Promise<readonly Earlier[] | undefined> {
  const isWip = ({ branch, isCommit }: Earlier) => isCommit && branch.endsWith(WIP_SUFFIX);
  const asked = [...alone.filter(isWip).map(({ object }) => object), ...newer];
  if (!alone.some(isWip)) return alone;
  const args = ['rev-list', '--stdin', '--no-walk=unsorted', '--format=%H %T %P'];
  const { code, stdout } = await git.run({ repository: checkout, args, input: [...asked, ''].join('\n') }, signal);
  if (code !== 0) return undefined;
  const made = new Map<string, { readonly tree: string; readonly parents: readonly string[] }>();
  for (const line of stdout.toString('latin1').split('\n')) {
    const [commit = '', tree = '', ...parents] = line.split(' ').filter(Boolean);
    if (commit !== 'commit') made.set(commit, { tree, parents });
  }
  const fresh = newer.flatMap((commit) => made.get(commit) ?? []);
  return alone.filter((each) => {
    const old = isWip(each) ? made.get(each.object) : undefined;
    const holds = (other: (typeof fresh)[number]) =>
      other.tree === old?.tree && old.parents.every((parent) => other.parents.includes(parent));
    return !fresh.some(holds);
  });
}

/** The short name is what a reader sees; the others are for names that were made to be in its way, each of one of them. */
function nameFor(branch: string, object: string, present: readonly string[]): string {
  const isFree = (wish: string) => !present.includes(wish) && !collisions([wish], present).has(wish);
  const wish = [`${branch}/${object.slice(0, 12)}`, `${branch}/${object}`].find(isFree);
  return wish ?? firstOf((number) => `kept-${number}-${object}`, isFree);
}
