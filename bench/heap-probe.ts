/** Reads another process's heap through the inspector, so that the product needs no switch for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RpcProcess } from './rpc-process.ts';

const COLLECTIONS = 4;
const SETTLE_MS = 100;

export class HeapProbe {
  private readonly socket: WebSocket;
  private readonly waiting = new Map<number, (result: unknown) => void>();
  private count = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
      if (id !== undefined) this.waiting.get(id)?.(result);
    });
  }

  /** The server must have been started with `--inspect=127.0.0.1:0`. */
  static async attach(server: RpcProcess): Promise<HeapProbe> {
    const url = /ws:\/\/\S+/.exec(server.errorOutput)?.[0];
    if (url === undefined) throw new Error('the inspector has not announced itself');
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', reject, { once: true });
    });
    return new HeapProbe(socket);
  }

  /** After full collections: finalizers free more only in the next one. */
  async usedBytes(): Promise<number> {
    for (let index = 0; index < COLLECTIONS; index += 1) {
      await this.send('HeapProfiler.collectGarbage');
      await sleep(SETTLE_MS);
    }
    const { usedSize } = (await this.send('Runtime.getHeapUsage')) as { usedSize: number };
    return usedSize;
  }

  close(): void {
    this.socket.close();
  }

  private send(method: string): Promise<unknown> {
    this.count += 1;
    const id = this.count;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.socket.send(JSON.stringify({ id, method }));
    });
  }
}
