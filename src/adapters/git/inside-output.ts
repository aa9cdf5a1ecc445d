/** What git inside the boundary printed: read strictly, since the writer may have had a hand in it. */
import type { InsideBranch } from '../../ports/writers/git.ts';

export interface StatusLines {
  readonly branch: string | null;
  readonly commit: string | null;
  readonly changes: number;
  readonly nested: number;
  readonly stashes: number;
}

/** Records that one status may have; how many more there are makes no difference. */
const MAX_RECORDS = 100_000;

function text(bytes: Uint8Array): string {
  // One character a byte: names are compared and counted, never shown.
  return Buffer.from(bytes).toString('latin1');
}

/** `git status --porcelain=v2 -z --branch --show-stash`. Undefined: it says something else. */
export function parseStatus(bytes: Uint8Array): StatusLines | undefined {
  const all = text(bytes);
  if (!all.endsWith('\0')) return undefined;
  const records = all.slice(0, -1).split('\0');
  if (records.length > MAX_RECORDS) return undefined;
  let [branch, commit]: (string | null | undefined)[] = [undefined, undefined];
  let [changes, nested, stashes] = [0, 0, 0];
  for (let at = 0; at < records.length; at += 1) {
    const record = records[at] ?? '';
    const [, key, value = ''] = /^# (branch\.oid|branch\.head|stash) (.*)$/s.exec(record) ?? [];
    if (key === 'branch.oid') commit = value === '(initial)' ? null : value;
    else if (key === 'branch.head') branch = value === '(detached)' ? null : value;
    else if (key === 'stash') stashes = Number(value);
    else if (record.startsWith('# ')) continue;
    else {
      if (!/^([12u] \S{2} |\? |! )./s.test(record)) return undefined;
      changes += 1;
      // A renamed entry is followed by its old name.
      if (record.startsWith('2 ')) at += 1;
      if (record.startsWith('? ') && record.endsWith('/')) nested += 1;
      // A repository that the outer one knows as a link, with changes of its own.
      if (/^[12u] \S{2} S(C|.[MU]|..U)/.test(record)) nested += 1;
    }
  }
  const isSound =
    branch !== undefined && commit !== undefined && Number.isSafeInteger(stashes) && (commit === null || isId(commit));
  if (!isSound || branch === undefined || commit === undefined) return undefined;
  return { branch: commit === null ? null : branch, commit, changes, nested, stashes };
}

/** Object id, symbolic target and name, each ended by NUL, the line by a newline. */
export function parseRefs(bytes: Uint8Array): readonly InsideBranch[] | undefined {
  const lines = text(bytes).split('\0\n');
  if (lines.pop() !== '') return undefined;
  const refs: InsideBranch[] = [];
  for (const line of lines) {
    const [commit = '', target, name = '', ...rest] = line.split('\0');
    if (!isId(commit) || target === undefined || !name.startsWith('refs/heads/') || rest.length > 0) return undefined;
    refs.push({ name: name.slice('refs/heads/'.length), commit, isLink: target !== '' });
  }
  return refs;
}

/** Object ids, one a line. */
export function parseIds(bytes: Uint8Array): readonly string[] | undefined {
  const lines = text(bytes).split('\n');
  return lines.pop() === '' && lines.every(isId) ? lines : undefined;
}

/** How many working trees there are, the main one included. */
export function parseWorktrees(bytes: Uint8Array): number | undefined {
  const count = text(bytes)
    .split('\0')
    .filter((line) => line.startsWith('worktree ')).length;
  return count > 0 ? count : undefined;
}

/** Is there such a commit? */
export function parseAny(bytes: Uint8Array): boolean | undefined {
  const line = text(bytes);
  if (line === '') return false;
  return /^[0-9a-f]{40}\n$/.test(line) ? true : undefined;
}

export type WipAnswer = { readonly kind: 'clean' } | { readonly kind: 'whole' | 'partial'; readonly commit: string };

export function parseWip(bytes: Uint8Array): WipAnswer | undefined {
  const line = text(bytes);
  if (line === 'clean\n') return { kind: 'clean' };
  const [, kind, commit] = /^(whole|partial) ([0-9a-f]{40})\n$/.exec(line) ?? [];
  if (commit === undefined) return undefined;
  return { kind: kind === 'whole' ? 'whole' : 'partial', commit };
}

function isId(value: string): boolean {
  return /^[0-9a-f]{40}$/.test(value);
}
