/**
 * The box that a writer lives in, seen from those who put something into it
 * (docs/boundary.md). No function rejects; a code stands for what went wrong,
 * and nobody's own words come with it.
 */

export type NetworkKind = 'none' | 'pasta' | 'slirp4netns';
export type OciRuntime = 'crun' | 'runc';
export type CgroupManager = 'systemd' | 'cgroupfs';

/** Limits of the kernel that Podman would really apply here; on cgroups v1 it ignores all of them. */
export interface EnforcedLimits {
  readonly memory: boolean;
  readonly cpu: boolean;
  readonly processes: boolean;
}

/** How rootless Podman works on this machine. Plain data, found by trying. */
export interface BoundaryHost {
  /** Absolute. */
  readonly podman: string;
  /** `major.minor.patch`. */
  readonly version: string;
  readonly runtime: OciRuntime;
  readonly cgroupManager: CgroupManager;
  /** Podman's own system-call profile, from which the box's is made. Absolute. */
  readonly seccompProfile: string;
  /** At least `none`. */
  readonly networks: readonly NetworkKind[];
  readonly limits: EnforcedLimits;
}

export type UnusableCode =
  | 'platform_unsupported'
  /** Rootless Podman needs a user that is not root. */
  | 'root_refused'
  | 'podman_missing'
  | 'podman_too_old'
  /** Podman is there and cannot even describe itself for this user. */
  | 'podman_unusable'
  /** `newuidmap`, `newgidmap`: package `uidmap`. */
  | 'user_mapping_tools_missing'
  /** No range of at least 65,536 ids in /etc/subuid or /etc/subgid. */
  | 'subordinate_ids_missing'
  | 'seccomp_profile_missing'
  | 'seccomp_profile_unusable'
  /** The directory for the box's own state cannot be made or is not private. */
  | 'state_directory_unusable'
  /** Every combination of runtime and cgroup manager failed to run `true`. */
  | 'no_working_runtime';

export type ProbeOutcome =
  | { readonly kind: 'usable'; readonly host: BoundaryHost }
  | { readonly kind: 'unusable'; readonly code: UnusableCode };

/** What a box has as `/`: the host's own programs, or the files of an image that the operator chose. */
export type BoxRoot =
  | { readonly kind: 'host' }
  | {
      readonly kind: 'tree';
      /** Absolute; a directory of ours, with the places that are mounted on. */
      readonly path: string;
      /** As the operator has named it. */
      readonly image: string;
      /** What the image sets; no names of ours among them. */
      readonly environment: Readonly<Record<string, string>>;
    };

/** What a writer keeps beside its clone: downloads and builds of a tool chain, which only it can change. */
export type CacheKind = 'go';

export type ImageOutcome =
  | { readonly kind: 'ready'; readonly root: BoxRoot }
  /** The operator's own Podman does not have it; it is never pulled. */
  | { readonly kind: 'missing' }
  /** It cannot be unpacked, or this machine's Node, Git or a shell's tools do not run in it. */
  | { readonly kind: 'unusable' };

/** Limits that are asked for. One that the host does not enforce is left out of the box, and `probe` has said so. */
export interface BoxLimits {
  readonly memoryMiB?: number;
  readonly cpus?: number;
  readonly processes?: number;
}

export interface WriterBox {
  /** `[a-z][a-z0-9_-]{0,66}` */
  readonly name: string;
  /** The writer's state directory, absolute; its parent is the boundary's state directory. */
  readonly directory: string;
  readonly root: BoxRoot;
  readonly network: NetworkKind;
  readonly limits?: BoxLimits;
  readonly cache?: CacheKind;
}

/** Another file or directory that the box may read. */
export interface ReadOnlyMount {
  readonly source: string;
  /** Absolute, in the box. */
  readonly destination: string;
}

export interface BoxCommand {
  /** Program and arguments, run without a shell. */
  readonly argv: readonly string[];
  /** `KEY` → value, on top of HOME, PATH and LANG. Visible in the host's process list: no secrets. */
  readonly env?: Readonly<Record<string, string>>;
  readonly mounts?: readonly ReadOnlyMount[];
}

export interface CaptureCommand extends BoxCommand {
  /** All of its stdin; none by default. */
  readonly input?: Uint8Array;
  readonly timeoutMs: number;
  /** Of stdout and of stderr each; more ends the command. */
  readonly maxOutputBytes: number;
}

export type LayoutCode =
  /** Not absolute, or with a control character. */
  | 'path_unusable'
  | 'directory_missing'
  /** Something of the layout is not the plain file or directory that it has to be: a link, another kind, not empty. */
  | 'layout_tampered'
  /** Other users could reach the writer's files. */
  | 'layout_not_private'
  | 'layout_unreadable';

export type LayoutOutcome =
  | { readonly kind: 'ready'; readonly layout: WriterLayout }
  | { readonly kind: 'refused'; readonly code: LayoutCode };

/** Absolute host paths of a writer's state (docs/boundary.md). The first three, `events` too, the writer can change. */
export interface WriterLayout {
  readonly work: string;
  /** The mount point of `git` in `work`: an empty directory on the host. */
  readonly workGit: string;
  readonly git: string;
  readonly events: string;
  readonly hooks: string;
  readonly config: string;
  readonly commonDir: string;
  /** The writer's own copy of Pi's agent directory. */
  readonly agent: string;
  /** The configuration of the contained server. */
  readonly server: string;
}

export type CaptureOutcome =
  | { readonly kind: 'ended'; readonly code: number; readonly stdout: Uint8Array; readonly stderr: Uint8Array }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'output_too_large' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'refused'; readonly code: LayoutCode }
  /** Podman could not start the box, or the box could not start the command. */
  | { readonly kind: 'not_started' }
  /** It may still be there: every attempt to remove it has failed. */
  | { readonly kind: 'retained' };

export interface ReapOutcome {
  readonly removed: number;
  /** Boxes of ours whose owner is dead and that could not be removed. */
  readonly left: number;
}

export interface WriterBoundary {
  /** Makes the writer's directories and pinned files where they are missing, and changes none that is there. */
  create(writer: Pick<WriterBox, 'directory'>): LayoutOutcome;
  /** To be called before every start; `capture` does so itself. */
  check(writer: Pick<WriterBox, 'directory'>): LayoutOutcome;
  /** Runs one command in the writer's box, to its end. Nothing of it lives afterwards. */
  capture(writer: WriterBox, command: CaptureCommand, signal?: AbortSignal): Promise<CaptureOutcome>;
  /** Removes the boxes of this user's dead owners, and nobody else's. */
  reap(): Promise<ReapOutcome>;
}
