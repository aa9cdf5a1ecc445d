/** A connection port whose every call waits until the test settles it. */
import type {
  CallOutcome,
  ConnectionPort,
  ConnectOutcome,
  GrantCall,
  ListedTool,
  PageOutcome,
} from '../../src/ports/grants.ts';

export type ServerOperation = Exclude<keyof ConnectionPort, 'watch'>;

export interface ServerCall {
  readonly operation: ServerOperation;
  readonly input: unknown;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: Error) => void;
}

const listed = (name: string): ListedTool => ({ name, description: name, inputSchema: { type: 'object' } });
export const LISTED = [listed('work'), listed('other')] as const;

/** How each call goes well. */
export const SUCCESS: Readonly<Record<ServerOperation, unknown>> = {
  connect: { ok: true },
  listPage: { ok: true, tools: LISTED, nextCursor: null },
  call: { ok: true, content: [{ type: 'text', text: 'result' }] },
  endInput: undefined,
  terminate: undefined,
  kill: undefined,
};

export class ScriptedServer implements ConnectionPort {
  /** Calls that have not settled, oldest first. */
  readonly calls: ServerCall[] = [];
  /** Everything that was ever asked of the server. */
  readonly history: ServerOperation[] = [];
  watchFails = false;
  readonly #watchers = new Set<() => void>();

  get watchers(): number {
    return this.#watchers.size;
  }

  /** Those that somebody still waits for, as far as their signals tell. */
  get live(): readonly ServerCall[] {
    return this.calls.filter(({ signal }) => !signal?.aborted);
  }

  lose(): void {
    for (const onLost of [...this.#watchers]) onLost();
  }

  settle(call: ServerCall, outcome: unknown): void {
    this.calls.splice(this.calls.indexOf(call), 1);
    call.resolve(outcome);
  }

  fail(call: ServerCall): void {
    this.calls.splice(this.calls.indexOf(call), 1);
    call.reject(new Error('scripted rejection'));
  }

  /** The newest live call of this kind. */
  find(operation: ServerOperation): ServerCall {
    const call = this.live.findLast((each) => each.operation === operation);
    if (!call) throw new Error(`no live ${operation}; live: ${this.live.map((each) => each.operation).join(', ')}`);
    return call;
  }

  watch(onLost: () => void): () => void {
    if (this.watchFails) throw new Error('scripted failure');
    this.#watchers.add(onLost);
    return () => void this.#watchers.delete(onLost);
  }

  connect = (signal: AbortSignal) => this.#call<ConnectOutcome>('connect', undefined, signal);
  listPage = (cursor: string | null, signal: AbortSignal) => this.#call<PageOutcome>('listPage', cursor, signal);
  call = (call: GrantCall, signal: AbortSignal) => this.#call<CallOutcome>('call', call, signal);
  endInput = () => this.#call<void>('endInput');
  terminate = () => this.#call<void>('terminate');
  kill = () => this.#call<void>('kill');

  #call<T>(operation: ServerOperation, input?: unknown, signal?: AbortSignal): Promise<T> {
    this.history.push(operation);
    return new Promise((resolve, reject) => {
      this.calls.push({ operation, input, signal, resolve: resolve as (outcome: unknown) => void, reject });
    });
  }
}
