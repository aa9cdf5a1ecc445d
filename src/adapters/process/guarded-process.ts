/**
 * Runs one command of a client in a process group of its own (docs/setup.md). The
 * command carries a mark in its environment, so that on Linux what leaves the
 * group is found too. macOS, untested there: the group alone.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { ClientCommand } from '../../ports/setup/command.ts';
import type { GuardedProcess, ProcessNews, ScanOutcome, SpawnOutcome } from '../../ports/setup/guarded-process.ts';
import type { CommandTrace } from './guardian-protocol.ts';
import { isSameProcess, readProcessTable, readTableForSure, startTimeOf } from './process-table.ts';
import { COMMAND_VARIABLE } from './scope-marker.ts';
import { endMembers, findMembers, type MemberQuery, type Root } from './scope-members.ts';

interface Output {
  text(): string;
}

/** Keeps the first bytes of a stream and goes on reading, so that its end is seen. */
function collect(stream: Readable | null, maxBytes: number, onOverflow: () => void): Output {
  const chunks: Buffer[] = [];
  let size = 0;
  stream?.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else onOverflow();
  });
  return { text: () => Buffer.concat(chunks).toString('utf8') };
}

function start({ file, args, cwd, env }: ClientCommand, mark: string): ChildProcess | undefined {
  try {
    return spawn(file, args, {
      cwd,
      env: { ...env, [COMMAND_VARIABLE]: mark },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch {
    // An argument or a path that no process can have.
    return undefined;
  }
}

/** A group all of whose members belong to somebody else answers this way, and the table may hide them. */
function groupIsForeign(group: number): boolean {
  try {
    process.kill(-group, 0);
    return false;
  } catch (error) {
    return process.platform === 'linux' && (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Its members: by their mark, by their group and session, and by their parents. */
function membersOf({ mark, root }: CommandTrace): MemberQuery {
  return { scope: mark, roots: root ? [root] : [], spared: new Set([process.pid, process.ppid]) };
}

const SINCE = Number(startTimeOf(process.pid) ?? 0);

let practised = false;

/** The first look takes several times as long as the next ones. While the first command runs, nobody waits for it. */
function practise(): void {
  if (!practised) void readTableForSure(SINCE, COMMAND_VARIABLE);
  practised = true;
}

/** What every command needs that may live, whoever has started it. */
function guardTrace(trace: () => CommandTrace, since: number) {
  const query = (): MemberQuery => membersOf(trace());
  const readTable = () => readProcessTable(since, COMMAND_VARIABLE);
  return {
    /** False when the table could not be read. */
    async terminate(): Promise<boolean> {
      try {
        for (const entry of findMembers(await readTable(), query())) {
          if (isSameProcess(entry)) sendTerm(entry.pid);
        }
        return true;
      } catch {
        return false;
      }
    },
    kill: (): Promise<boolean> => endMembers(query, readTable),
    async scan(): Promise<ScanOutcome> {
      const table = await readTableForSure(since, COMMAND_VARIABLE);
      if (!table) return 'unknown';
      if (findMembers(table, query()).length > 0) return 'live';
      const { root } = trace();
      return root && groupIsForeign(root.pid) ? 'unknown' : 'clear';
    },
  };
}

/** @param onStarted Is told of the command's own process as soon as there is one. */
export function createGuardedProcess(
  command: ClientCommand,
  mark: string,
  onStarted: (root: Root) => void = () => {},
): GuardedProcess {
  let tell: (news: ProcessNews) => void = () => {};
  let root: Root | undefined;
  let child: ChildProcess | undefined;
  let outputs: { readonly stdout: Output; readonly stderr: Output } | undefined;
  let spawned: Promise<SpawnOutcome> = Promise.resolve('not_found');
  let closed: Promise<void> = Promise.resolve();
  const traced = guardTrace(() => ({ mark, ...(root && { root }) }), SINCE);

  function begin(): Promise<SpawnOutcome> {
    const begun = start(command, mark);
    if (!begun) return Promise.resolve('not_found');
    child = begun;
    if (begun.pid !== undefined) {
      // Before the kernel's number can be anybody else's.
      root = { pid: begun.pid, started: startTimeOf(begun.pid) };
      onStarted(root);
      practise();
    }
    let overflowed = false;
    const overflow = (): void => {
      if (overflowed) return;
      overflowed = true;
      tell({ type: 'OVERFLOW' });
    };
    outputs = {
      stdout: collect(begun.stdout, command.maxOutputBytes, overflow),
      stderr: collect(begun.stderr, command.maxOutputBytes, overflow),
    };
    closed = new Promise((resolve) => begun.once('close', () => resolve()));
    begun.once('exit', (code) => tell({ type: 'EXITED', code }));
    return new Promise((resolve) => {
      begun.once('spawn', () => resolve('spawned'));
      begun.on('error', () => resolve('not_found'));
    });
  }

  return {
    spawn() {
      spawned = begin();
      return spawned;
    },
    watch(onNews) {
      tell = onNews;
      return () => {
        tell = () => {};
      };
    },
    async terminate() {
      // No table: at least the command itself, as long as Node knows that it runs.
      if (!(await traced.terminate())) child?.kill('SIGTERM');
    },
    async kill() {
      if (!(await traced.kill())) child?.kill('SIGKILL');
    },
    async scan() {
      if ((await spawned) === 'not_found') return 'clear';
      const outcome = await traced.scan();
      // Whoever still holds a pipe of the command lives, whatever the table says.
      if (outcome === 'clear') await closed;
      return outcome;
    },
    output: () => ({ stdout: outputs?.stdout.text() ?? '', stderr: outputs?.stderr.text() ?? '' }),
  };
}

/** A command that an earlier guardian has started; how it ends by itself, nobody hears. */
export function createAdoptedProcess(trace: CommandTrace): GuardedProcess {
  // Older than this process, so the whole table counts.
  const traced = guardTrace(() => trace, 0);
  return {
    spawn: () => Promise.resolve('spawned'),
    watch: () => () => {},
    terminate: async () => void (await traced.terminate()),
    kill: async () => void (await traced.kill()),
    scan: traced.scan,
    output: () => ({ stdout: '', stderr: '' }),
  };
}

function sendTerm(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // Gone in between, or not ours to end: a look at the table tells.
  }
}
