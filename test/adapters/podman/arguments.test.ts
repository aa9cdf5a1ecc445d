/** The command line, read back the way Podman reads it: no path can become an option. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { containerName, globalArguments, type RunSpec, runArguments } from '../../../src/adapters/podman/arguments.ts';
import type { Instance } from '../../../src/adapters/podman/instance.ts';
import { layoutOf } from '../../../src/adapters/podman/layout.ts';
import { isUsablePath } from '../../../src/adapters/podman/paths.ts';
import type { BoundaryHost, EnforcedLimits } from '../../../src/ports/writers/boundary.ts';

const ID = '0123456789abcdef-12-345';
const none: EnforcedLimits = { memory: false, cpu: false, processes: false };

function hostWith(limits: EnforcedLimits): BoundaryHost {
  return {
    ...{ podman: '/usr/bin/podman', version: '5.4.2', runtime: 'crun', cgroupManager: 'systemd', limits },
    ...{ seccompProfile: '/p.json', networks: ['none'] },
  };
}

function instanceAt(directory: string): Instance {
  return {
    ...{ directory, store: `${directory}/store`, runRoot: '/tmp/r/run', skeleton: `${directory}/skeleton` },
    ...{ seccomp: `${directory}/seccomp.json`, runs: `${directory}/boxes`, environment: {} },
    runDirectory: (id) => `${directory}/boxes/${id}`,
  };
}

function specAt(directory: string, more: Partial<RunSpec> = {}): RunSpec {
  return {
    id: ID,
    writer: 'alpha',
    owner: { boot: '00000000-0000-0000-0000-000000000000', pid: 12, started: '345' },
    user: { uid: 1000, gid: 1000 },
    rootMounts: [{ source: '/usr', destination: '/usr' }],
    rootPath: '/skeleton',
    layout: layoutOf(directory),
    network: 'none',
    command: { argv: ['true'] },
    graceSeconds: 20,
    ...more,
  };
}

/** One CSV record as Go's encoding/csv reads it; undefined where that reports an error. */
function readCsv(record: string): string[] | undefined {
  const fields: string[] = [];
  let rest = record;
  for (;;) {
    const quoted = /^"((?:[^"]|"")*)"(?=,|$)/.exec(rest);
    const plain = quoted ? undefined : /^[^,"]*(?=,|$)/.exec(rest);
    const match = quoted ?? plain;
    if (!match) return undefined;
    fields.push(quoted ? (quoted[1] ?? '').replaceAll('""', '"') : match[0]);
    rest = rest.slice(match[0].length);
    if (rest === '') return fields;
    rest = rest.slice(1);
  }
}

interface ReadMount {
  source?: string;
  destination?: string;
  options: string[];
}

function readMount(argument: string): ReadMount {
  const fields = readCsv(argument.slice('--mount='.length));
  if (!fields) throw new Error('not a record');
  const mount: ReadMount = { options: [] };
  for (const field of fields) {
    const [key = '', value] = [
      field.split('=', 1)[0] ?? '',
      field.includes('=') ? field.slice(field.indexOf('=') + 1) : undefined,
    ];
    if (key === 'src') mount.source = value ?? '';
    else if (key === 'dst') mount.destination = value ?? '';
    else mount.options.push(field);
  }
  return mount;
}

const usablePath = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.constantFrom(',', '"', "'", ':', '=', ' ', ',ro=false', '--privileged', 'src=/'),
    ),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((parts) => `/${parts.map((part) => part.replaceAll('/', '_')).join('/')}`)
  .filter(isUsablePath);

const RIGHTS = ['type=bind', 'nosuid', 'nodev', 'bind-nonrecursive=true'];
const WRITABLE = new Set(['/work', '/work/.git', '/pi/events']);

