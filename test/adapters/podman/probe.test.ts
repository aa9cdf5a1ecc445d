/** What makes a machine unusable, each with a Podman that says so; and the real one, where there is one. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseInfo } from '../../../src/adapters/podman/info.ts';
import { probe } from '../../../src/adapters/podman/probe.ts';
import type { ProbeOutcome } from '../../../src/ports/writers/boundary.ts';
import { NO_PODMAN, useLab } from './lab.ts';

const info = (more: object = {}, version = '4.9.3'): object => ({
  host: {
    ...{ cgroupVersion: 'v2', cgroupControllers: ['cpu', 'memory', 'pids'], security: { rootless: true } },
    idMappings: { uidmap: [{ size: 1 }, { size: 65536 }], gidmap: [{ size: 1 }, { size: 65536 }] },
    ...more,
  },
  version: { Version: version },
});

describe('an unusable machine is named', () => {
  let root: string;
  const tool = (name: string, script = 'exit 0'): void => {
    writeFileSync(join(root, 'bin', name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(root, 'bin', name), 0o755);
  };
  const podman = (answer: object | string): void => {
    writeFileSync(join(root, 'answer'), typeof answer === 'string' ? answer : JSON.stringify(answer));
    // Every box that it starts fails, without a word.
    tool('podman', `case "$*" in *info*) cat '${join(root, 'answer')}';; *exists*) exit 1;; *) exit 125;; esac`);
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'probe-'));
    mkdirSync(join(root, 'bin'));
    writeFileSync(join(root, 'seccomp.json'), '{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[]}');
    for (const name of ['newuidmap', 'newgidmap', 'runc']) tool(name);
    podman(info());
  });
  afterEach(() => {
    // What has a short path elsewhere, because Podman wants it so.
    const states = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('/runtime'));
    for (const link of states) rmSync(readlinkSync(join(root, link)), { recursive: true, force: true });
    rmSync(root, { recursive: true, force: true });
  });

  const run = (more: object = {}): Promise<ProbeOutcome> =>
    probe({
      ...{ stateDirectory: join(root, 'state'), path: join(root, 'bin'), systemPath: '', platform: 'linux', uid: 1000 },
      seccompProfiles: [join(root, 'missing.json'), join(root, 'seccomp.json')],
      ...more,
    });

  const cases: [string, string, () => object | undefined][] = [
    ['another platform', 'platform_unsupported', () => ({ platform: 'darwin' })],
    ['root', 'root_refused', () => ({ uid: 0 })],
    ['no Podman', 'podman_missing', () => void rmSync(join(root, 'bin/podman'))],
    ['no newuidmap', 'user_mapping_tools_missing', () => void rmSync(join(root, 'bin/newuidmap'))],
    ['no newgidmap', 'user_mapping_tools_missing', () => void rmSync(join(root, 'bin/newgidmap'))],
    ['no profile', 'seccomp_profile_missing', () => ({ seccompProfiles: [join(root, 'missing.json')] })],
    ['an odd profile', 'seccomp_profile_unusable', () => void writeFileSync(join(root, 'seccomp.json'), '{}')],
    [
      'a state directory with a control character',
      'state_directory_unusable',
      () => ({ stateDirectory: `${root}/a\nb` }),
    ],
    ['a file in its place', 'state_directory_unusable', () => void writeFileSync(join(root, 'state'), '')],
    ['an old Podman', 'podman_too_old', () => void podman(info({}, '4.2.9'))],
    ['a Podman of root', 'root_refused', () => void podman(info({ security: { rootless: false } }))],
    [
      'no subordinate ids',
      'subordinate_ids_missing',
      () => void podman(info({ idMappings: { uidmap: [{ size: 1 }], gidmap: [{ size: 1 }] } })),
    ],
    [
      'too few subordinate groups',
      'subordinate_ids_missing',
      () => void podman(info({ idMappings: { uidmap: [{ size: 65537 }], gidmap: [{ size: 1000 }] } })),
    ],
    ['no runtime', 'no_working_runtime', () => void rmSync(join(root, 'bin/runc'))],
    ['no box that starts', 'no_working_runtime', () => undefined],
  ];
  test.each(cases)('%s: %s', async (_, code, arrange) => {
    const more = arrange();
    expect(await run(more ?? {})).toEqual({ kind: 'unusable', code });
  });

  test('a Podman that fails, or talks nonsense, has no say in the code', async () => {
    podman('Error: secret words');
    expect(await run()).toMatchObject({
      kind: 'unusable',
      code: expect.stringMatching(/^(podman_unusable|subordinate_ids_missing)$/),
    });
  });

  test('what a distribution adds to a version is left out', () => {
    expect(parseInfo(JSON.stringify(info({}, '5.4.2+ds1-2')))?.version).toBe('5.4.2');
    expect(parseInfo(JSON.stringify(info({}, 'dev')))).toBeUndefined();
  });
});

describe.skipIf(NO_PODMAN !== undefined)('the machine itself', () => {
  const lab = useLab();

  test('is usable, and says what it enforces', () => {
    const host = lab().host;
    expect(host?.networks).toContain('none');
    expect(host?.version).toMatch(/^\d+\.\d+\.\d+$/);
    console.info(`real Podman: ${JSON.stringify(host)}`);
  });

  test('limits that are promised are kept, and those that are not are not asked for', async () => {
    const limits = { memoryMiB: 64, cpus: 1, processes: 50 };
    const writer = await lab().writer('limited', { limits });
    const read = await lab().sh(writer, 'cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/pids.max 2>/dev/null; true');
    const { memory, processes } = lab().host?.limits ?? {};
    const promised = [...(memory ? [String(64 * 1024 * 1024)] : []), ...(processes ? ['50'] : [])];
    expect(read.kind === 'ended' && read.stdout.split('\n')).toEqual(expect.arrayContaining(promised));
    expect(read.kind === 'ended' && read.stderr).toBe('');
  });

  test('every network that it found lets out, and nothing but that', async () => {
    for (const network of lab().host?.networks ?? []) {
      const writer = await lab().writer(`net-${network}`, { network });
      const seen = await lab().sh(writer, 'ls /sys/class/net; test -s /etc/resolv.conf && echo names');
      const isOut = network !== 'none';
      expect(
        seen.kind === 'ended' &&
          seen.stdout
            .trim()
            .split('\n')
            .filter((name) => name !== 'names').length,
      ).toBe(isOut ? 2 : 1);
    }
  });
});
