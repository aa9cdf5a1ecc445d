/**
 * The child process of an external server, and the SDK's transport on its pipes.
 * Other than the SDK's own transport it lives on when the server prints what is
 * no message, bounds what it keeps and reads, and leaves it to the caller how
 * and when the child ends.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { isAnswer, readFrame } from './frames.ts';

const MAX_LINE_BYTES = 8 * 1024 * 1024;
/** What a server may print between two answers before it counts as broken. */
const MAX_UNASKED_BYTES = 32 * 1024 * 1024;

/** Cuts bytes into lines, in bounded memory. */
export interface Lines {
  push(chunk: Buffer): void;
}
export type CutLines = (maxBytes: number, handler: { line(text: string): void; oversize(): void }) => Lines;

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ServerEvents {
  /** Called at most once: the server is gone, or has said too much. */
  readonly onLost: () => void;
  /** A line over the limit was dropped; it may have been the answer that somebody waits for. */
  readonly onOversize: () => void;
}

export class ServerProcess implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;

  /** Resolves when the child has ended, or could not be started. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #events: ServerEvents;
  readonly #lines: Lines;
  #unasked = 0;
  #isOver = false;
  #isLost = false;

  /** Starts the child; throws when its arguments cannot even be handed over. */
  constructor(command: ServerCommand, cutLines: CutLines, events: ServerEvents) {
    this.#events = events;
    this.#lines = cutLines(MAX_LINE_BYTES, {
      line: (text) => this.#receive(text),
      oversize: () => this.#events.onOversize(),
    });
    this.#child = spawn(command.command, [...command.args], spawnOptions(command));
    this.ended = new Promise((resolve) => {
      const over = (): void => {
        this.#isOver = true;
        resolve();
      };
      this.#child.once('exit', over);
      // Without a pid it never started, and no exit will come.
      this.#child.once('error', () => this.#child.pid === undefined && over());
    });
    this.#listen();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The child runs already; reading begins with the constructor, because nothing comes unasked. */
  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isLost || !this.#child.stdin?.writable) throw new Error('the server is gone');
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** The SDK calls it when it gives up; the child is its owner's matter. */
  async close(): Promise<void> {
    this.#lose();
  }

  endInput(): Promise<void> {
    this.#child.stdin?.end();
    return this.ended;
  }

  /** To the whole process group: launchers such as `npx` do not always pass a signal on. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    // Once the leader has ended, the group's number may be somebody else's.
    if (!this.#isOver && this.#child.pid !== undefined) {
      try {
        process.kill(-this.#child.pid, signal);
      } catch {
        // Gone in between.
      }
    }
    return this.ended;
  }

  #listen(): void {
    const { stdin, stdout } = this.#child;
    const lose = (): void => this.#lose();
    this.#child.on('error', lose);
    stdin?.on('error', lose);
    stdout?.on('error', lose);
    stdout?.on('end', lose);
    stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
    // A grandchild may hold the pipe for ever. What the child has said last was read before Node tells of its end.
    this.#child.once('exit', lose);
  }

  #read(chunk: Buffer): void {
    if (this.#isLost) return;
    this.#unasked += chunk.length;
    this.#lines.push(chunk);
    if (this.#unasked > MAX_UNASKED_BYTES) this.#lose();
  }

  #receive(text: string): void {
    const message = readFrame(text);
    if (message === undefined || this.#isLost) return;
    if (isAnswer(message)) this.#unasked = 0;
    try {
      this.onmessage?.(message);
    } catch {
      // The SDK could not make sense of it: noise of another kind.
    }
  }

  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    // Nobody reads on: a server that floods must fill its pipe and not our memory.
    this.#child.stdout?.destroy();
    // The owner first, so that no call that waits goes to a server that is gone.
    this.#events.onLost();
    this.onclose?.();
  }
}

function spawnOptions({ cwd, env }: ServerCommand): SpawnOptions {
  return {
    cwd,
    env: { ...env },
    // A group of its own, so that it can be signalled as a whole and a client's Ctrl-C does not reach it.
    detached: true,
    // What it says on stderr is nobody's business.
    stdio: ['pipe', 'pipe', 'ignore'],
  };
}
