/** A server process and the thinnest client for it: the same for every side of a comparison. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

type Json = Record<string, unknown>;

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};

export class RpcProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** When the process was asked for, on the clock of `performance`. */
  readonly spawned = performance.now();
  readonly exited: Promise<number | null>;
  private readonly waiting = new Map<number, { resolve: (result: Json) => void; reject: (error: Error) => void }>();
  private stderr = '';
  private rest = '';
  private count = 0;

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    this.child = spawn(process.execPath, args, { env: { ...env } });
    this.exited = new Promise((resolve) => this.child.once('exit', (code) => resolve(code)));
    this.child.stdout.setEncoding('utf8').on('data', (chunk: string) => this.read(chunk));
    this.child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      this.stderr += chunk;
    });
    this.child.stdin.on('error', () => {});
    this.child.once('close', () => {
      const error = new Error(`${args.join(' ')} has ended: ${this.stderr.slice(0, 400)}`);
      for (const { reject } of this.waiting.values()) reject(error);
    });
  }

  get errorOutput(): string {
    return this.stderr;
  }

  request(method: string, params: Json = {}): Promise<Json> {
    this.count += 1;
    const id = this.count;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  async initialize(): Promise<void> {
    await this.request('initialize', INITIALIZE);
    this.child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }

  /** The structured result of a tool; a failure throws, because it would make a number meaningless. */
  async call(name: string, args: Json = {}): Promise<Json> {
    const { structuredContent, isError } = await this.request('tools/call', { name, arguments: args });
    if (isError) throw new Error(`${name}: ${JSON.stringify(structuredContent)}`);
    return structuredContent as Json;
  }

  /** Ends stdin; the time until the exit in milliseconds, and the status. */
  async leave(): Promise<{ readonly ms: number; readonly code: number | null }> {
    const began = performance.now();
    this.child.stdin.end();
    const code = await this.exited;
    return { ms: performance.now() - began, code };
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  private read(chunk: string): void {
    const lines = (this.rest + chunk).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      const { id, result, error } = JSON.parse(line) as { id?: number; result?: Json; error?: unknown };
      if (id === undefined) continue;
      const waiter = this.waiting.get(id);
      this.waiting.delete(id);
      if (error) waiter?.reject(new Error(JSON.stringify(error)));
      else waiter?.resolve(result ?? {});
    }
  }
}
