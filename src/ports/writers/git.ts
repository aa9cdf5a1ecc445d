/** The git side of a writer: its private clone, and how its work comes out again (docs/writers-git.md). */

/** One command inside the writer's boundary, with `/work` as its working directory. */
export interface InsideCommand {
  readonly argv: readonly [string, ...string[]];
  /** In addition to what the boundary sets by itself. */
  readonly env: Readonly<Record<string, string>>;
  /** What it reads on stdin; nothing otherwise. */
  readonly input?: Uint8Array;
  /** Of stdout; more ends the command. */
  readonly maxOutputBytes: number;
  readonly timeoutMs: number;
}

export type InsideResult =
  | { readonly kind: 'exited'; readonly code: number; readonly stdout: Uint8Array }
  | { readonly kind: 'output_too_large' }
  /** It could not be started, was interrupted or took too long. Nothing of it runs any more. */
  | { readonly kind: 'failed' };

/** Runs a command in a fresh boundary around one writer's clone and waits for all of it to end. Never rejects. */
export type RunInside = (command: InsideCommand, signal: AbortSignal) => Promise<InsideResult>;

/** What a clone was made from; kept where the writer cannot write. */
export interface Baseline {
  /** Object id, 40 lower-case hex digits. */
  readonly commit: string;
  /** The writer's one branch at the start. */
  readonly branch: string;
}

export type CloneOutcome =
  | { readonly ok: true; readonly baseline: Baseline }
  | {
      readonly ok: false;
      readonly code: /** Not the root of a working tree that this user owns, or git is missing. */
        | 'source_unavailable'
        /** Shallow, partial, not SHA-1, bare, or it would lie inside the writer's own directory or around it. */
        | 'source_unsupported'
        /** The revision names no commit. */
        | 'baseline_missing'
        | 'failed';
    };

/** Where a clone stands, as git inside the boundary tells it: good enough to refuse work, never to trust it. */
export interface WriterStatus {
  /** Null while HEAD is detached or its branch has no commit. */
  readonly branch: string | null;
  readonly commit: string | null;
  /** Changed, staged, unmerged and untracked entries. */
  readonly changes: number;
  /** Repositories inside the working tree, whose content no commit of the outer one can hold. */
  readonly nested: number;
  readonly stashes: number;
  readonly worktrees: number;
  /** Branches with commits that the baseline does not have, as many as are looked at. */
  readonly branches: readonly InsideBranch[];
  /** There are more of them. */
  readonly hasMoreBranches: boolean;
  /** All branches, at most one more than are looked at. */
  readonly allBranches: number;
}

export interface InsideBranch {
  readonly name: string;
  readonly commit: string;
  /** It only points at another ref. */
  readonly isLink: boolean;
}

export type StatusOutcome = { readonly ok: true; readonly status: WriterStatus } | { readonly ok: false };

/** What to look at before anything of a branch is used; counts of files. */
export interface ChangeFlags {
  readonly symlink: number;
  readonly gitlink: number;
  /** Became executable. */
  readonly executable: number;
  /** Files that common tools run or obey by themselves (docs/writers-git.md). */
  readonly toolFile: number;
  /** Names with control or formatting characters. */
  readonly oddName: number;
}

export interface CollectedRef {
  /** Below `refs/remotes/writer-<name>/`. */
  readonly branch: string;
  readonly commit: string;
  readonly change: 'created' | 'updated' | 'rewritten' | 'unchanged';
  /** Files that differ from where the branch left the baseline's history. */
  readonly files: number;
  readonly flags: ChangeFlags;
  /** Too many files to look at all of them. */
  readonly isTruncated: boolean;
}

export type RefusedReason =
  /** Not a name that every tool and file system takes for the same plain name. */
  | 'name'
  /** Ends in `-wip`, or is a name that git or a file system reads as something else. */
  | 'reserved'
  /** Differs from another one only in case. */
  | 'twin'
  /** Cannot exist beside another one (`a` and `a/b`). */
  | 'conflict'
  /** A ref that only points at another one. */
  | 'link'
  /** Not a commit, or shares no history with the baseline. */
  | 'unrelated';

export type IncompleteReason =
  /** Out under names of ours, unless the work itself was refused. */
  | 'refused_refs'
  | 'too_many_branches'
  /** Out under names of ours, as far as there is room. */
  | 'stash'
  /** Commits that only a tag or some other ref holds. */
  | 'other_refs'
  | 'linked_worktrees'
  | 'nested_repositories'
  /** Some file could not be read. */
  | 'partial_wip'
  /** A branch that was asked for did not arrive. */
  | 'missing_refs'
  /** So much of what was collected before would have to be kept that nothing has landed. */
  | 'too_much_earlier_work';

export interface Collection {
  readonly refs: readonly CollectedRef[];
  /** How often; empty: everything has come out as it is. */
  readonly incomplete: Readonly<Partial<Record<IncompleteReason, number>>>;
  /** Refs of earlier work that nothing else holds, kept beside the newer work by this collection. */
  readonly kept: number;
  readonly refused: Readonly<Partial<Record<RefusedReason, number>>>;
}

export type ImportRefusal =
  | 'bundle_malformed'
  | 'bundle_too_large'
  | 'too_many_refs'
  | 'objects_too_large'
  | 'objects_refused'
  | 'prerequisites_refused'
  /** The checkout's refs changed meanwhile, or cannot be written. */
  | 'landing_failed'
  | 'too_much_earlier_work'
  | 'checkout_unavailable';

export type CollectOutcome =
  | { readonly ok: true; readonly collection: Collection }
  | { readonly ok: false; readonly code: ImportRefusal | 'inside_failed' };

export type GitStepOutcome = { readonly ok: boolean };

/**
 * One writer's git, bound to its directory, its operator's checkout and its boundary.
 * No method rejects; an aborted one ends what it started before it resolves. The
 * caller sees to it that nothing else of the writer runs meanwhile.
 */
export interface WriterGit {
  /** Builds a new clone of the revision beside the old one and puts it in its place; may be repeated. */
  clone(revision: string, signal: AbortSignal): Promise<CloneOutcome>;
  status(signal: AbortSignal): Promise<StatusOutcome>;
  /** Is there anything in the clone that neither the baseline nor the operator's checkout has? Uncommitted work counts, too. */
  hasWork(signal: AbortSignal): Promise<{ readonly ok: true; readonly work: boolean } | { readonly ok: false }>;
  collect(signal: AbortSignal): Promise<CollectOutcome>;
  /** Throws everything in the clone away but ignored files, and starts at the revision; may be repeated. */
  reset(revision: string, signal: AbortSignal): Promise<CloneOutcome>;
  /** Deletes the clone; also when there is none. */
  remove(): Promise<GitStepOutcome>;
}
