/**
 * Runs one command of a client in a process group of its own (docs/setup.md). The
 * command carries a mark in its environment, so that on Linux what leaves the
 * group is found too. macOS, untested there: the group alone.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { ClientCommand } from '../../ports/setup/command.ts';
import type { GuardedProcess, ProcessNews, ScanOutcome, SpawnOutcome } from '../../ports/setup/guarded-process.ts';
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

/** @param mark Tells this command's processes from those of any other; random by default. */
export function createGuardedProcess(command: ClientCommand, mark: string = randomUUID()): GuardedProcess {
  const since = Number(startTimeOf(process.pid) ?? 0);
  let tell: (news: ProcessNews) => void = () => {};
  let root: Root | undefined;
  let child: ChildProcess | undefined;
  let outputs: { readonly stdout: Output; readonly stderr: Output } | undefined;
  let spawned: Promise<SpawnOutcome> = Promise.resolve('not_found');
  let closed: Promise<void> = Promise.resolve();

  function begin(): Promise<SpawnOutcome> {
    const begun = start(command, mark);
    if (!begun) return Promise.resolve('not_found');
    child = begun;
    // Before the kernel's number can be anybody else's.
    if (begun.pid !== undefined) root = { pid: begun.pid, started: startTimeOf(begun.pid) };
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

  const query = (): MemberQuery => ({
    scope: mark,
    roots: root ? [root] : [],
    spared: new Set([process.pid, process.ppid]),
  });
  const readTable = () => readProcessTable(since, COMMAND_VARIABLE);

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
      try {
        for (const entry of findMembers(await readTable(), query())) {
          if (isSameProcess(entry)) sendTerm(entry.pid);
        }
      } catch {
        // No table: at least the command itself, as long as Node knows that it runs.
        child?.kill('SIGTERM');
      }
    },
    async kill() {
      if (!(await endMembers(query, readTable))) child?.kill('SIGKILL');
    },
    async scan(): Promise<ScanOutcome> {
      if ((await spawned) === 'not_found') return 'clear';
      const table = await readTableForSure(since, COMMAND_VARIABLE);
      if (!table) return 'unknown';
      if (findMembers(table, query()).length > 0) return 'live';
      if (root && groupIsForeign(root.pid)) return 'unknown';
      // Whoever still holds a pipe of the command lives, whatever the table says.
      await closed;
      return 'clear';
    },
    output: () => ({ stdout: outputs?.stdout.text() ?? '', stderr: outputs?.stderr.text() ?? '' }),
  };
}

function sendTerm(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // Gone in between, or not ours to end: a look at the table tells.
  }
}
