/**
 * Ways round the pins that were found by trying (docs/boundary.md): through
 * names inside, through Git's own pointers, and through links that wait for the
 * next start.
 */
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { WriterBox } from '../../../src/ports/writers/boundary.ts';
import { NO_PODMAN, useLab } from './lab.ts';

const lab = useLab();
let count = 0;

describe.skipIf(NO_PODMAN !== undefined)('walking around the pins', () => {
  let writer: WriterBox;
  const at = (...parts: string[]): string => join(writer.directory, ...parts);

  /** A clone as the host makes it: the writer commits in it, and Git works inside. */
  beforeEach(async () => {
    if (NO_PODMAN) return;
    count += 1;
    writer = await lab().writer(`walker-${count}`);
    writeFileSync(
      at('clone', 'ro', 'config'),
      '[core]\n\trepositoryformatversion = 0\n\tbare = false\n[user]\n\tname = w\n\temail = w@example.invalid\n',
    );
    const made = await lab().sh(
      writer,
      'git init -q --bare /tmp/r && cp -r /tmp/r/HEAD /tmp/r/objects /tmp/r/refs .git/ && echo a >a && git add a && git commit -qm one',
    );
    expect(made).toMatchObject({ kind: 'ended', code: 0 });
  });

  test('ordinary work inside goes on', async () => {
    const work =
      'echo b >b && git add b && git commit -qm two && git checkout -qb topic && git stash list && git gc -q && git fsck && git bundle create /tmp/x.bundle HEAD && git log --format=%s';
    const outcome = await lab().sh(writer, `(${work}) 2>&1`);
    expect(outcome).toMatchObject({ code: 0, stdout: expect.stringMatching(/two\none\n$/) });
  });

  test.each([
    ['renaming .git', 'mv .git .g0'],
    ['renaming it after copying', 'cp -r .git .g0; mv .git .g1'],
    ['removing .git', 'rm -rf .git'],
    ['replacing .git by a file', 'rm -rf .git; echo "gitdir: .g0" >.git'],
    ['exchanging two names', 'perl -e \'exit(syscall(316, -100, ".git", -100, ".g0", 2) == 0 ? 0 : 1)\''],
    ['writing commondir', 'echo ../.c >.git/commondir'],
    ['replacing commondir', 'echo ../.c >x; mv x .git/commondir'],
    ['a link for commondir', 'ln -sf ../.c .git/commondir'],
    ['writing config', 'git config core.fsmonitor ./evil'],
    ['a link for config', 'ln -sf /work/evil .git/config'],
    ['a hook', 'printf "#!/bin/sh\\n" >.git/hooks/post-index-change'],
    ['replacing hooks', 'mv .git/hooks .git/h0'],
  ])('%s: refused', async (_, script) => {
    await lab().sh(writer, script);
    expect(lstatSync(at('clone', 'work', '.git')).isDirectory()).toBe(true);
    expect(readdirSync(at('clone', 'work', '.git'))).toEqual([]);
    expect(readdirSync(at('clone', 'ro', 'hooks'))).toEqual([]);
    expect(readFileSync(at('clone', 'ro', 'commondir'), 'utf8')).toBe('.\n');
    expect(readFileSync(at('clone', 'ro', 'config'), 'utf8')).not.toContain('fsmonitor');
    expect(await lab().act({ do: 'check', directory: writer.directory })).toMatchObject({ kind: 'ready' });
    const inside = await lab().sh(
      writer,
      'cat .git/commondir; ls .git/hooks; git config core.fsmonitor; git log --format=%s',
    );
    // Its own history a writer may throw away.
    expect(inside).toMatchObject({ stdout: expect.stringMatching(/^\.\n(one\n)?$/) });
  });

  test('worktree configuration is read by nobody', async () => {
    const script =
      'printf "[core]\\n\\tfsmonitor = touch /tmp/fired\\n" >.git/config.worktree; git status >/dev/null; ls /tmp/fired';
    expect(await lab().sh(writer, script)).toMatchObject({ code: 2, stdout: '' });
  });

  test('on the host, Git finds no repository in the working tree', async () => {
    await lab().sh(
      writer,
      'git init -q sub && git -C sub config core.fsmonitor "touch /tmp/fired" && git add sub 2>/dev/null',
    );
    const child = lab().spawn('git', ['-C', at('clone', 'work'), 'status'], {
      stdio: 'pipe',
      env: { PATH: '/usr/bin:/bin', GIT_CEILING_DIRECTORIES: writer.directory },
    });
    let text = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(128);
    expect(text).toContain('not a git repository');
  });

  /** What a writer of the first layout could plant is planted by the host here: inside it is refused already. */
  const plants: [string, () => void][] = [
    ['a link in place of the mount point of the git directory', () => swap(at('clone', 'work', '.git'))],
    ['something in the mount point of the git directory', () => writeFileSync(at('clone', 'work', '.git', 'HEAD'), '')],
    ['a link in place of the hooks’ mount point', () => swap(at('clone', 'git', 'hooks'))],
    ['a file in place of the hooks’ mount point', () => file(at('clone', 'git', 'hooks'))],
    ['a link in place of the configuration’s mount point', () => swap(at('clone', 'git', 'config'))],
    ['a link in place of commondir’s mount point', () => swap(at('clone', 'git', 'commondir'))],
    ['a directory in place of commondir’s', () => swapDirectory(at('clone', 'git', 'commondir'))],
    ['a link in place of the working tree', () => swap(at('clone', 'work'))],
    ['a link in place of the git directory', () => swap(at('clone', 'git'))],
    ['a link in place of the events', () => swap(at('events'))],
    ['a link in place of the pinned hooks', () => swap(at('clone', 'ro', 'hooks'))],
    ['a link in place of all pins', () => swap(at('clone', 'ro'))],
    ['a link in place of the agent’s directory', () => swap(at('agent'))],
    ['another common directory', () => writeFileSync(at('clone', 'ro', 'commondir'), '../.c\n')],
    ['no configuration', () => rmSync(at('clone', 'ro', 'config'))],
  ];
  const swap = (path: string): void => {
    renameSync(path, `${path}-moved`);
    symlinkSync(lab().path('secrets'), path);
    lab().own(path);
  };
  const file = (path: string): void => {
    rmSync(path, { recursive: true });
    lab().write(path, '');
  };
  const swapDirectory = (path: string): void => {
    rmSync(path);
    lab().path(path.slice(lab().directory.length + 1));
  };

  test.each(plants)('%s: no box starts', async (_, plant) => {
    const secrets = lab().path('secrets');
    lab().write(join(secrets, 'id_secret'), 'hostkey');
    plant();
    const outcome = await lab().sh(
      writer,
      'cat .git/id_secret .git/hooks/id_secret id_secret; echo owned >.git/authorized_keys',
    );
    expect(outcome).toEqual({ kind: 'refused', code: 'layout_tampered' });
    expect(readdirSync(secrets)).toEqual(['id_secret']);
  });

  test('a link inside the git directory leads nowhere but into the box', async () => {
    const secrets = lab().path('secrets');
    lab().write(join(secrets, 'id_secret'), 'hostkey');
    await lab().run(writer, ['sh', '-c', 'ln -s "$1" .git/info; ln -s "$1" notes', 'sh', secrets]);
    const second = await lab().sh(writer, 'cat .git/info/id_secret notes/id_secret; echo owned >notes/authorized_keys');
    expect(second).toMatchObject({ kind: 'ended', stdout: '' });
    expect(readdirSync(secrets)).toEqual(['id_secret']);
  });

  test('other users cannot reach what the writer makes, setuid programs for example', async () => {
    expect(await lab().sh(writer, 'cp /usr/bin/id own-id && chmod 4755 own-id')).toMatchObject({ code: 0 });
    expect(statSync(writer.directory).mode & 0o077).toBe(0);
    chmodSync(writer.directory, 0o755);
    expect(await lab().sh(writer, 'true')).toEqual({ kind: 'refused', code: 'layout_not_private' });
  });

  test('two boxes of one writer at the same time hold the same pins', async () => {
    const first = lab().sh(
      writer,
      'for i in 1 2 3 4 5 6 7 8; do mv .git .g0; rm -rf .git/hooks; ln -s /etc .git/hooks; sleep 0.2; done; ls .git/hooks',
    );
    const second = lab().sh(writer, 'sleep 0.5; ls .git/hooks; echo x >.git/hooks/x');
    expect(await second).toMatchObject({ kind: 'ended', code: 2, stdout: '' });
    expect(await first).toMatchObject({ kind: 'ended', stdout: '' });
  });
});
