/** Real commands under the real guardian: what setup hears of them, and that nothing of them is left. */
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGuardedRunner, type GuardedRunner } from '../../../src/adapters/process/guarded-runner.ts';
import type { ClientCommand, CommandResult } from '../../../src/ports/setup/command.ts';
import { eventually, REPOSITORY } from '../pi/lab.ts';
import { isAlive, mentioning, sleepToken, withCommand } from './processes.ts';

const GUARDIAN = join(REPOSITORY, 'src/setup/guardian.ts');
const HASTY = join(import.meta.dirname, 'fixtures/hasty-guardian.ts');
const MAX = 100_000;

function shell(script: string, more: Partial<ClientCommand> = {}): ClientCommand {
  const env = { PATH: '/usr/bin:/bin' };
  const limits = { timeoutMs: 20_000, maxOutputBytes: MAX };
  return { file: '/bin/sh', args: ['-c', script], cwd: '/', env, ...limits, ...more };
}

const exited = (stdout: string, code: number | null = 0, stderr = ''): CommandResult => ({
  kind: 'exited',
  code,
  stdout,
  stderr,
});

describe.skipIf(process.platform !== 'linux')('guarded commands', () => {
  const { signal } = new AbortController();
  let runner: GuardedRunner;
  let token: string;

  beforeEach(() => {
    token = sleepToken();
    runner = createGuardedRunner({ guardianPath: GUARDIAN });
  });
  afterEach(async () => {
    expect(await runner.close()).toBe('released');
    expect(isAlive(runner.pid() ?? 0)).toBe(false);
    expect(mentioning(token)).toEqual([]);
  });

  it.each<[string, ClientCommand, CommandResult]>([
    ['prints nothing', shell(':'), exited('')],
    ['prints on both', shell('echo out; echo err >&2; exit 3'), exited('out\n', 3, 'err\n')],
    [
      'prints what may be cut inside a character',
      shell("printf '\\342\\202'; sleep 0.05; printf '\\254'"),
      exited('€'),
    ],
    ['prints what is no UTF-8', shell("printf 'a\\377b'"), exited('a\ufffdb')],
    ['prints what ends a line elsewhere', shell("printf '\\342\\200\\250'"), exited('\u2028')],
    ['dies of a signal', shell('kill -9 $$'), exited('', null)],
    ['reads its stdin', shell('cat; echo end'), exited('end\n')],
    ['prints as much as it may', shell(`head -c ${MAX} /dev/zero | tr '\\0' x`), exited('x'.repeat(MAX))],
    ['is found in PATH', shell('', { file: 'echo', args: ['here'] }), exited('here\n')],
    ['is nowhere', shell('', { file: 'no-such-command' }), { kind: 'not_found' }],
    ['is no program', shell('', { file: '/etc/passwd' }), { kind: 'not_found' }],
    ['has a directory that is not there', shell(':', { cwd: '/no/such/directory' }), { kind: 'not_found' }],
    ['has an argument that nothing can have', shell('a\0b'), { kind: 'not_found' }],
    ['prints too much', shell('head -c 10000000 /dev/zero'), { kind: 'output_too_large' }],
    ['prints without end, and too much on stderr', shell('yes >&2'), { kind: 'output_too_large' }],
    ['hangs', shell('sleep 1000', { timeoutMs: 100 }), { kind: 'timed_out' }],
  ])('a command that %s', async (_, command, result) => {
    expect(await runner.run(command, signal)).toEqual(result);
  });

  it('sees its own environment and a mark, leads its own session, and does not get the lock', async () => {
    const environment = await runner.run(shell('env | sed "s/=.*//" | sort | tr "\\n" " "'), signal);
    expect(environment).toEqual(exited('PATH PI_SESSION_MCP_COMMAND PWD '));
    const ids = await runner.run(shell('ps -o pid=,pgid=,sid= -p $$ | tr -s " " "\\n" | sort -u | wc -w'), signal);
    expect(ids).toEqual(exited('1\n'));
    const lockFd = openSync(import.meta.filename, 'r');
    const locked = createGuardedRunner({ guardianPath: GUARDIAN, lockFd });
    // The shell's parent has it, and the shell has not.
    const script = 'for p in $PPID $$; do readlink /proc/$p/fd/* | grep -c guarded-commands; done; :';
    expect(await locked.run(shell(script), signal)).toEqual(exited('1\n0\n'));
    closeSync(lockFd);
    expect(await locked.close()).toBe('released');
  });

  it('takes what it leaves in its group, in a session of its own, and without its environment along', async () => {
    const leave = (how: string) => `${how} sleep ${token} >/dev/null 2>&1 &`;
    const ways = ['', 'nohup', 'setsid', 'setsid nohup'].map(leave).join('\n');
    const result = await runner.run(shell(`${ways}\nenv -i sleep ${token} >/dev/null 2>&1 &\necho done`), signal);
    expect(result).toEqual(exited('done\n'));
    expect(mentioning(token)).toEqual([]);
  });

  it('asks first: what takes SIGTERM can still clean up', async () => {
    const background = `trap 'echo cleaned >&2; exit 0' TERM; kill -USR1 $$; sleep ${token} & wait`;
    const script = `trap 'exit 4' USR1; (${background}) & while :; do wait; done`;
    expect(await runner.run(shell(script), signal)).toEqual(exited('', 4, 'cleaned\n'));
  });

  it('kills what ignores SIGTERM, and all that it starts meanwhile', async () => {
    const hasty = createGuardedRunner({ guardianPath: HASTY });
    const script = `trap '' TERM; while :; do sleep ${token} & sleep 0.01; done`;
    expect(await hasty.run(shell(script, { timeoutMs: 200 }), signal)).toEqual({ kind: 'timed_out' });
    expect(mentioning(token)).toEqual([]);
    expect(await hasty.close()).toBe('released');
  });

  it('ends with an interruption, and is not started after one', async () => {
    const cancel = new AbortController();
    const running = runner.run(shell(`sleep ${token} & sleep ${token}`), cancel.signal);
    expect(await eventually(() => withCommand('sleep', token).length === 2)).toBe(true);
    cancel.abort();
    expect(await running).toEqual({ kind: 'interrupted' });
    expect(mentioning(token)).toEqual([]);
    expect(await runner.run(shell(`sleep ${token}`), cancel.signal)).toEqual({ kind: 'interrupted' });
  });

  it('comes one by one', async () => {
    const results = [1, 2, 3].map((n) => runner.run(shell(`sleep 0.0${4 - n}; echo ${n}`), signal));
    expect(await Promise.all(results)).toEqual([exited('1\n'), exited('2\n'), exited('3\n')]);
  });

  it('ends when setup lets go in the middle of it', async () => {
    const running = runner.run(shell(`sleep ${token}`), signal);
    expect(await eventually(() => withCommand('sleep', token).length === 1)).toBe(true);
    expect(await runner.close()).toBe('released');
    expect(await running).toEqual({ kind: 'interrupted' });
  });

  it('ends when somebody asks the guardian to end, which stays', async () => {
    const running = runner.run(shell(`sleep ${token}`), signal);
    expect(await eventually(() => withCommand('sleep', token).length === 1)).toBe(true);
    process.kill(runner.pid() ?? 0, 'SIGTERM');
    expect(await running).toEqual({ kind: 'interrupted' });
    expect(await runner.run(shell('echo more'), signal)).toEqual(exited('more\n'));
  });

  it('is retained when its guardian vanishes, and ended by another one; later ones are not started', async () => {
    const lost = createGuardedRunner({ guardianPath: HASTY });
    const leave = `setsid sleep ${token} & env -i sleep ${token} &`;
    const running = lost.run(shell(`trap '' TERM; ${leave} while :; do wait; done`), signal);
    expect(await eventually(() => withCommand('sleep', token).length === 2)).toBe(true);
    const first = lost.pid() ?? 0;
    process.kill(first, 'SIGKILL');
    expect(await running).toEqual({ kind: 'retained' });
    expect(await lost.run(shell(`sleep ${token}`), signal)).toEqual({ kind: 'retained' });
    expect(await lost.close()).toBe('released');
    expect(lost.pid()).not.toBe(first);
    expect(mentioning(token)).toEqual([]);
  });

  it('is retained when both guardians vanish', async () => {
    const lost = createGuardedRunner({ guardianPath: GUARDIAN });
    const running = lost.run(shell(`trap '' TERM; sleep ${token} & while :; do wait; done`), signal);
    expect(await eventually(() => withCommand('sleep', token).length === 1)).toBe(true);
    process.kill(lost.pid() ?? 0, 'SIGKILL');
    expect(await running).toEqual({ kind: 'retained' });
    process.kill(lost.pid() ?? 0, 'SIGKILL');
    expect(await lost.close()).toBe('retained');
    for (const program of ['sleep', '/bin/sh']) {
      for (const pid of withCommand(program, token)) process.kill(pid, 'SIGKILL');
    }
    expect(await eventually(() => mentioning(token).length === 0)).toBe(true);
  });

  it('has nothing to retain when a guardian without work vanishes', async () => {
    const idle = createGuardedRunner({ guardianPath: GUARDIAN });
    idle.start();
    process.kill(idle.pid() ?? 0, 'SIGKILL');
    expect(await idle.close()).toBe('released');
  });

  it('is retained when there can be no guardian', async () => {
    const none = createGuardedRunner({ guardianPath: GUARDIAN, nodePath: '/no/such/node' });
    none.start();
    expect(await none.run(shell(':'), signal)).toEqual({ kind: 'retained' });
    expect(await none.close()).toBe('retained');
  });
});
