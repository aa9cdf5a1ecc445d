/**
 * Runs the commands of Pi's bash tool in place of the SDK's own runner, because
 * the call's processes have to be known: the SDK's runner tells no pid, and ends
 * only the process group. The error texts `aborted` and `timeout:<seconds>` are
 * the SDK's protocol between the tool and its runner.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { access } from 'node:fs/promises';
import { constants } from 'node:os';
import type { BashOperations, Sdk } from './sdk.ts';
import type { ToolChildren } from './tool-children.ts';
import { toolEnvironment } from './tool-environment.ts';

/** After the shell's end its pipes may be held by background children: wait until they fall silent. */
const QUIET_MS = 100;
const MAX_TIMEOUT_MS = 2_147_483_647;

type ExecOptions = Parameters<BashOperations['exec']>[2];

function timeoutOf(seconds: number | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  if (!Number.isFinite(seconds) || seconds <= 0 || seconds * 1000 > MAX_TIMEOUT_MS) {
    throw new Error(`Invalid timeout: must be a number of seconds between 0 and ${MAX_TIMEOUT_MS / 1000}`);
  }
  return seconds * 1000;
}

/** Resolves with the exit code once the shell has ended and its output is complete or silent. */
function outputEnd(child: ChildProcess, onData: (data: Buffer) => void): Promise<number> {
  return new Promise((resolve, reject) => {
    let quiet: NodeJS.Timeout | undefined;
    let exitCode: number | undefined;
    let openPipes = 2;
    const finish = (): void => {
      clearTimeout(quiet);
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve(exitCode ?? 1);
    };
    const wait = (): void => {
      if (exitCode === undefined) return;
      clearTimeout(quiet);
      if (openPipes === 0) finish();
      else quiet = setTimeout(finish, QUIET_MS);
    };
    for (const pipe of [child.stdout, child.stderr]) {
      pipe?.on('data', (data: Buffer) => {
        onData(data);
        wait();
      });
      pipe?.once('end', () => {
        openPipes -= 1;
        wait();
      });
    }
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      exitCode = code ?? 128 + (signal ? constants.signals[signal] : 0);
      wait();
    });
  });
}

async function requireDirectory(cwd: string): Promise<void> {
  try {
    await access(cwd);
  } catch {
    throw new Error('Working directory does not exist. Cannot execute bash commands.');
  }
}

/** The runner for one session's bash tool. */
export function createBashOperations(sdk: Sdk, children: ToolChildren, sessionId: string): BashOperations {
  async function exec(command: string, cwd: string, options: ExecOptions): Promise<{ exitCode: number }> {
    const { onData, signal, timeout, env } = options;
    const timeoutMs = timeoutOf(timeout);
    await requireDirectory(cwd);
    if (signal?.aborted) throw new Error('aborted');
    const shell = sdk.getShellConfig();
    const call = children.openCall(sessionId);
    const child = spawn(shell.shell, [...shell.args, command], {
      cwd,
      detached: true,
      env: toolEnvironment(env ?? process.env, call.variables),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (child.pid !== undefined) call.started(child.pid);

    let killing: Promise<void> | undefined;
    let timedOut = false;
    // Not only once the shell has ended: a child that left the group may hold the pipes open.
    const kill = (): void => {
      killing ??= call.kill();
    };
    const onTimeout = (): void => {
      timedOut = true;
      kill();
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs);
    signal?.addEventListener('abort', kill, { once: true });
    try {
      const exitCode = await outputEnd(child, onData);
      await killing;
      if (signal?.aborted) throw new Error('aborted');
      if (timedOut) throw new Error(`timeout:${timeout}`);
      return { exitCode };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
      call.ended();
    }
  }
  return { exec };
}
