/** What has passed lands in the operator's checkout: objects first, then all refs in one transaction. */
import type { CollectedRef } from '../../ports/writers/git.ts';
import type { HostGit, HostRepository } from './host-git.ts';
import type { JudgedRef } from './quarantine.ts';

const STRICT = '--strict=badFilemode=error,gitattributesSymlink=error';
const ABSENT = '0'.repeat(40);

/** What was collected before, by branch. */
export type Landed = ReadonlyMap<string, string>;

/** Where the work of a writer lies in the checkout; nothing else there is ever written. */
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
  const space = namespaceOf(writer);
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', space];
  const { code, stdout } = await git.run({ repository: checkout, args }, signal);
  if (code !== 0) return undefined;
  const lines = stdout.toString('latin1').split('\n').slice(0, -1);
  return new Map(lines.map((line) => [line.slice(41 + space.length), line.slice(0, 40)]));
}

export interface Landing {
  readonly quarantine: HostRepository;
  readonly checkout: HostRepository;
  readonly writer: string;
  readonly base: string;
  readonly refs: readonly JudgedRef[];
  readonly landed: Landed;
}

/** True: every ref is where it should be. False: no ref has moved. */
export async function land(git: HostGit, landing: Landing, signal: AbortSignal): Promise<boolean> {
  const { quarantine, checkout, landed } = landing;
  const moved = landing.refs.filter(({ branch, commit }) => landed.get(branch) !== commit);
  if (moved.length === 0) return true;
  // Only what the branches reach: the bundle may hold more than that.
  const input = [...moved.map(({ commit }) => commit), `^${landing.base}`, ''].join('\n');
  const pack = ['pack-objects', '--quiet', '--revs', '--stdout', '--thin', '--delta-base-offset'];
  const taken = await git.pipe(
    { repository: quarantine, args: pack, input },
    { repository: checkout, args: ['index-pack', '--stdin', '--fix-thin', STRICT] },
    signal,
  );
  if (!taken) return false;
  const space = namespaceOf(landing.writer);
  const updates = moved.flatMap(({ branch, commit }) => [
    // A ref there that points elsewhere is replaced, not followed.
    'option no-deref',
    `update ${space}${branch}`,
    commit,
    landed.get(branch) ?? ABSENT,
  ]);
  const args = ['update-ref', '--stdin', '-z', '--create-reflog', '-m', 'collected from the writer'];
  const { code } = await git.run({ repository: checkout, args, input: `${updates.join('\0')}\0` }, signal);
  return code === 0;
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
