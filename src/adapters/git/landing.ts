/** What has passed lands in the operator's checkout: objects first, then all refs in one transaction. */
import type { CollectedRef } from '../../ports/writers/git.ts';
import type { HostGit, HostRepository } from './host-git.ts';
import { type Earlier, type Kept, planKeeping } from './keeping.ts';
import type { JudgedRef } from './quarantine.ts';

const STRICT = '--strict=badFilemode=error,gitattributesSymlink=error';
const ABSENT = '0'.repeat(40);

/** What was collected before, by branch: the object's id. */
export type Landed = ReadonlyMap<string, string>;

/** Where the work of a writer lies in the checkout; beside it is only what is kept of earlier work. */
function namespaceOf(writer: string): string {
  return `refs/remotes/writer-${writer}/`;
}

/** Undefined: the checkout does not answer. */
export async function readLanded(
  git: HostGit,
  checkout: HostRepository,
  writer: string,
  signal: AbortSignal,
): Promise<Landed | undefined> {
  const earlier = await readEarlier(git, checkout, writer, signal);
  return earlier && new Map(earlier.map(({ branch, object }) => [branch, object]));
}

async function readEarlier(
  git: HostGit,
  checkout: HostRepository,
  writer: string,
  signal: AbortSignal,
): Promise<readonly Earlier[] | undefined> {
  const space = namespaceOf(writer);
  const args = ['for-each-ref', '--format=%(objectname) %(objecttype) %(refname)', space];
  const { code, stdout } = await git.run({ repository: checkout, args }, signal);
  if (code !== 0) return undefined;
  const lines = stdout.toString('latin1').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [object = '', type, name = ''] = line.split(' ');
    return { branch: name.slice(space.length), object, isCommit: type === 'commit' };
  });
}

export interface Landing {
  readonly quarantine: HostRepository;
  readonly checkout: HostRepository;
  readonly writer: string;
  readonly base: string;
  readonly refs: readonly JudgedRef[];
  readonly landed: Landed;
}

export type LandOutcome =
  /** Every ref is where it should be; so many refs of earlier work were added beside them. */
  | { readonly ok: true; readonly kept: number }
  /** No ref has moved. */
  | { readonly ok: false; readonly code: 'landing_failed' | 'too_much_earlier_work' };

const FAILED: LandOutcome = { ok: false, code: 'landing_failed' };

/** What the clone has no more goes with the others, so that nothing older looks like part of the newer work. */
export async function land(git: HostGit, landing: Landing, signal: AbortSignal): Promise<LandOutcome> {
  const { checkout, writer, refs, landed } = landing;
  const moved = refs.filter(({ branch, commit }) => landed.get(branch) !== commit);
  // Nothing has come out that anything could be mistaken for.
  if (refs.length === 0) return { ok: true, kept: 0 };
  if (moved.length > 0 && !(await takeObjects(git, landing, moved, signal))) return FAILED;
  const present = await readEarlier(git, checkout, writer, signal);
  // Somebody else is at work on them.
  if (present?.length !== landed.size || !present.every((each) => landed.get(each.branch) === each.object)) {
    return FAILED;
  }
  const values = new Map(refs.map(({ branch, commit }) => [branch, commit]));
  const earlier = present.filter(({ branch, object }) => values.get(branch) !== object);
  const keeping = await planKeeping(git, { checkout, writer, earlier, newer: [...values.values()] }, signal);
  if (!keeping.ok) return keeping.code === 'failed' ? FAILED : { ok: false, code: 'too_much_earlier_work' };
  const gone = earlier.filter(({ branch }) => !values.has(branch));
  const input = transaction(landing, moved, gone, keeping.kept);
  if (input === '') return { ok: true, kept: 0 };
  const args = ['update-ref', '--stdin', '-z', '--create-reflog', '-m', 'collected from the writer'];
  // As the names were read: a character for each byte.
  const { code } = await git.run({ repository: checkout, args, input: Buffer.from(input, 'latin1') }, signal);
  return code === 0 ? { ok: true, kept: keeping.kept.length } : FAILED;
}

/** Only what the branches reach: the bundle may hold more than that. */
function takeObjects(
  git: HostGit,
  { quarantine, checkout, base }: Landing,
  moved: readonly JudgedRef[],
  signal: AbortSignal,
): Promise<boolean> {
  const input = [...moved.map(({ commit }) => commit), `^${base}`, ''].join('\n');
  const pack = ['pack-objects', '--quiet', '--revs', '--stdout', '--thin', '--delta-base-offset'];
  return git.pipe(
    { repository: quarantine, args: pack, input },
    { repository: checkout, args: ['index-pack', '--stdin', '--fix-thin', STRICT] },
    signal,
  );
}

/** All of it happens, or nothing. */
function transaction(
  { writer, landed }: Landing,
  moved: readonly JudgedRef[],
  gone: readonly Earlier[],
  kept: readonly Kept[],
): string {
  const space = namespaceOf(writer);
  const parts = [
    ...kept.map(({ ref, object }) => [`create ${ref}`, object]),
    ...moved.map(({ branch, commit }) => [`update ${space}${branch}`, commit, landed.get(branch) ?? ABSENT]),
    ...gone.map(({ branch, object }) => [`delete ${space}${branch}`, object]),
  ];
  // A ref there that points elsewhere is replaced, not followed.
  return parts.map((part) => `${['option no-deref', ...part].join('\0')}\0`).join('');
}

export async function changeOf(
  git: HostGit,
  { quarantine, landed }: Landing,
  { branch, commit }: JudgedRef,
  signal: AbortSignal,
): Promise<CollectedRef['change']> {
  const before = landed.get(branch);
  if (before === undefined) return 'created';
  if (before === commit) return 'unchanged';
  const args = ['merge-base', '--is-ancestor', before, commit];
  const { code } = await git.run({ repository: quarantine, args }, signal);
  return code === 0 ? 'updated' : 'rewritten';
}
