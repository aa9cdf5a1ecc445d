/** The directly started server, as a transport of the SDK's client. Its owner decides when and how it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { IntendedEntry } from '../../ports/setup/registration.ts';

/** Three answers of a server with a large configuration are a few hundred KiB. */
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;

/** The ways to bring the server to its end. Each resolves when it has ended, and can be asked again. */
export interface EndableProcess {
  /** Lets it see the end of its input. */
  endInput(): Promise<void>;
  /** SIGTERM to its process group. */
  terminate(): Promise<void>;
  /** SIGKILL to its process group. */
  kill(): Promise<void>;
}

export class VerifiedProcess implements Transport, EndableProcess {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;

  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #buffer = new ReadBuffer({ maxBufferSize: MAX_OUTPUT_BYTES });
  #bytes = 0;
  #isOver = false;
  #isNoisy = false;
  #isLost = false;

  /** Throws when the entry cannot even be handed over. */
  constructor(entry: IntendedEntry, cwd: string, env: Readonly<Record<string, string>>) {
    this.#child = spawn(entry.command, [...entry.args], {
      cwd,
      env: { ...env },
      // A group of its own, so that it can be signalled as a whole and Ctrl-C does not reach it.
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#ended = new Promise((resolve) => {
      const over = (): void => {
        this.#isOver = true;
        this.#lose();
        resolve();
      };
      this.#child.once('exit', over);
      // Without a pid it never started, and no exit will come.
      this.#child.on('error', () => (this.#child.pid === undefined ? over() : this.#lose()));
    });
    this.#child.stdin?.on('error', () => this.#lose());
    this.#child.stdout?.on('error', () => this.#lose());
    this.#child.stdout?.on('end', () => this.#lose());
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  get hasEnded(): boolean {
    return this.#isOver;
  }

  /** It has printed what is no message of the protocol, or too much. */
  get isNoisy(): boolean {
    return this.#isNoisy;
  }

  /** It can no longer be talked to. */
  get isLost(): boolean {
    return this.#isLost;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isLost || !this.#child.stdin?.writable) throw new Error('the server is gone');
    this.#child.stdin.write(serializeMessage(message));
  }

  /** The SDK calls it when it gives up; the end is the owner's matter. */
  async close(): Promise<void> {}

  endInput(): Promise<void> {
    this.#child.stdin?.end();
    return this.#ended;
  }

  terminate(): Promise<void> {
    return this.#signal('SIGTERM');
  }

  kill(): Promise<void> {
    return this.#signal('SIGKILL');
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    // Once the leader has ended, the group's number may be somebody else's.
    if (!this.#isOver && this.#child.pid !== undefined) {
      try {
        process.kill(-this.#child.pid, signal);
      } catch {
        // Gone in between.
      }
    }
    return this.#ended;
  }

  #read(chunk: Buffer): void {
    if (this.#isLost) return;
    this.#bytes += chunk.length;
    try {
      if (this.#bytes > MAX_OUTPUT_BYTES) throw new Error('too much');
      this.#buffer.append(chunk);
      for (let message = this.#buffer.readMessage(); message !== null; message = this.#buffer.readMessage()) {
        this.onmessage?.(message);
      }
    } catch {
      this.#isNoisy = true;
      this.#lose();
    }
  }

  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#child.stdout?.destroy();
    this.onclose?.();
  }
}
