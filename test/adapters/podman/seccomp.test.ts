/** The narrower system-call profile, as text; test/adapters/podman/canaries.test.ts tries the calls. */
import { describe, expect, test } from 'vitest';
import { narrowProfile } from '../../../src/adapters/podman/seccomp.ts';

interface Rule {
  readonly names: readonly string[];
  readonly action: string;
  readonly args?: readonly { index: number; value: number; op: string }[];
}

const SYSTEM = {
  defaultAction: 'SCMP_ACT_ERRNO',
  defaultErrnoRet: 38,
  archMap: [{ architecture: 'SCMP_ARCH_X86_64' }],
  syscalls: [
    { names: ['bdflush', 'io_pgetevents'], action: 'SCMP_ACT_ERRNO', errnoRet: 1 },
    {
      names: ['read', 'clone', 'clone3', 'unshare', 'mount', 'umount2', 'pivot_root', 'open_tree', 'keyctl'],
      action: 'SCMP_ACT_ALLOW',
    },
    { names: ['setns'], action: 'SCMP_ACT_ALLOW', includes: { caps: ['CAP_SYS_ADMIN'] } },
    { name: 'chroot', action: 'SCMP_ACT_ALLOW' },
    { name: 'write', action: 'SCMP_ACT_ALLOW', args: [] },
  ],
};

function narrowed(profile: object): { syscalls: Rule[] } & Record<string, unknown> {
  return JSON.parse(narrowProfile(JSON.stringify(profile)) ?? 'null');
}

describe('the system-call profile', () => {
  test('keeps what it does not have to refuse', () => {
    const profile = narrowed(SYSTEM);
    expect(profile).toMatchObject({ defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: 38, archMap: SYSTEM.archMap });
    const allowed = profile.syscalls.filter(({ action }) => action === 'SCMP_ACT_ALLOW').flatMap(({ names }) => names);
    expect(new Set(allowed)).toEqual(new Set(['clone', 'read', 'write']));
    expect(profile.syscalls).toContainEqual({
      names: ['bdflush', 'io_pgetevents'],
      action: 'SCMP_ACT_ERRNO',
      errnoRet: 1,
    });
  });

  test('clone only without a new namespace, clone3 never', () => {
    const { syscalls } = narrowed(SYSTEM);
    const clones = syscalls.filter(({ names }) => names.includes('clone'));
    const [flags] = clones.flatMap(({ args }) => args ?? []);
    // CLONE_NEWUSER, _NEWNS, _NEWPID, _NEWNET, _NEWIPC, _NEWUTS, _NEWCGROUP
    for (const flag of [0x10000000, 0x20000, 0x20000000, 0x40000000, 0x8000000, 0x4000000, 0x2000000]) {
      expect((flags?.value ?? 0) & flag).toBe(flag);
    }
    expect(clones.map(({ args }) => args?.[0])).toMatchObject([
      { index: 0, op: 'SCMP_CMP_MASKED_EQ', valueTwo: 0 },
      { index: 1, op: 'SCMP_CMP_MASKED_EQ', valueTwo: 0 },
    ]);
    expect(syscalls.filter(({ names }) => names.includes('clone3'))).toEqual([
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: 38 },
    ]);
  });

  test.each([
    ['no JSON', 'x'],
    ['null', 'null'],
    ['a profile that allows what it does not name', JSON.stringify({ ...SYSTEM, defaultAction: 'SCMP_ACT_ALLOW' })],
    ['one that only logs', JSON.stringify({ ...SYSTEM, defaultAction: 'SCMP_ACT_LOG' })],
    ['no calls', JSON.stringify({ ...SYSTEM, syscalls: undefined })],
    ['calls that are none', JSON.stringify({ ...SYSTEM, syscalls: [null] })],
  ])('%s is not taken', (_, text) => expect(narrowProfile(text)).toBeUndefined());
});
