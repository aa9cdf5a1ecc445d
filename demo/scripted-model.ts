/**
 * A model that says what its script says: an OpenAI-compatible chat endpoint on
 * loopback, for the demo, the tests and the benchmarks. Costs nothing, needs no
 * network and no credential.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export const SCRIPTED_PROVIDER = 'scripted';
/** Knows no thinking level but `off`. */
export const SCRIPTED_MODEL = 'scripted-1';
/** Knows `minimal` to `high`. */
export const SCRIPTED_THINKER = 'scripted-thinker';

export interface ScriptedToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What one request is answered with. */
export interface ScriptedStep {
  readonly text?: string;
  readonly tools?: readonly ScriptedToolCall[];
  /** OpenAI's value; by default `tool_calls` or `stop`. `null` ends the stream without one. */
  readonly finishReason?: string | null;
  /** An error status in place of an answer. */
  readonly status?: number;
  /** Never answers, or only with headers. The client has to give up. */
  readonly hang?: 'before-headers' | 'after-headers';
  /** Awaited before anything is answered; may return the step to answer with in place of this one. */
  readonly delay?: (request: RecordedRequest) => Promise<ScriptedStep | undefined>;
}

export interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly unknown[];
}

export interface RecordedRequest {
  readonly index: number;
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly toolNames: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
  /** Resolves once the client's connection for this request is closed. */
  readonly closed: Promise<void>;
}

export interface ScriptedModelOptions {
  readonly steps?: readonly ScriptedStep[];
  /** Answers everything with this text, as fast as possible, and records nothing. */
  readonly fixed?: string;
  /** Chooses the step by the request, where a list does not do (concurrent sessions). */
  readonly choose?: (request: RecordedRequest) => ScriptedStep;
}

export interface ScriptedModel {
  readonly baseUrl: string;
  readonly requests: readonly RecordedRequest[];
  /** Adds steps to the script. When it is used up, requests are answered with `done`. */
  push(...steps: readonly ScriptedStep[]): void;
  /** Resolves when the request with this index (from 0) has arrived. */
  arrived(index: number): Promise<RecordedRequest>;
  close(): Promise<void>;
}

const SSE_HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };

function chunk(model: string, choice: Readonly<Record<string, unknown>> | undefined, usage?: object): string {
  const choices = choice ? [{ index: 0, ...choice }] : [];
  const object = 'chat.completion.chunk';
  return `data: ${JSON.stringify({ id: 'scripted', object, created: 0, model, choices, ...(usage && { usage }) })}\n\n`;
}

function streamOf(step: ScriptedStep, model: string, index: number): string {
  const parts: string[] = [];
  if (step.text !== undefined) {
    parts.push(chunk(model, { delta: { role: 'assistant', content: step.text }, finish_reason: null }));
  }
  step.tools?.forEach((tool, at) => {
    const call = { name: tool.name, arguments: JSON.stringify(tool.args) };
    const toolCalls = [{ index: at, id: `call_${index}_${at}`, type: 'function', function: call }];
    parts.push(chunk(model, { delta: { role: 'assistant', tool_calls: toolCalls }, finish_reason: null }));
  });
  const reason = step.finishReason === undefined ? (step.tools ? 'tool_calls' : 'stop') : step.finishReason;
  if (reason !== null) parts.push(chunk(model, { delta: {}, finish_reason: reason }));
  parts.push(chunk(model, undefined, { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }));
  return `${parts.join('')}data: [DONE]\n\n`;
}

async function bodyOf(message: IncomingMessage): Promise<Record<string, unknown>> {
  const bytes: Buffer[] = [];
  for await (const part of message) bytes.push(part as Buffer);
  return JSON.parse(Buffer.concat(bytes).toString()) as Record<string, unknown>;
}

function recordOf(index: number, body: Record<string, unknown>, response: ServerResponse): RecordedRequest {
  const tools = (body['tools'] ?? []) as readonly { function: { name: string } }[];
  return {
    index,
    model: String(body['model']),
    messages: (body['messages'] ?? []) as readonly ChatMessage[],
    toolNames: tools.map((tool) => tool.function.name),
    body,
    closed: new Promise((resolve) => response.once('close', () => resolve())),
  };
}

async function answer(response: ServerResponse, request: RecordedRequest, planned: ScriptedStep): Promise<void> {
  const step = (await planned.delay?.(request)) ?? planned;
  if (step.hang === 'before-headers') return;
  if (step.status !== undefined && step.status !== 200) {
    response.writeHead(step.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'scripted failure', type: 'scripted', code: null } }));
    return;
  }
  response.writeHead(200, SSE_HEADERS);
  if (step.hang === 'after-headers') response.flushHeaders();
  else response.end(streamOf(step, request.model, request.index));
}

/** Starts the endpoint on a free loopback port. */
export async function startScriptedModel(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const steps = [...(options.steps ?? [])];
  const requests: RecordedRequest[] = [];
  const waiting: { readonly index: number; readonly resolve: (request: RecordedRequest) => void }[] = [];
  const fixed = options.fixed === undefined ? undefined : streamOf({ text: options.fixed }, SCRIPTED_MODEL, 0);

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    if (fixed !== undefined) {
      message.resume().once('end', () => response.writeHead(200, SSE_HEADERS).end(fixed));
      return;
    }
    const request = recordOf(requests.length, await bodyOf(message), response);
    requests.push(request);
    for (const { index, resolve } of waiting) if (index === request.index) resolve(request);
    const step = options.choose?.(request) ?? steps.shift() ?? { text: 'done' };
    await answer(response, request, step);
  }

  const server = createServer((message, response) => {
    serve(message, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    push: (...more) => void steps.push(...more),
    arrived(index) {
      const known = requests[index];
      if (known) return Promise.resolve(known);
      return new Promise((resolve) => waiting.push({ index, resolve }));
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Writes a disposable Pi agent directory whose only provider is the scripted one. */
export async function writePiAgentDirectory(directory: string, baseUrl: string): Promise<void> {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const common = { input: ['text'], cost, contextWindow: 1_000_000, maxTokens: 4096 };
  const models = [
    { id: SCRIPTED_MODEL, reasoning: false, ...common },
    { id: SCRIPTED_THINKER, reasoning: true, ...common },
  ];
  const provider = { baseUrl, api: 'openai-completions', apiKey: 'not-a-secret', models };
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, 'models.json');
  await writeFile(file, JSON.stringify({ providers: { [SCRIPTED_PROVIDER]: provider } }, null, 2));
}
