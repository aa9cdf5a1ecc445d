/** The connection port on the official MCP client, over the child's stdio. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { type CallToolResult, CallToolResultSchema, ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { GrantedServer } from '../../config/configuration.ts';
import type { CallOutcome, ConnectionPort, ConnectOutcome, GrantCall, PageOutcome } from '../../ports/grants.ts';
import { SERVER_NAME, SERVER_VERSION } from '../../version.ts';
import { childEnvironment } from './environment.ts';
import { readPage } from './listing.ts';
import { outcomeOf } from './results.ts';
import { type CutLines, ServerProcess } from './server-process.ts';

/** What marks the child as ours, so that it ends with us; `adapters/process` has it. */
export interface ChildMark {
  readonly variables: Readonly<Record<string, string>>;
  started(pid: number): void;
  ended(): void;
}

export interface ConnectionOptions {
  readonly server: GrantedServer;
  /** Absolute path of the workspace. */
  readonly directory: string;
  /** Called right before the child starts. */
  readonly mark: () => ChildMark;
  readonly cutLines: CutLines;
  /** Variables of the server process that `envFrom` asks for are not there. */
  readonly onMissingVariables: (count: number) => void;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** The chart has the deadlines. The SDK insists on one of its own; this is the longest that a timer takes. */
const NEVER_MS = 2 ** 31 - 1;

type Request = Parameters<Client['request']>[0];
type Answer<T> = { readonly result: T } | { readonly failure: 'oversize' | 'failed' };

/** Nothing is started before `connect`. */
export class Connection implements ConnectionPort {
  readonly #options: ConnectionOptions;
  readonly #client = new Client({ name: SERVER_NAME, version: SERVER_VERSION });
  readonly #outputs = new Map<string, (value: unknown) => boolean>();
  readonly #watchers = new Set<() => void>();
  #process: ServerProcess | undefined;
  #isLost = false;
  /** Gives up the live request when a line was too long to be kept. */
  #live: AbortController | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  async connect(signal: AbortSignal): Promise<ConnectOutcome> {
    try {
      const child = this.#start();
      if (child === undefined) return { ok: false };
      await this.#client.connect(child, { signal, timeout: NEVER_MS });
      return { ok: true };
    } catch {
      return { ok: false };
    }
  }

  async listPage(cursor: string | null, signal: AbortSignal): Promise<PageOutcome> {
    // The server says itself that it has none; asking would be an error.
    if (!this.#client.getServerCapabilities()?.tools) return { ok: true, tools: [], nextCursor: null };
    const params = cursor === null ? {} : { cursor };
    // The SDK's own schema for lists refuses a whole page for one tool that nobody has granted.
    const answer = await this.#request({ method: 'tools/list', params }, ResultSchema, signal);
    if (!('result' in answer)) return { ok: false };
    const granted = new Set(Object.values(this.#options.server.tools).map(({ name }) => name));
    const page = readPage(answer.result, (name) => granted.has(name));
    for (const [name, keepsToSchema] of page.outputs) this.#outputs.set(name, keepsToSchema);
    return page.outcome;
  }

  async call({ name, args }: GrantCall, signal: AbortSignal): Promise<CallOutcome> {
    const params = { name, arguments: { ...args } };
    const answer = await this.#request<CallToolResult>({ method: 'tools/call', params }, CallToolResultSchema, signal);
    if ('failure' in answer)
      return { ok: false, reason: answer.failure === 'oversize' ? 'result_too_large' : 'failed' };
    try {
      return outcomeOf(answer.result, this.#outputs.get(name));
    } catch {
      // Nested too deeply to be looked at.
      return { ok: false, reason: 'failed' };
    }
  }

  watch(onLost: () => void): () => void {
    if (this.#isLost) onLost();
    else this.#watchers.add(onLost);
    return () => void this.#watchers.delete(onLost);
  }

  endInput = async (): Promise<void> => this.#process?.endInput();
  terminate = async (): Promise<void> => this.#process?.signal('SIGTERM');
  kill = async (): Promise<void> => this.#process?.signal('SIGKILL');

  #start(): ServerProcess | undefined {
    const { server, directory, mark, cutLines, onMissingVariables, environment = process.env } = this.#options;
    const child = mark();
    const variables = childEnvironment(server, environment, child.variables);
    if (!variables.ok) {
      onMissingVariables(variables.missing);
      return undefined;
    }
    const command = { command: server.command, args: server.args, cwd: directory, env: variables.variables };
    this.#process = new ServerProcess(command, cutLines, {
      onLost: () => this.#lose(),
      onOversize: () => this.#live?.abort(),
    });
    if (this.#process.pid !== undefined) child.started(this.#process.pid);
    void this.#process.ended.then(() => child.ended());
    return this.#process;
  }

  #lose(): void {
    this.#isLost = true;
    for (const onLost of this.#watchers) onLost();
    this.#watchers.clear();
  }

  async #request<T>(request: Request, schema: unknown, signal: AbortSignal): Promise<Answer<T>> {
    const live = new AbortController();
    this.#live = live;
    try {
      const options = { signal: AbortSignal.any([signal, live.signal]), timeout: NEVER_MS };
      return { result: (await this.#client.request(request, schema as never, options)) as T };
    } catch {
      return { failure: live.signal.aborted ? 'oversize' : 'failed' };
    } finally {
      if (this.#live === live) this.#live = undefined;
    }
  }
}
