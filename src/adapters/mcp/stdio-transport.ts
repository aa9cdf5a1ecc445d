/**
 * The client connection. Differs from the SDK's stdio transport where a server
 * has to survive: a malformed or endless line is answered and the connection
 * lives on, and the end of either pipe is told to the owner.
 */
import type { Readable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Diagnostics } from '../../ports/diagnostics.ts';
import type { TransportPort } from '../../ports/transport.ts';
import { type Coalescer, createCoalescer, type Schedule } from './coalesce.ts';
import { type ErrorFrame, type Inbound, oversizeAnswer, readFrame, sanitized, writeFrame } from './frames.ts';
import { LineSplitter } from './line-splitter.ts';
import type { FrameOutput } from './output-guard.ts';

export type EndReason = 'stdin_ended' | 'stdin_failed' | 'stdout_failed';

export interface StdioTransportOptions {
  readonly stdin: Readable;
  readonly output: FrameOutput;
  readonly diagnostics: Diagnostics;
  /** Called at most once, when the client is gone or cannot be reached any more. */
  readonly onEnd: (reason: EndReason) => void;
  readonly maxFrameBytes?: number;
  readonly schedule?: Schedule;
}

const MAX_FRAME_BYTES = 10 * 1024 * 1024;
/** Beyond this much unread output no more requests are read, so that a client that does not read cannot fill our memory. */
const MAX_UNSENT_CHARACTERS = 8 * 1024 * 1024;

export class StdioTransport implements Transport, TransportPort {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;

  readonly #options: StdioTransportOptions;
  readonly #lines: LineSplitter;
  readonly #rejected: Coalescer;
  readonly #read = (chunk: Buffer): void => this.#lines.push(chunk);
  #started = false;
  #ended = false;
  #outputBroken = false;
  #closing: Promise<void> | undefined;
  #unsent = 0;
  #onFlushed: (() => void) | undefined;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.#lines = new LineSplitter(options.maxFrameBytes ?? MAX_FRAME_BYTES, {
      line: (text) => this.#receive(readFrame(text)),
      oversize: (head, tail) => this.#receive({ kind: 'rejected', answer: oversizeAnswer(head, tail) }),
    });
    this.#rejected = createCoalescer(
      (counts) => options.diagnostics.report('warn', 'malformed_frames_rejected', counts),
      options.schedule,
    );
  }

  /** Starts reading. The listeners stay for good: an error after the end must not end the process. */
  async start(): Promise<void> {
    if (this.#started) throw new Error('the transport was already started');
    this.#started = true;
    const { stdin, output } = this.#options;
    output.on('error', () => this.#end('stdout_failed'));
    output.on('close', () => this.#end('stdout_failed'));
    stdin.on('error', () => this.#end('stdin_failed'));
    stdin.on('close', () => this.#end('stdin_ended'));
    stdin.on('end', () => this.#end('stdin_ended'));
    stdin.on('data', this.#read);
    // A stream that ended before we listened says nothing any more.
    if (stdin.readableEnded || stdin.destroyed) queueMicrotask(() => this.#end('stdin_ended'));
  }

  /** Resolves once the bytes have left; rejects when they cannot. */
  send(message: JSONRPCMessage): Promise<void> {
    return this.#write(sanitized(message));
  }

  /** Stops reading, lets what was sent go out, and then tells the SDK. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // An answer that is already decided needs a few microtasks to get here.
    await new Promise((resolve) => setImmediate(resolve));
    const { stdin } = this.#options;
    stdin.off('data', this.#read);
    stdin.pause();
    this.#lines.clear();
    this.#rejected.flush();
    if (this.#unsent > 0 && !this.#outputBroken) {
      await new Promise<void>((resolve) => {
        this.#onFlushed = resolve;
      });
    }
    this.onclose?.();
  }

  #end(reason: EndReason): void {
    if (reason === 'stdout_failed') {
      this.#outputBroken = true;
      this.#onFlushed?.();
    }
    if (this.#ended || this.#closing) return;
    this.#ended = true;
    this.#options.onEnd(reason);
  }

  #receive(inbound: Inbound): void {
    if (this.#closing || inbound.kind === 'ignored') return;
    if (inbound.kind === 'rejected') {
      this.#rejected.add({ frames: 1 });
      this.#write(inbound.answer).catch(() => {});
      return;
    }
    try {
      this.onmessage?.(inbound.message);
    } catch {
      this.onerror?.(new Error('a message could not be handled'));
    }
  }

  #write(message: JSONRPCMessage | ErrorFrame): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#outputBroken) return reject(new Error('the client is gone'));
      const frame = writeFrame(message);
      const settle = (error?: unknown) => {
        this.#sent(frame.length);
        if (!error) return resolve();
        this.#end('stdout_failed');
        reject(new Error('the client is gone'));
      };
      this.#unsent += frame.length;
      if (this.#unsent > MAX_UNSENT_CHARACTERS) this.#options.stdin.pause();
      try {
        this.#options.output.write(frame, settle);
      } catch (error) {
        settle(error);
      }
    });
  }

  #sent(length: number): void {
    const blocked = this.#unsent > MAX_UNSENT_CHARACTERS;
    this.#unsent -= length;
    if (blocked && this.#unsent <= MAX_UNSENT_CHARACTERS && !this.#closing) this.#options.stdin.resume();
    if (this.#unsent === 0) this.#onFlushed?.();
  }
}
