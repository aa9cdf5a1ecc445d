/**
 * The box's system-call profile: Podman's own, without what makes a new
 * namespace or a mount. Podman's default lets a process without any capability
 * make a user namespace, and in there a mount point can be renamed, which would
 * undo the read-only mounts (docs/boundary.md).
 */

const DENIED = new Set([
  ...['unshare', 'setns', 'mount', 'umount', 'umount2', 'pivot_root', 'chroot', 'mount_setattr'],
  ...['open_tree', 'open_tree_attr', 'move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick'],
  ...['keyctl', 'add_key', 'request_key', 'bpf', 'ptrace', 'process_vm_readv', 'process_vm_writev'],
  ...['io_uring_setup', 'io_uring_enter', 'io_uring_register', 'userfaultfd', 'perf_event_open'],
]);

/** Replaced by rules of our own. */
const REPLACED = new Set(['clone', 'clone3']);

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
const ENOSYS = 38;
/** On these the flags are the second argument of clone. */
const SWAPPED_CLONE = ['s390', 's390x'];

interface Rule {
  readonly names?: readonly string[];
  readonly name?: string;
  readonly action: string;
  readonly [more: string]: unknown;
}

const cloneRule = (index: number, arches: object): Rule => ({
  names: ['clone'],
  action: 'SCMP_ACT_ALLOW',
  args: [{ index, value: NEW_NAMESPACES, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }],
  ...arches,
});

/** A C library that is told "no such call" falls back to clone, whose flags can be looked at. */
const OURS: readonly Rule[] = [
  { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
  cloneRule(0, { excludes: { arches: SWAPPED_CLONE } }),
  cloneRule(1, { includes: { arches: SWAPPED_CLONE } }),
];

function isRule(value: unknown): value is Rule {
  return typeof value === 'object' && value !== null && typeof (value as Rule).action === 'string';
}

function narrowed(rule: Rule): Rule[] {
  const names = (rule.names ?? (rule.name === undefined ? [] : [rule.name])).filter((name) => !REPLACED.has(name));
  const isRefusal = rule.action !== 'SCMP_ACT_ALLOW';
  const kept = isRefusal ? names : names.filter((name) => !DENIED.has(name));
  const { name: _, ...rest } = rule;
  return kept.length === 0 ? [] : [{ ...rest, names: kept }];
}

/** The text of the narrower profile; undefined when this is no profile that refuses what it does not name. */
export function narrowProfile(text: string): string | undefined {
  try {
    const profile: unknown = JSON.parse(text);
    if (typeof profile !== 'object' || profile === null) return undefined;
    const { defaultAction, syscalls } = profile as { defaultAction?: unknown; syscalls?: unknown };
    const refuses = typeof defaultAction === 'string' && /^SCMP_ACT_(ERRNO|KILL)/.test(defaultAction);
    if (!refuses || !Array.isArray(syscalls) || !syscalls.every(isRule)) return undefined;
    return JSON.stringify({ ...profile, syscalls: [...OURS, ...syscalls.flatMap(narrowed)] });
  } catch {
    return undefined;
  }
}
