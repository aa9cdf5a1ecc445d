/** The controller's model on loopback: each request brings the result of the last call and gets the next step. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropic } from './wire/anthropic.ts';
import { responses } from './wire/responses.ts';
import type { ClientName, Step, Wire, WireTo } from './wire/wire.ts';

/** Yields what the model does next and gets back what the model would see of it. */
export type Program = AsyncGenerator<Step, string, string>;

export interface Endpoint {
  readonly origin: string;
  /** Every request as it was sent. */
  readonly bodies: readonly string[];
  /** Requests that were not for an answer of the model, and answers that no call of ours had asked for. */
  readonly others: readonly string[];
  /** Why the program gave up; undefined while it has not. */
  readonly failure: string | undefined;
  readonly finished: boolean;
  close(): Promise<void>;
}

const WIRES: Readonly<Record<ClientName, WireTo>> = { 'claude-code': anthropic, codex: responses };

async function bodyOf(message: IncomingMessage): Promise<string> {
  const bytes: Buffer[] = [];
  for await (const part of message) bytes.push(part as Buffer);
  return Buffer.concat(bytes).toString();
}

class Conversation {
  readonly bodies: string[] = [];
  readonly others: string[] = [];
  failure: string | undefined;
  finished = false;
  #calls = 0;
  #pending: string | undefined;
  readonly #wire: Wire;
  readonly #program: Program;

  constructor(wire: Wire, program: Program) {
    this.#wire = wire;
    this.#program = program;
  }

  async #next(body: string): Promise<Step> {
    const result = this.#pending && this.#wire.resultOf(JSON.parse(body), this.#pending);
    if (this.finished || (this.#pending && result === undefined)) {
      this.others.push('a request beside the conversation');
      return { kind: 'say', text: 'ok' };
    }
    this.#calls += 1;
    this.#pending = `call_${this.#calls}`;
    try {
      const { done, value } = await this.#program.next(result ?? '');
      this.finished = done ?? false;
      return done ? { kind: 'say', text: value } : value;
    } catch (error) {
      this.failure = (error as Error).message;
      this.finished = true;
      return { kind: 'say', text: 'GIVEN UP' };
    }
  }

  async serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(message.url ?? '/', 'http://x');
    const body = await bodyOf(message);
    if (message.method !== 'POST' || pathname !== this.#wire.path) {
      this.others.push(`${message.method} ${pathname}`);
      response.writeHead(404).end();
      return;
    }
    this.bodies.push(body);
    const step = await this.#next(body);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of this.#wire.answer(step, this.#pending ?? 'none')) {
      response.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  }
}

/** Starts it on a free port. @param name Under which name the client has registered it. */
export async function openEndpoint(client: ClientName, name: string, program: Program): Promise<Endpoint> {
  const conversation = new Conversation(WIRES[client](name), program);
  const server = createServer((message, response) => {
    conversation.serve(message, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies: conversation.bodies,
    others: conversation.others,
    get failure() {
      return conversation.failure;
    },
    get finished() {
      return conversation.finished;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
