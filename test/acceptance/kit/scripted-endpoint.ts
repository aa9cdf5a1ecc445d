/** The clients' own models, scripted: Anthropic's messages and OpenAI's responses, streamed on loopback. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Step {
  /** A call of one of our tools by its own name. */
  readonly tool?: string;
  readonly args?: object;
  readonly text?: string;
}

export interface Asked {
  readonly path: string;
  readonly body: string;
}

/** Chooses the step by what the client has sent so far; `index` counts the model requests. */
export type Script = (index: number, body: string) => Step;

export interface Endpoint {
  readonly origin: string;
  /** Every request for an answer of the model. */
  readonly asked: readonly Asked[];
  /** Anything else that the client wanted. */
  readonly others: readonly string[];
}

type Wording = (step: Step, index: number) => readonly object[];

function anthropic(step: Step, index: number): readonly object[] {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: `msg_${index}`, type: 'message', role: 'assistant', model: 'scripted', content: [], usage };
  const [block, delta] = step.tool
    ? [
        { type: 'tool_use', id: `toolu_${index}`, name: `mcp__pi__${step.tool}`, input: {} },
        { type: 'input_json_delta', partial_json: JSON.stringify(step.args ?? {}) },
      ]
    : [
        { type: 'text', text: '' },
        { type: 'text_delta', text: step.text ?? '' },
      ];
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: step.tool ? 'tool_use' : 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
}

function responses(step: Step, index: number): readonly object[] {
  const id = `resp_${index}`;
  const item = step.tool
    ? {
        type: 'function_call',
        id: `fc_${index}`,
        call_id: `call_${index}`,
        name: step.tool,
        // Codex calls a tool by its name in the server's namespace, never by both in one.
        namespace: 'mcp__pi',
        arguments: JSON.stringify(step.args ?? {}),
      }
    : {
        type: 'message',
        id: `m_${index}`,
        role: 'assistant',
        content: [{ type: 'output_text', text: step.text ?? '' }],
      };
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
  };
  return [
    { type: 'response.created', response: { id } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id, usage } },
  ];
}

const WORDINGS: Readonly<Record<string, Wording>> = { '/v1/messages': anthropic, '/v1/responses': responses };

async function textOf(message: IncomingMessage): Promise<string> {
  const bytes: Buffer[] = [];
  for await (const part of message) bytes.push(part as Buffer);
  return Buffer.concat(bytes).toString();
}

/** Starts it on a free port, for the running test. */
export async function startEndpoint(script: Script): Promise<Endpoint> {
  const asked: Asked[] = [];
  const others: string[] = [];
  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path } = new URL(message.url ?? '/', 'http://x');
    const body = await textOf(message);
    const wording = message.method === 'POST' ? WORDINGS[path] : undefined;
    if (!wording) {
      others.push(`${message.method} ${path}`);
      response.writeHead(404).end();
      return;
    }
    const index = asked.push({ path, body }) - 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of wording(script(index, body), index)) {
      response.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  }
  const server = createServer((message, response) => {
    serve(message, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, others };
}
