/** What a controller did, from what its client printed. */
import type { ClientName } from './wire/wire.ts';

export interface McpCall {
  readonly kind: 'mcp';
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Each form of the result that the client printed: text, structured, or both. */
  readonly results: readonly string[];
}

/** A command or a read of the controller's own. */
export interface OwnCall {
  readonly kind: 'own';
  readonly text: string;
}

export type Call = McpCall | OwnCall;

type Json = Readonly<Record<string, unknown>>;

function linesOf(stdout: string): readonly Json[] {
  return stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Json] : []));
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  return ((content ?? []) as readonly { readonly text?: string }[]).map((block) => block.text ?? '').join('');
}

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: Json;
  readonly tool_use_id?: string;
  readonly content?: unknown;
}

function claudeCalls(server: string, stdout: string): readonly Call[] {
  const prefix = `mcp__${server}__`;
  const messages = linesOf(stdout).map((line) => line['message'] as { readonly content?: unknown } | undefined);
  const blocks = messages.flatMap((message) => (Array.isArray(message?.content) ? (message.content as Block[]) : []));
  return blocks.flatMap(({ type, id, name = '', input = {} }): Call[] => {
    if (type !== 'tool_use') return [];
    if (!name.startsWith(prefix)) return [{ kind: 'own', text: JSON.stringify(input) }];
    const result = blocks.find((block) => block.type === 'tool_result' && block.tool_use_id === id);
    const results = result ? [textIn(result.content)] : [];
    return [{ kind: 'mcp', tool: name.slice(prefix.length), args: input, results }];
  });
}

interface Item {
  readonly type: string;
  readonly server?: string;
  readonly tool?: string;
  readonly arguments?: Json;
  readonly command?: string;
  readonly result?: { readonly content?: unknown; readonly structured_content?: unknown } | null;
}

function codexCalls(server: string, stdout: string): readonly Call[] {
  const done = linesOf(stdout).filter((line) => line['type'] === 'item.completed');
  return done.flatMap((line): Call[] => {
    const item = line['item'] as Item;
    if (item.type === 'command_execution') return [{ kind: 'own', text: item.command ?? '' }];
    if (item.type !== 'mcp_tool_call' || item.server !== server) return [];
    const { content, structured_content: structured } = item.result ?? {};
    const results = [...(content ? [textIn(content)] : []), ...(structured ? [JSON.stringify(structured)] : [])];
    return [{ kind: 'mcp', tool: item.tool ?? '', args: item.arguments ?? {}, results }];
  });
}

/** All finished calls, in their order. @param server Whose tools are ours. */
export function callsOf(client: ClientName, server: string, stdout: string): readonly Call[] {
  return client === 'codex' ? codexCalls(server, stdout) : claudeCalls(server, stdout);
}
