/** What a scripted controller may do, and how a client's protocol words it. */

export type Step =
  /** One of our tools, by its own name. */
  | { readonly kind: 'mcp'; readonly tool: string; readonly args: object }
  /** The client's own shell. */
  | { readonly kind: 'shell'; readonly command: string }
  /** Reads an installed skill in the client's own way. */
  | { readonly kind: 'skill'; readonly name: string }
  | { readonly kind: 'say'; readonly text: string };

/** Those that have a wire. */
export type ClientName = 'claude-code' | 'codex';

export interface Wire {
  /** Where the client asks its model. */
  readonly path: string;
  /** Events of a streamed answer. The id names the call, where there is one. */
  answer(step: Step, id: string): readonly object[];
  /** What the call with this id returned, as the model sees it; undefined when the request does not tell. */
  resultOf(request: Readonly<Record<string, unknown>>, id: string): string | undefined;
}

/** @param server Under which name the client has it registered. */
export type WireTo = (server: string) => Wire;

/** The text of content that is a string, or a list of blocks. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content ?? '');
  return (content as readonly { readonly text?: string }[]).map((block) => block.text ?? '').join('\n');
}
