/**
 * Setup's side of the guardian (docs/setup.md). The guardian is a process in a
 * session of its own, so that what ends setup does not end it; it inherits the
 * locked lock file, and so the lock outlives setup for as long as a command does.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { ClientCommand, CommandResult, CommandRunner } from '../../ports/setup/command.ts';
import { type CommandTrace, type GuardianRequest, isGuardianAnswer } from './guardian-protocol.ts';
import { createLineSplitter, parseLine } from './json-lines.ts';
import type { Root } from './scope-members.ts';

export interface GuardedRunnerOptions {
  /** `dist/guardian.cjs`, or its source. */
  readonly guardianPath: string;
  /** The locked lock file, to be inherited. Without one the guardian guards processes alone. */
  readonly lockFd?: number;
  /** Defaults to this process's own executable. */
  readonly nodePath?: string;
}

export interface GuardedRunner extends CommandRunner {
  /** Starts the guardian now, so that it is ready when the first command comes; otherwise `run` does. */
  start(): void;
  /** Undefined before it was started, and when it could not be. */
  pid(): number | undefined;
}

const RETAINED: CommandResult = { kind: 'retained' };

class Guardian {
  readonly process: ChildProcess | undefined;
  /** It has ended, and everything that it has said was heard. */
  readonly over: Promise<void>;
  /** Of that end: did it let go by itself? Undefined while it runs. */
  endedWell: boolean | undefined;
  /** The newest command's own process, as soon as it is known. */
  root: Root | undefined;
  #waiting: ((result: CommandResult) => void) | undefined;

  constructor(options: GuardedRunnerOptions) {
    this.process = launch(options);
    this.over = new Promise((resolve) => {
      const end = (code: number | null): void => {
        this.endedWell ??= code === 0;
        this.#hear(RETAINED);
        resolve();
      };
      if (!this.process) end(null);
      this.process?.once('error', () => end(null));
      this.process?.once('close', end);
    });
    // Without a reader at the other end a write fails; the end of the process says so too.
    this.process?.stdin?.on('error', () => {});
    const onBytes = createLineSplitter((line) => {
      const answer = parseLine(line);
      if (!isGuardianAnswer(answer)) return;
      if (answer.kind === 'started') this.root = answer.root;
      else this.#hear(answer);
    });
    this.process?.stdout?.on('data', onBytes);
  }

  async run(command: ClientCommand, mark: string, signal: AbortSignal): Promise<CommandResult> {
    const stop = (): void => this.#say({ type: 'stop' });
    this.root = undefined;
    signal.addEventListener('abort', stop, { once: true });
    const result = await this.#ask({ type: 'run', command, mark });
    signal.removeEventListener('abort', stop);
    return result;
  }

  adopt(trace: CommandTrace): Promise<CommandResult> {
    return this.#ask({ type: 'adopt', trace });
  }

  /** Ends what runs, and the guardian itself as soon as nothing is left to guard. */
  letGo(): void {
    this.process?.stdin?.end();
  }

  /** It stays; setup must not wait for it. */
  leave(): void {
    this.process?.stdout?.destroy();
    this.process?.unref();
  }

  #ask(request: GuardianRequest): Promise<CommandResult> {
    if (this.endedWell !== undefined) return Promise.resolve(RETAINED);
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#say(request);
    });
  }

  #say(request: GuardianRequest): void {
    const stdin: Writable | null | undefined = this.process?.stdin;
    if (stdin?.writable) stdin.write(`${JSON.stringify(request)}\n`);
  }

  #hear(result: CommandResult): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.(result);
  }
}

function launch({ guardianPath, lockFd, nodePath = process.execPath }: GuardedRunnerOptions) {
  try {
    return spawn(nodePath, [guardianPath], {
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore', ...(lockFd === undefined ? [] : [lockFd])],
      cwd: '/',
      env: {},
    });
  } catch {
    return undefined;
  }
}

/** To be closed, or this process does not end by itself. A command whose guardian vanished is `retained`. */
export function createGuardedRunner(options: GuardedRunnerOptions): GuardedRunner {
  let guardian: Guardian | undefined;
  let last: Promise<CommandResult> | undefined;
  /** What became of a command whose guardian vanished, under the one that took its place. */
  let adoption: Promise<CommandResult> | undefined;

  function start(): Guardian {
    guardian ??= new Guardian(options);
    return guardian;
  }

  async function runNext(command: ClientCommand, signal: AbortSignal): Promise<CommandResult> {
    // What is left of a command is not to be met by the next one.
    if ((await last)?.kind === 'retained') return RETAINED;
    if (signal.aborted) return { kind: 'interrupted' };
    const mark = crypto.randomUUID();
    const first = start();
    const result = await first.run(command, mark, signal);
    if (first.endedWell !== undefined) {
      // The lock must not go before the command does, so somebody else has to see to its end.
      guardian = new Guardian(options);
      adoption = guardian.adopt({ mark, ...(first.root && { root: first.root }) });
    }
    return result;
  }

  return {
    start: () => void start(),
    pid: () => guardian?.process?.pid,
    run(command, signal) {
      last = runNext(command, signal);
      return last;
    },
    async close() {
      if (!guardian) return 'released';
      guardian.letGo();
      const ran = await last;
      const result = (await adoption) ?? ran;
      if (result?.kind !== 'retained') await guardian.over;
      // A guardian that was never asked for anything has nothing to keep, however it ended.
      if (result === undefined || guardian.endedWell) return 'released';
      guardian.leave();
      return 'retained';
    },
  };
}
