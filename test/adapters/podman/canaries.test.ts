/**
 * What a writer must not be able to change, tried from Node and from a shell in
 * a real box. What counts is on the host: the digests of everything around.
 */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { WriterBox } from '../../../src/ports/writers/boundary.ts';
import { NO_PODMAN, useLab } from './lab.ts';

const lab = useLab();

/** Names, kinds, modes and contents of everything below. */
function digest(root: string): string {
  const hash = createHash('sha256');
  const entries = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
  for (const entry of entries) {
    const path = join(root, entry);
    const stat = lstatSync(path);
    hash.update(`${entry}\0${stat.mode}\0${stat.uid}\0`);
    if (stat.isFile()) hash.update(readFileSync(path));
    if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
  }
  return hash.digest('hex');
}

describe.skipIf(NO_PODMAN !== undefined)('canaries', () => {
  let writer: WriterBox;
  let home: string;
  let source: string;
  /** Directories that only the host may change. */
  let guarded: string[];
  const digests = (): string[] => guarded.map(digest);

  beforeAll(async () => {
    if (NO_PODMAN) return;
    writer = await lab().writer('canary');
    home = lab().path('operator-home');
    source = lab().path('operator-home', 'source');
    for (const path of ['.ssh', '.config', 'source/.git/hooks']) mkdirSync(join(home, path), { recursive: true });
    lab().write(join(home, '.ssh/id_secret'), 'hostkey');
    lab().write(join(home, '.bashrc'), '# mine');
    lab().write(join(source, '.git/config'), '[core]\n');
    lab().ownAll(home);
    const at = (...parts: string[]): string => join(writer.directory, ...parts);
    mkdirSync(at('agent', 'npm', 'extension'), { recursive: true });
    lab().write(at('agent', 'auth.json'), '{"token":1}');
    lab().write(at('agent', 'npm/extension/index.js'), '// extension');
    lab().write(at('server', 'config.json'), '{}');
    lab().ownAll(at('agent'));
    // Links that are in the clone already, as a repository may bring them along.
    const link = (target: string, name: string): void => {
      symlinkSync(target, at('clone', 'work', name));
      lab().own(at('clone', 'work', name));
    };
    link(join(home, '.bashrc'), 'to-home');
    link(join(source, '.git/hooks'), 'to-hooks');
    link('/pi/agent/auth.json', 'to-agent');
    link('/opt/pi/package.json', 'to-product');
    link('/etc/passwd', 'to-passwd');
    link('/usr/bin', 'to-usr');
    // Podman itself makes what it mounts on, in the skeleton, for the first box that has such a mount.
    await lab().run(writer, ['true'], { mounts: mounts() });
    guarded = [
      home,
      join(lab().product, 'dist'),
      at('clone', 'ro'),
      at('agent'),
      at('server'),
      join(lab().instance(), 'skeleton'),
    ];
  });

  /** Path in the box → what the system may answer. ENOENT says only that it is not there; EROFS carries the weight. */
  const forbidden = (): [string, string][] => [
    [join(home, 'planted'), 'ENOENT'],
    [join(source, '.git/config'), 'ENOENT'],
    [join(source, '.git/hooks/pre-commit'), 'ENOENT'],
    [join(writer.directory, 'clone/ro/config'), 'ENOENT'],
    ['/work/../planted', 'EROFS'],
    [`/work/../../..${home}/planted`, 'ENOENT'],
    ['to-home', 'ENOENT'],
    ['to-hooks/pre-commit', 'ENOENT'],
    ['to-agent', 'EROFS'],
    ['to-product', 'EROFS'],
    ['to-passwd', 'EROFS|EACCES|ENOENT'],
    ['to-usr/planted', 'EROFS|EACCES'],
    ['/home/planted', 'EROFS'],
    [`/${'root'}/planted`, 'EROFS'],
    ['/run/planted', 'EROFS'],
    ['/var/planted', 'EROFS'],
    ['/etc/planted', 'EROFS'],
    ['/planted', 'EROFS'],
    ['/usr/planted', 'EROFS|EACCES'],
    ['/usr/bin/git', 'EROFS|EACCES'],
    ['/opt/pi/dist/main.js', 'EROFS'],
    ['/opt/pi/planted', 'EROFS'],
    ['/opt/node/bin/node', 'EROFS|ETXTBSY'],
    ['/pi/agent/auth.json', 'EROFS'],
    ['/pi/agent/planted', 'EROFS'],
    ['/pi/agent/npm/extension/index.js', 'EROFS'],
    ['/pi/server/config.json', 'EROFS'],
    ['/pi/planted', 'EROFS'],
    ['/work/.git/hooks/pre-commit', 'EROFS'],
    ['/work/.git/config', 'EROFS'],
    ['/work/.git/commondir', 'EROFS'],
    ['/proc/sys/kernel/core_pattern', 'EROFS|EACCES'],
    ['/proc/sysrq-trigger', 'EROFS|EACCES|ENOENT'],
    ['/sys/kernel/planted', 'EROFS|EACCES|EPERM'],
    [`/proc/1/root${home}/planted`, 'ENOENT'],
    ['/dev/planted', 'EROFS|EACCES'],
  ];
  const allowed = ['/work/change', '/work/.git/refs-like', '/pi/events/event', '/tmp/file', '/home/writer/file'];

  const mounts = () => [
    { source: lab().node, destination: '/opt/node/bin/node' },
    ...['dist', 'package.json'].map((part) => ({ source: join(lab().product, part), destination: `/opt/pi/${part}` })),
  ];

  const NODE_PROBE = `
    const { writeFileSync } = require('node:fs');
    const results = process.argv.slice(1).map((path) => {
      try { writeFileSync(path, 'planted', { flag: 'a' }); return [path, 'written']; } catch (error) { return [path, error.code]; }
    });
    process.stdout.write(JSON.stringify(results));`;

  test('from Node: every attempt fails, and nothing on the host has changed', async () => {
    const before = digests();
    const paths = forbidden().map(([path]) => path);
    const argv = ['node', '-e', NODE_PROBE, '--', ...paths, ...allowed];
    const outcome = await lab().run(writer, argv, { mounts: mounts() });
    if (outcome.kind !== 'ended') throw new Error(outcome.kind);
    const results = new Map(JSON.parse(outcome.stdout) as [string, string][]);
    const answers = forbidden().map(([path, answer]) => [path, results.get(path) ?? '', answer] as const);
    expect(answers.filter(([, got, answer]) => !new RegExp(`^(${answer})$`).test(got))).toEqual([]);
    for (const path of allowed) expect(results.get(path), path).toBe('written');
    expect(digests()).toEqual(before);
    expect(readFileSync(join(writer.directory, 'clone/work/change'), 'utf8')).toContain('planted');
  });

  test('from a shell: the same', async () => {
    const before = digests();
    const script =
      'for path; do if (echo planted >>"$path") 2>/dev/null; then echo "written $path"; else echo "refused $path"; fi; done';
    const paths = forbidden().map(([path]) => path);
    const outcome = await lab().run(writer, ['sh', '-c', script, 'sh', ...paths, ...allowed], { mounts: mounts() });
    if (outcome.kind !== 'ended') throw new Error(outcome.kind);
    const expected = [...paths.map((path) => `refused ${path}`), ...allowed.map((path) => `written ${path}`)];
    expect(outcome.stdout.trim().split('\n')).toEqual(expected);
    expect(digests()).toEqual(before);
  });

  test('the same attempts do land where nothing is mounted read-only: the probe can see a hole', async () => {
    const open = lab().path('open');
    const argv = ['-e', NODE_PROBE, '--', join(open, 'planted'), join(home, 'planted-by-control')];
    const child = lab().spawn(lab().node, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    const before = digests();
    await new Promise((resolve) => child.once('close', resolve));
    expect((JSON.parse(text) as [string, string][]).map(([, result]) => result)).toEqual(['written', 'written']);
    expect(digests()).not.toEqual(before);
  });

  test('links, names and rights across the mounts', async () => {
    const before = digests();
    const attempts = [
      'ln /pi/agent/auth.json /work/hard',
      'mv /pi/agent/auth.json /work/moved',
      'ln /work/.git/config /work/hard-config',
      'mknod /work/device b 8 0',
      'chown 0 /work/change',
      'chmod 777 /pi/agent/auth.json',
      'chmod 777 /work/.git/config',
      'touch /work/.git/hooks',
      'rm -rf /work/.git/hooks',
      'rm -f /work/.git/config',
      'rm -f /work/.git/commondir',
      'mv /work/.git /work/.git0',
      'mv /work/.git/hooks /work/.git/hooks0',
      'mv /work/.git/config /work/.git/config0',
      'mv /work/.git/commondir /work/.git/commondir0',
      'git -C /work config core.fsmonitor /work/evil',
      'mount -t tmpfs none /work/.git/hooks',
      'umount /work/.git/hooks',
      'unshare -Ur true',
      'unshare -m true',
      'chroot /work true',
      'setpriv --reuid 0 true',
      'su -c true',
    ];
    const script =
      'for attempt; do if sh -c "$attempt" >/dev/null 2>&1 </dev/null; then echo "succeeded: $attempt"; fi; done; git init -q /tmp/r && cp -r /tmp/r/.git/HEAD /tmp/r/.git/objects /tmp/r/.git/refs /work/.git/; git -C /work rev-parse --git-dir';
    const outcome = await lab().run(writer, ['sh', '-c', script, 'sh', ...attempts]);
    expect(outcome).toMatchObject({ kind: 'ended', stdout: '.git\n' });
    expect(digests()).toEqual(before);
  });

  test('no credential and no configuration of the operator can be seen', async () => {
    const script = `ls -a ~ /root /home "$1" 2>/dev/null; env; git config --list --show-origin; git config credential.helper; ssh-add -l; git push 2>&1; ls /run /var`;
    const outcome = await lab().run(
      writer,
      ['sh', '-c', script, 'sh', home],
      {},
      { HOME: home, SSH_AUTH_SOCK: join(home, 'agent') },
    );
    expect(outcome).toMatchObject({
      kind: 'ended',
      stdout: expect.not.stringMatching(/hostkey|id_secret|\.ssh|SSH_AUTH|helper=/),
    });
  });

  test('without a network there is none, not even the host’s', async () => {
    const script = `const net = require('node:net');
      const tryOne = (host) => new Promise((resolve) => { const s = net.connect({ host, port: 9 }); s.on('error', (e) => resolve(e.code)); s.on('connect', () => resolve('REACHED')); });
      Promise.all(['127.0.0.1', '10.0.2.2', '192.0.2.1', '198.51.100.7'].map(tryOne)).then((r) => console.log(r.join()));`;
    const outcome = await lab().run(writer, ['node', '-e', script], { mounts: mounts() });
    expect(outcome).toMatchObject({ kind: 'ended', stdout: 'ECONNREFUSED,ENETUNREACH,ENETUNREACH,ENETUNREACH\n' });
  });

  test('no new namespace by any call', async () => {
    // Numbers of x86-64: clone(NEWUSER), clone(NEWNS), unshare, clone3, mount, setns, pivot_root, open_tree, keyctl, ptrace.
    const script = `my @calls = ([56, 0x10000011, 0], [56, 0x20011, 0], [272, 0x10000000], [435, 0, 0], [165, 0, 0, 0, 0, 0], [308, 0, 0], [155, 0, 0], [428, -100, 0, 0], [250, 0, 0], [101, 0, 0, 0, 0]);
      for (@calls) { my $r = syscall(@$_[0], map { int } @$_[1..$#$_]); exit 3 if $r == 0 && $$_[0] == 56; print "$$_[0] $r\\n" if $r >= 0 }
      my $pid = fork; exit 0 unless $pid; waitpid $pid, 0; print "fork works\\n"`;
    const outcome = await lab().run(writer, ['perl', '-e', script]);
    expect(outcome).toMatchObject({
      kind: 'ended',
      code: 0,
      stdout: process.arch === 'x64' ? 'fork works\n' : expect.any(String),
    });
  });
});
