/** The built server as a child process on real pipes, spoken to line by line. */
import { type ChildProcess, spawn } from 'node:child_process';
import { expect, onTestFinished } from 'vitest';
import { BUILT_SERVER } from '../../../demo/scene.ts';
import { CANARY, REPOSITORY, type Stage } from './stage.ts';
import { within } from './until.ts';

// biome-ignore lint/suspicious/noExplicitAny: frames are whatever came over the wire
export type Frame = Record<string, any>;
/** What a tool says: `{ok: true, …}` or `{ok: false, error}`. */
export type Body = Frame;

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface LaunchOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly detached?: boolean;
  /** Canaries that the model itself says. */
  readonly modelSays?: readonly string[];
}

export type Message = string | Buffer | object;

function line(message: Message): Buffer {
  if (Buffer.isBuffer(message)) return message;
  return Buffer.from(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
}

export const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'e2e', version: '0' },
};
export const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };

export function request(id: number | string, method: string, params?: object): Frame {
  return { jsonrpc: '2.0', id, method, ...(params && { params }) };
}

export function toolCall(id: number | string, name: string, args: object = {}): Frame {
  return request(id, 'tools/call', { name, arguments: args });
}

export class Server {
  readonly child: ChildProcess;
  readonly pid: number;
  /** The process has ended. */
  readonly exited: Promise<Exit>;
  /** The process has ended and everything it wrote has been read. */
  readonly closed: Promise<Exit>;
  readonly frames: Frame[] = [];
  stdout = '';
  stderr = '';
  #unfinished = '';
  #ids = 0;
  #over = false;
  readonly #waiting = new Map<unknown, (frame: Frame | Error) => void>();

  constructor(env: Readonly<Record<string, string>>, options: LaunchOptions) {
    this.child = spawn(process.execPath, [BUILT_SERVER], {
      env,
      cwd: options.cwd ?? '/',
      detached: options.detached ?? false,
      stdio: 'pipe',
    });
    this.pid = this.child.pid ?? 0;
    const { child } = this;
    this.exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    this.closed = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
    child.stdin?.on('error', () => {});
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => this.#read(chunk));
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.stderr += chunk;
    });
    void this.closed.then(() => this.#end());
  }

  /** Everything in one write to the pipe; a Buffer goes out as it is. */
  write(...messages: readonly Message[]): void {
    this.child.stdin?.write(Buffer.concat(messages.map(line)));
  }

  /** The last words: one write, and the end of stdin right behind it. */
  end(...messages: readonly Message[]): void {
    this.child.stdin?.end(Buffer.concat(messages.map(line)));
  }

  answersTo(id: unknown): Frame[] {
    return this.frames.filter((frame) => frame['id'] === id);
  }

  async answered(id: unknown): Promise<Frame> {
    const [known] = this.answersTo(id);
    if (known) return known;
    if (this.#over) throw new Error(`the server ended without an answer to ${id}; stderr: ${this.stderr}`);
    const answer = new Promise<Frame | Error>((resolve) => this.#waiting.set(id, resolve));
    const frame = await within(`an answer to ${id}; stderr: ${this.stderr}`, answer);
    if (frame instanceof Error) throw frame;
    return frame;
  }

  nextId(): string {
    this.#ids += 1;
    return `e2e-${this.#ids}`;
  }

  request(method: string, params?: object): Promise<Frame> {
    const id = this.nextId();
    this.write(request(id, method, params));
    return this.answered(id);
  }

  async handshake(): Promise<Frame> {
    const answer = await this.request('initialize', INITIALIZE);
    this.write(INITIALIZED);
    return answer;
  }

  /** The tool's structured answer; its text must say the same. */
  async call(name: string, args: object = {}): Promise<Body> {
    const { result } = await this.request('tools/call', { name, arguments: args });
    expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
    expect(result.isError ?? false).toBe(!result.structuredContent.ok);
    return result.structuredContent;
  }

  /** Ends the process, and looks at every byte that it has written. */
  async finish(modelSays: readonly string[]): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
    await within('the end of the server', this.exited);
    for (const output of [this.stdout, this.stderr]) {
      for (const canary of [...Object.values(CANARY), REPOSITORY]) {
        if (!modelSays.includes(canary)) expect(output).not.toContain(canary);
      }
    }
    for (const text of this.stderr.split('\n').filter(Boolean)) {
      expect(JSON.parse(text)).toMatchObject({ level: expect.any(String), event: expect.any(String) });
    }
  }

  #read(chunk: string): void {
    this.stdout += chunk;
    const lines = (this.#unfinished + chunk).split('\n');
    this.#unfinished = lines.pop() ?? '';
    for (const text of lines) {
      // Anything that is no frame breaks the protocol, and so this test.
      const frame = JSON.parse(text) as Frame;
      this.frames.push(frame);
      this.#waiting.get(frame['id'])?.(frame);
      this.#waiting.delete(frame['id']);
    }
  }

  #end(): void {
    this.#over = true;
    for (const [id, settle] of this.#waiting) {
      settle(new Error(`the server ended without an answer to ${id}; stderr: ${this.stderr}`));
    }
  }
}

/** Starts a server for the running test, which ends with it. */
export function launch(stage: Stage, options: LaunchOptions = {}): Server {
  const server = new Server(options.env ?? stage.env, options);
  onTestFinished(() => server.finish(options.modelSays ?? []));
  return server;
}

/** The same, and already initialized. */
export async function connect(stage: Stage, options: LaunchOptions = {}): Promise<Server> {
  const server = launch(stage, options);
  await server.handshake();
  return server;
}
