/** An image of the operator's as the root of real boxes, and caches that last. */
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BoxRoot, ImageOutcome } from '../../../src/ports/writers/boundary.ts';
import { until } from '../../e2e/kit/until.ts';
import { PROGRAMS } from '../../kit/small-image.ts';
import { type Captured, NO_PODMAN, useLab } from './lab.ts';
import { OperatorsStore } from './operators-store.ts';

const lab = useLab();
const TIMEOUT_MS = 240_000;

describe.skipIf(NO_PODMAN !== undefined)('an image of the operator', () => {
  let store: OperatorsStore;
  let target: string;
  let id: string;

  beforeAll(() => {
    if (NO_PODMAN) return;
    store = new OperatorsStore(lab());
    target = lab().path('a home');
    const variables = ['PATH=/opt/chain/bin:/usr/bin', 'CHAIN=1 a=b', 'GPG_KEY=x', 'NODE_OPTIONS=--bad', 'HOME=/x'];
    const changes = variables.map((variable) => `ENV ${variable.replace(/=(.*)/, '="$1"')}`);
    id = store.import('whole', PROGRAMS, changes, (root) => symlinkSync('git', join(root, 'usr/bin/only-here')));
    store.import('gitless', PROGRAMS.slice(0, 1).concat(PROGRAMS.slice(2)), [], () => {});
    const odd = ['ENV PATH="/usr/odd::bin:/usr/bin"', 'ENV http_proxy=http://u:p@x', 'ENV GIT_DIR=/x', 'VOLUME /data'];
    store.import('odd', PROGRAMS, odd, (root) => {
      mkdirSync(join(root, 'usr/odd'));
      renameSync(join(root, 'usr/bin/cat'), join(root, 'usr/odd/cat'));
      symlinkSync('cat', join(root, 'usr/odd/odd-cat'));
      symlinkSync('/work/hacked', join(root, 'etc/group'));
      symlinkSync('/work/.git/hooks/hacked', join(root, 'etc/passwd'));
      symlinkSync('../run/systemd/resolve/stub-resolv.conf', join(root, 'etc/resolv.conf'));
      mkdirSync(join(root, 'opt'), { mode: 0o555 });
    });
    store.import('linked', PROGRAMS, [], (root) => symlinkSync(target, join(root, 'opt')));
  }, TIMEOUT_MS);
  afterAll(() => store?.close());

  const images = () => join(lab().state, '.images');
  const kept = () => (existsSync(images()) ? readdirSync(images()) : []);
  const provide = (reference: string) =>
    lab().act<ImageOutcome>({ do: 'image', reference, nodePath: lab().node }, store.env);
  async function rootOf(reference: string): Promise<Extract<BoxRoot, { kind: 'tree' }>> {
    const found = await provide(reference);
    if (found.kind !== 'ready' || found.root.kind !== 'tree') throw new Error(found.kind);
    return found.root;
  }
  const ended = (captured: Captured) => {
    if (captured.kind !== 'ended') throw new Error(captured.kind);
    return captured;
  };

  test(
    'is the root of a box: its files, its variables, and nothing of this machine but Node',
    async () => {
      const root = await rootOf('localhost/whole:1');
      expect(root).toEqual({
        kind: 'tree',
        path: join(images(), id, 'root'),
        image: 'localhost/whole:1',
        environment: expect.objectContaining({ PATH: '/opt/chain/bin:/usr/bin', CHAIN: '1 a=b' }),
      });
      expect(Object.keys(root.environment).filter((name) => !['PATH', 'CHAIN', 'container'].includes(name))).toEqual(
        [],
      );
      expect(store.containers()).toEqual([]);
      const writer = await lab().writer('imaged', { root });
      const there = ended(
        await lab().sh(
          writer,
          'only-here --version; echo "$PATH|$CHAIN|$HOME"; ls -d /usr/bin/perl /usr/share; touch /usr/x /etc/x /x',
        ),
      );
      expect(there.stdout).toMatch(
        /^git version .*\n\/opt\/node\/bin:\/opt\/chain\/bin:\/usr\/bin\|1 a=b\|\/home\/writer\n$/,
      );
      expect(there.stderr.match(/Read-only file system/g)).toHaveLength(3);
      expect(ended(await lab().sh(writer, 'touch /work/x /tmp/x "$HOME/x" && git -C /tmp init -q y')).code).toBe(0);
    },
    TIMEOUT_MS,
  );

  test('is unpacked once, whatever it is called', async () => {
    const { path } = await rootOf('localhost/whole:1');
    const before = statSync(path, { bigint: true }).ino;
    expect((await rootOf(id)).path).toBe(path);
    expect(statSync(path, { bigint: true }).ino).toBe(before);
    expect(kept()).toEqual([id]);
  });

  test.each(['localhost/nobody:1', 'docker.io/library/alpine:latest', 'f'.repeat(64)])(
    'is never pulled: %s',
    async (reference) => expect(await provide(reference)).toEqual({ kind: 'missing' }),
  );

  test.each(['gitless', 'linked'])(
    'that cannot carry a box is refused, and leaves nothing: %s',
    async (name) => {
      const before = kept();
      expect(await provide(`localhost/${name}:1`)).toEqual({ kind: 'unusable' });
      expect(kept()).toEqual(before);
      expect(store.containers()).toEqual([]);
      expect(lab().boxes()).toEqual([]);
      expect(readdirSync(target)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'is removed when no writer has it any more, and comes again',
    async () => {
      const { path } = await rootOf('localhost/whole:1');
      await lab().act({ do: 'forget images', used: [path] });
      expect(kept()).toEqual([id]);
      await lab().act({ do: 'forget images', used: [] });
      expect(kept()).toEqual([]);
      expect((await rootOf('localhost/whole:1')).path).toBe(path);
    },
    TIMEOUT_MS,
  );

  test(
    'is made whole again where somebody has moved a part of it',
    async () => {
      const { path } = await rootOf('localhost/whole:1');
      renameSync(path, `${path}.away`);
      expect((await rootOf('localhost/whole:1')).path).toBe(path);
      expect(existsSync(join(path, 'usr/bin/git'))).toBe(true);
    },
    TIMEOUT_MS,
  );

  test(
    'has nothing that leads Podman out of the tree, and no closed directory or unpacked volume stays',
    async () => {
      const root = await rootOf('localhost/odd:1');
      const etc = (name: string) => lstatSync(join(root.path, 'etc', name));
      for (const name of ['passwd', 'group', 'hosts', 'hostname', 'resolv.conf']) expect(etc(name).isFile()).toBe(true);
      expect(root.environment).toEqual({ PATH: '/usr/odd:/usr/bin' });
      const writer = await lab().writer('odd', { root });
      expect(ended(await lab().sh(writer, 'odd-cat /etc/passwd >/dev/null; ls -A /work')).stdout).toBe('.git\n');
      expect(readdirSync(join(writer.directory, 'clone', 'git', 'hooks'))).toEqual([]);
      expect(readdirSync(target)).toEqual([]);
      expect(store.podman('volume', 'ls', '--quiet')).toBe('');
    },
    TIMEOUT_MS,
  );

  test(
    'whose unpacking is killed is unpacked the next time, and nothing of the first stays',
    async () => {
      await lab().act({ do: 'forget images', used: [] });
      const action = { do: 'image', reference: 'localhost/whole:1', nodePath: lab().node } as const;
      const killed = lab().startAction(action, store.env);
      await until('unpacking has begun', () => kept().some((name) => name.startsWith('.new-')));
      killed.kill('SIGKILL');
      expect((await rootOf('localhost/whole:1')).path).toBe(join(images(), id, 'root'));
      expect(store.containers()).toEqual([]);
      expect(kept()).toEqual([id]);
    },
    TIMEOUT_MS,
  );
});

describe.skipIf(NO_PODMAN !== undefined)('a cache', () => {
  test('is writable, lasts from box to box, and is found by Go', async () => {
    const writer = await lab().writer('cached', { cache: 'go' });
    lab().path('state', 'cached', 'cache');
    const first = await lab().sh(writer, 'echo kept >/pi/cache/file; echo "$GOPATH $GOCACHE"');
    expect(first).toMatchObject({ code: 0, stdout: '/pi/cache/go /pi/cache/go-build\n' });
    expect(await lab().sh(writer, 'cat /pi/cache/file')).toMatchObject({ stdout: 'kept\n' });
    const { cache: _, ...without } = writer;
    expect(await lab().sh(without, 'echo "$GOPATH"; cat /pi/cache/file')).toMatchObject({ stdout: '\n' });
  });

  test('that is not the plain directory that was made keeps the box from starting', async () => {
    const writer = await lab().writer('swapped', { cache: 'go' });
    const refused = { kind: 'refused', code: 'layout_tampered' };
    expect(await lab().sh(writer, 'true')).toEqual(refused);
    symlinkSync(lab().user.home, join(writer.directory, 'cache'));
    expect(await lab().sh(writer, 'true')).toEqual(refused);
    rmSync(join(writer.directory, 'cache'));
  });
});
