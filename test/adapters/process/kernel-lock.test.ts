/** The lock on a real file system, between real processes, however they die. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isTrustedType } from '../../../src/adapters/process/file-system-type.ts';
import { createKernelLock } from '../../../src/adapters/process/kernel-lock.ts';
import type { HeldLock } from '../../../src/ports/setup/command.ts';
import { eventually, REPOSITORY } from '../pi/lab.ts';
import { mentioning, sleepToken, withCommand } from './processes.ts';

const CACHE = join(REPOSITORY, '.cache/test');
const FIXTURES = join(import.meta.dirname, 'fixtures');
const GUARDIAN = join(REPOSITORY, 'src/setup/guardian.ts');
const HASTY = join(FIXTURES, 'hasty-guardian.ts');
const ROOT = process.geteuid?.() === 0;

describe.skipIf(process.platform !== 'linux')('kernel lock', () => {
  let folder: string;
  let directory: string;
  let file: string;
  const { signal } = new AbortController();
  const children: ChildProcess[] = [];

  beforeEach(() => {
    mkdirSync(CACHE, { recursive: true });
    folder = mkdtempSync(join(CACHE, 'lock-'));
    directory = join(folder, '.local/state/product');
    file = join(directory, 'ownership.json.flock');
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  const acquire = (waitSeconds = 1) => createKernelLock({ directory, waitSeconds }).acquire(signal);
  const held = async (): Promise<HeldLock> => {
    const outcome = await acquire();
    if (outcome.kind !== 'locked') throw new Error(outcome.kind);
    return outcome.lock;
  };
  const waiters = (seconds: number) => withCommand('/usr/bin/flock', `-x -w ${seconds} `);

  it('makes a directory and a file for its owner alone, and neither renames nor deletes it', async () => {
    const lock = await held();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { ino } = statSync(file);
    expect(lock.intact()).toBe(true);
    lock.release();
    expect(lock.intact()).toBe(false);
    const other = openSync(file, 'r');
    expect(other).toBe(lock.fd);
    lock.release();
    expect(lock.intact()).toBe(false);
    closeSync(other);
    (await held()).release();
    expect(statSync(file).ino).toBe(ino);
    expect(readdirSync(directory)).toEqual(['ownership.json.flock']);
  });

  it('takes the lock at once when nobody has it, and otherwise leaves nothing open', async () => {
    const now = (tools?: string[]) => createKernelLock({ directory, ...(tools && { tools }) }).acquireNow();
    const open = () => readdirSync('/proc/self/fd').length;
    const lock = now();
    expect(lock?.intact()).toBe(true);
    const before = open();
    expect(now()).toBeUndefined();
    expect(await acquire(0)).toEqual({ kind: 'busy' });
    expect(open()).toBe(before);
    lock?.release();
    expect(now(['/no/such/flock'])).toBeUndefined();
    symlinkSync('/nowhere', `${file}.link`);
    renameSync(`${file}.link`, file);
    expect(now()).toBeUndefined();
    rmSync(file);
    (await held()).release();
  });

  it('waits where Ctrl-C does not reach: its end would pass for an answer', async () => {
    const first = await held();
    const second = acquire(24);
    expect(await eventually(() => waiters(24).length > 0)).toBe(true);
    const [waiter] = waiters(24);
    // State, parent, group.
    const [, , group] = readFileSync(`/proc/${waiter}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    expect(Number(group)).toBe(waiter);
    first.release();
    const outcome = await second;
    if (outcome.kind === 'locked') outcome.lock.release();
    expect(outcome.kind).toBe('locked');
  });

  it('is busy for as long as somebody has it, and free right after', async () => {
    const first = await held();
    expect(await acquire()).toEqual({ kind: 'busy' });
    const waiting = acquire(21);
    expect(await eventually(() => waiters(21).length > 0)).toBe(true);
    first.release();
    const second = await waiting;
    expect(second.kind).toBe('locked');
    if (second.kind === 'locked') second.lock.release();
  });

  it('gives up when it is told to, and leaves nothing behind', async () => {
    const first = await held();
    const cancel = new AbortController();
    const waiting = createKernelLock({ directory, waitSeconds: 22 }).acquire(cancel.signal);
    expect(await eventually(() => waiters(22).length > 0)).toBe(true);
    cancel.abort();
    expect(await waiting).toEqual({ kind: 'unavailable' });
    expect(waiters(22)).toEqual([]);
    expect(await createKernelLock({ directory }).acquire(cancel.signal)).toEqual({ kind: 'unavailable' });
    first.release();
    (await held()).release();
  });

  it('is not given on a file that was put in its place while it was waited for', async () => {
    const first = await held();
    const waiting = acquire(23);
    expect(await eventually(() => waiters(23).length > 0)).toBe(true);
    renameSync(file, join(directory, 'elsewhere'));
    writeFileSync(file, '', { mode: 0o600 });
    expect(first.intact()).toBe(false);
    first.release();
    expect(await waiting).toEqual({ kind: 'unavailable' });
  });

  const prepare = (): void => void mkdirSync(directory, { recursive: true, mode: 0o700 });
  const touch = (path: string, mode = 0o600): string => {
    writeFileSync(path, '');
    chmodSync(path, mode);
    return path;
  };
  const inFolder = (name: string): string => join(folder, name);
  it.each<[string, () => void]>([
    ['a link', () => symlinkSync(touch(inFolder('x')), file)],
    ['a link to nothing', () => symlinkSync(inFolder('made'), file)],
    ['one of two names', () => linkSync(touch(inFolder('x')), file)],
    ['a directory', () => mkdirSync(file, { mode: 0o700 })],
    ["everybody's", () => touch(file, 0o666)],
  ])('is unavailable when the file is %s', async (_, make) => {
    prepare();
    make();
    const before = lstatSync(file);
    expect(await acquire()).toEqual({ kind: 'unavailable' });
    expect(existsSync(join(folder, 'made'))).toBe(false);
    expect(lstatSync(file)).toMatchObject({ ino: before.ino, mode: before.mode, uid: before.uid });
  });

  it.each<[string, () => void]>([
    ['a link', () => symlinkSync(mkdirSync(inFolder('x'), { recursive: true, mode: 0o700 }) ?? '', directory)],
    ['a file', () => writeFileSync(directory, '')],
    ["somebody else's to read", () => mkdirSync(directory, { mode: 0o755 })],
  ])('is unavailable when the directory is %s', async (_, make) => {
    mkdirSync(join(directory, '..'), { recursive: true });
    make();
    expect(await acquire()).toEqual({ kind: 'unavailable' });
    expect(existsSync(join(folder, 'x', 'ownership.json.flock'))).toBe(false);
  });

  it('follows links above the directory', async () => {
    mkdirSync(join(folder, 'real'));
    symlinkSync(join(folder, 'real'), join(folder, '.local'));
    (await held()).release();
    expect(existsSync(join(folder, 'real/state/product/ownership.json.flock'))).toBe(true);
  });

  // Only root can give a file away, and only root is asked here.
  it.runIf(ROOT)('is unavailable when the file or the directory belongs to somebody else', async () => {
    prepare();
    writeFileSync(file, '', { mode: 0o600 });
    chownSync(file, 65534, 65534);
    expect(await acquire()).toEqual({ kind: 'unavailable' });
    chownSync(file, 0, 0);
    chownSync(directory, 65534, 65534);
    expect(await acquire()).toEqual({ kind: 'unavailable' });
  });

  it('trusts no tool that anybody could have put there', async () => {
    const tool = join(folder, 'flock');
    const using = (...tools: string[]) => createKernelLock({ directory, tools }).acquire(signal);
    writeFileSync(tool, `#!/bin/sh\ntouch ${join(folder, 'ran')}\n`);
    chmodSync(tool, 0o777);
    expect(await using(tool)).toEqual({ kind: 'unavailable' });
    expect(await using(join(folder, 'none'))).toEqual({ kind: 'unavailable' });
    mkdirSync(join(folder, 'dir'));
    expect(await using(join(folder, 'dir'))).toEqual({ kind: 'unavailable' });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    const outcome = await using(tool, '/usr/bin/flock');
    expect(outcome.kind).toBe('locked');
    if (outcome.kind === 'locked') outcome.lock.release();
  });

  it.each([
    ['ext4', 0xef53, true],
    ['Btrfs', 0x9123683e, true],
    ['Btrfs in 32 bits', 0x9123683e - 2 ** 32, true],
    ['tmpfs', 0x01021994, true],
    ['NFS', 0x6969, false],
    ['SMB', 0xff534d42, false],
    ['FUSE', 0x65735546, false],
    ['9p', 0x01021997, false],
    ['proc', 0x9fa0, false],
  ])('believes in a lock on %s: %s', (_, type, trusted) => {
    expect(isTrustedType(type)).toBe(trusted);
  });

  describe('and the guardian', () => {
    let token: string;
    beforeEach(() => {
      token = sleepToken();
    });
    afterEach(() => {
      for (const pid of withCommand('sleep', token)) process.kill(pid, 'SIGKILL');
    });

    function setup(guardian: string, script: string): { child: ChildProcess; said: () => string } {
      const child = spawn(process.execPath, [join(FIXTURES, 'setup-run.ts'), directory, guardian, script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.push(child);
      let text = '';
      child.stdout?.on('data', (bytes: Buffer) => {
        text += bytes.toString();
      });
      return { child, said: () => text };
    }
    const ended = (child: ChildProcess) => new Promise<void>((resolve) => void child.once('close', () => resolve()));

    it('is free after a run', async () => {
      const { child, said } = setup(GUARDIAN, 'true');
      await ended(child);
      expect(said()).toBe('locked\nexited released\n');
      (await held()).release();
    });

    it('outlives a setup that is killed, until its command has been ended', async () => {
      // It holds on for a while, so that there is something to see.
      const { child } = setup(HASTY, `trap '' TERM; sleep ${token} & setsid sleep ${token} & while :; do wait; done`);
      expect(await eventually(() => withCommand('sleep', token).length === 2)).toBe(true);
      expect(await acquire()).toEqual({ kind: 'busy' });
      child.kill('SIGKILL');
      await ended(child);
      const lock = await createKernelLock({ directory, waitSeconds: 20 }).acquire(signal);
      // Nothing was left of it when the lock came.
      expect(mentioning(token)).toEqual([]);
      expect(lock.kind).toBe('locked');
      if (lock.kind === 'locked') lock.lock.release();
    });

    it('stays with a guardian that cannot end its command, and goes with the last of it', async () => {
      // Without a mark, a parent or a group that anybody knows; only its hold on the pipe is left.
      const away = join(directory, 'away');
      const stray = `env -i setsid sh -c ': > "$1"; exec sleep ${token}' sh "${away}"`;
      // Whoever has not left the group when the command ends is ended with it.
      const { child, said } = setup(HASTY, `(${stray} &) ; until [ -e "${away}" ]; do sleep 0.01; done; exit 0`);
      await ended(child);
      expect(said()).toBe('locked\nretained retained\n');
      expect(await acquire()).toEqual({ kind: 'busy' });
      const [left = 0] = withCommand('sleep', token);
      expect(readFileSync(`/proc/${left}/stat`, 'utf8')).toContain('sleep');
      process.kill(left, 'SIGKILL');
      const lock = await createKernelLock({ directory, waitSeconds: 20 }).acquire(signal);
      expect(lock.kind).toBe('locked');
      if (lock.kind === 'locked') lock.lock.release();
    });
  });
});
