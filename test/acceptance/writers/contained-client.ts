/** A client of one writer: what it has registered, started as it would start it. */
import type { ChildProcess } from 'node:child_process';
import { until, within } from '../../e2e/kit/until.ts';
import type { Operator } from './operator.ts';

const PATIENCE_MS = 60_000;

type Body = Readonly<Record<string, unknown>> & { readonly ok?: boolean };

interface Answer {
  readonly id?: number;
  readonly result?: { readonly structuredContent?: Body };
}

export class ContainedClient {
  readonly #child: ChildProcess;
  readonly #answers = new Map<number, Answer>();
  readonly exited: Promise<number | null>;
  stderr = '';
  #pending = '';
  #next = 1;

  constructor(operator: Operator, command: string, args: readonly string[]) {
    this.#child = operator.spawn(command, args, { stdio: 'pipe' });
    this.exited = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.stdin?.on('error', () => {});
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString('utf8');
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#hear(text));
  }

  #hear(text: string): void {
    const lines = (this.#pending + text).split('\n');
    this.#pending = lines.pop() ?? '';
    for (const line of lines.filter(Boolean)) {
      const answer = JSON.parse(line) as Answer;
      if (answer.id !== undefined) this.#answers.set(answer.id, answer);
    }
  }

  async #ask(method: string, params: object): Promise<Answer> {
    const id = this.#next;
    this.#next += 1;
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return until(
      () => `answer to ${method}; ${this.stderr}`,
      () => this.#answers.get(id),
      PATIENCE_MS,
    );
  }

  async initialize(): Promise<void> {
    const clientInfo = { name: 'acceptance', version: '0' };
    await this.#ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  }

  async call(name: string, args: object = {}): Promise<Body> {
    const { result } = await this.#ask('tools/call', { name, arguments: args });
    return result?.structuredContent ?? {};
  }

  /** One prompt to the end of its turn. */
  async work(sessionId: unknown, prompt: string): Promise<Body> {
    const admitted = await this.call('pi_session_prompt', { sessionId, prompt });
    const { turnId } = (admitted['turn'] ?? {}) as { turnId?: string };
    return until(
      'the end of the turn',
      async () => {
        const { turn } = (await this.call('pi_turn_get', { sessionId, turnId })) as { turn?: Body };
        return turn && turn['state'] !== 'running' ? turn : undefined;
      },
      PATIENCE_MS,
    );
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async close(): Promise<number | null> {
    this.#child.stdin?.end();
    return within('the end of the launcher', this.exited, PATIENCE_MS);
  }
}
