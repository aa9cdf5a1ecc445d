/** The text in front of a bundle's pack, read without git: git prints raw names, follows links and takes any of them. */
import { judgeBranch, judgeName, WIP_SUFFIX } from './ref-names.ts';

const SIGNATURE = '# v2 git bundle';
const MAX_HEADER_BYTES = 64 * 1024;
export const MAX_REFS = 64;
const MAX_PREREQUISITES = 256;
const HEADS = 'refs/heads/';
/** Where collecting puts, inside, what comes out under a name of ours (docs/writers-git.md). */
export const EXPORTS = 'refs/pi-export/';
const SUBSTITUTE = /^(refused|stash)-[1-9][0-9]{0,4}$/;

export interface BundleRef {
  readonly commit: string;
  readonly branch: string;
}

export type HeaderOutcome =
  | {
      readonly ok: true;
      readonly prerequisites: readonly string[];
      readonly refs: readonly BundleRef[];
      /** How many names may not come out, by reason. */
      readonly refused: Readonly<Partial<Record<'name' | 'reserved', number>>>;
      /** Where the pack begins. */
      readonly packOffset: number;
    }
  | { readonly ok: false; readonly code: 'bundle_malformed' | 'too_many_refs' };

const MALFORMED: HeaderOutcome = { ok: false, code: 'bundle_malformed' };

export function readHeader(bundle: Buffer): HeaderOutcome {
  const head = bundle.subarray(0, MAX_HEADER_BYTES);
  const end = head.indexOf('\n\n', 0, 'latin1');
  // Bytes, not characters: what is no plain ASCII is refused with its name.
  const lines = head.toString('latin1', 0, Math.max(end, 0)).split('\n');
  const isCut = end < 0 && bundle.length > MAX_HEADER_BYTES && head.toString('latin1').startsWith(`${SIGNATURE}\n`);
  if (isCut) return { ok: false, code: 'too_many_refs' };
  if (end < 0 || lines[0] !== SIGNATURE) return MALFORMED;
  const prerequisites: string[] = [];
  const named: { readonly commit: string; readonly name: string }[] = [];
  for (const line of lines.slice(1)) {
    const [, prerequisite] = /^-([0-9a-f]{40})( .*)?$/s.exec(line) ?? [];
    const [, commit, name] = /^([0-9a-f]{40}) (.+)$/s.exec(line) ?? [];
    if (prerequisite !== undefined && named.length === 0) prerequisites.push(prerequisite);
    else if (commit !== undefined && name !== undefined) named.push({ commit, name });
    else return MALFORMED;
  }
  if (named.length > MAX_REFS || prerequisites.length > MAX_PREREQUISITES) return { ok: false, code: 'too_many_refs' };
  if (named.length === 0 || hasRepeats(named.map(({ name }) => name))) return MALFORMED;
  const sorted = sort(named);
  // Ours are chosen so that they are nobody else's.
  if (hasRepeats(sorted.refs.map(({ branch }) => branch))) return MALFORMED;
  return { ok: true, prerequisites, ...sorted, packOffset: end + 2 };
}

function hasRepeats(names: readonly string[]): boolean {
  return new Set(names).size < names.length;
}

function sort(named: readonly { readonly commit: string; readonly name: string }[]) {
  const refs: BundleRef[] = [];
  const refused: Partial<Record<'name' | 'reserved', number>> = {};
  for (const { commit, name } of named) {
    const branch = name.startsWith(HEADS) ? name.slice(HEADS.length) : name.slice(EXPORTS.length);
    const reason = name.startsWith(HEADS)
      ? judgeBranch(branch)
      : name.startsWith(EXPORTS) && (branch.endsWith(WIP_SUFFIX) || SUBSTITUTE.test(branch))
        ? judgeName(branch)
        : 'name';
    if (reason === undefined) refs.push({ commit, branch });
    else refused[reason] = (refused[reason] ?? 0) + 1;
  }
  return { refs, refused };
}