describe('arguments of a box', () => {
  test('every path stays one path, and what may be written is always the same', () => {
    fc.assert(
      fc.property(
        usablePath,
        usablePath,
        fc.array(fc.string(), { minLength: 1 }),
        fc.string(),
        (directory, source, argv, value) => {
          const spec = specAt(directory, {
            command: { argv, env: { KEY: value }, mounts: [{ source, destination: source }] },
          });
          const args = runArguments(hostWith(none), instanceAt(directory), spec);
          const mounts = args.filter((arg) => arg.startsWith('--mount=')).map(readMount);
          const { work, git, hooks, config, commonDir, agent, server, events } = layoutOf(directory);
          expect(mounts.map((mount) => [mount.source, mount.destination])).toEqual([
            ['/usr', '/usr'],
            [work, '/work'],
            [git, '/work/.git'],
            [hooks, '/work/.git/hooks'],
            [config, '/work/.git/config'],
            [commonDir, '/work/.git/commondir'],
            [agent, '/pi/agent'],
            [server, '/pi/server'],
            [events, '/pi/events'],
            [source, source],
          ]);
          for (const { source: from, destination = '', options } of mounts) {
            const isWritable = WRITABLE.has(destination) && from !== source;
            expect(options).toEqual(isWritable ? RIGHTS : [...RIGHTS, 'ro=true']);
          }
          // The command is the tail, and nothing of it can come before the root.
          const root = args.indexOf('--rootfs');
          expect(args.slice(root + 1, root + 3)).toEqual(['/skeleton', '/bin/sh']);
          expect(args.slice(-argv.length)).toEqual(argv);
          const plain = runArguments(hostWith(none), instanceAt('/plain'), specAt('/plain'));
          const names = (list: readonly string[]) =>
            list.slice(0, list.indexOf('--rootfs')).map((arg) => arg.split('=', 1)[0]);
          expect(names(args).filter((name) => name !== '--env' && name !== '--mount')).toEqual(
            names(plain).filter((name) => name !== '--env' && name !== '--mount'),
          );
        },
      ),
    );
  });

  test.each(['relative', '/a/../b', '/a/', '/a//b', '/a\nb', '/a\rb', '/a\0b', '/a\u007fb', '/\ud800', ''])(
    '%j is no path',
    (path) => {
      expect(isUsablePath(path)).toBe(false);
    },
  );

  test('what confines the box is always there', () => {
    const args = runArguments(hostWith(none), instanceAt('/i'), specAt('/w'));
    for (const flag of [
      ...[
        '--cap-drop=all',
        '--security-opt=no-new-privileges',
        '--security-opt=seccomp=/i/seccomp.json',
        '--read-only',
      ],
      ...[
        '--read-only-tmpfs=false',
        '--network=none',
        '--userns=keep-id',
        '--http-proxy=false',
        '--no-hosts',
        '--log-driver=none',
      ],
      ...[
        '--user=1000:1000',
        '--rm',
        '--interactive',
        `--name=${containerName(ID)}`,
        '--ulimit=core=0:0',
        '--systemd=false',
      ],
      '--label=pi-writer.owner=00000000-0000-0000-0000-000000000000:12:345',
    ]) {
      expect(args).toContain(flag);
    }
    expect(
      args.filter((arg) =>
        /privileged|--device|--cap-add|--pid|--ipc|docker|\.sock|^-[^-]/.test(arg.split('=')[0] ?? ''),
      ),
    ).toEqual(['-c']);
    expect(args.slice(0, 5)).toEqual(globalArguments(hostWith(none), instanceAt('/i')));
  });

  test('a limit is asked for where it is enforced, and nowhere else', () => {
    const limits = { memoryMiB: 512, cpus: 1.5, processes: 100 };
    const asked = (host: BoundaryHost) =>
      runArguments(host, instanceAt('/i'), specAt('/w', { limits })).filter((arg) => /^--(memory|cpus|pids)/.test(arg));
    expect(asked(hostWith(none))).toEqual([]);
    expect(asked(hostWith({ ...none, memory: true }))).toEqual(['--memory=512m', '--memory-swap=512m']);
    expect(asked(hostWith({ ...none, cpu: true }))).toEqual(['--cpus=1.5']);
    expect(asked(hostWith({ ...none, processes: true }))).toEqual(['--pids-limit=100']);
  });
});
