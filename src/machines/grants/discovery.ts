/** Which of a server's tools a session gets; pure, over what the server has listed. */
import type { JsonSchema, ListedTool } from '../../ports/grants.ts';

/** Pages that are asked for, and tools that are looked at, before a server counts as broken. */
export const MAX_PAGES = 16;
export const MAX_TOOLS = 512;

export interface Grant {
  /** The operator's alias of the tool. */
  readonly alias: string;
  /** The server's name of it. */
  readonly name: string;
}

export interface FoundTool extends Grant {
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

export type OpenRefusal = {
  readonly ok: false;
  readonly code: 'external_mcp_unavailable' | 'external_mcp_no_tools' | 'external_mcp_grant_tool_missing';
  /** Alias of the tool to blame. */
  readonly tool?: string;
};

/** The answer to OPEN. */
export type OpenReply = { readonly ok: true; readonly tools: readonly FoundTool[] } | OpenRefusal;

export const UNAVAILABLE: OpenRefusal = { ok: false, code: 'external_mcp_unavailable' };

/**
 * Exactly the granted tools, in configured order, or why not. A name that is
 * listed twice could mean either tool, so nothing of such a list is believed.
 */
export function discover(grants: readonly Grant[], listed: readonly ListedTool[]): OpenReply {
  if (listed.length === 0) return { ok: false, code: 'external_mcp_no_tools' };
  const byName = new Map(listed.map((tool) => [tool.name, tool]));
  if (byName.size < listed.length) return UNAVAILABLE;
  const tools: FoundTool[] = [];
  for (const { alias, name } of grants) {
    const tool = byName.get(name);
    if (tool === undefined) return { ok: false, code: 'external_mcp_grant_tool_missing', tool: alias };
    const { description, inputSchema } = tool;
    if (inputSchema === null) return { ...UNAVAILABLE, tool: alias };
    tools.push({ alias, name, description, inputSchema });
  }
  return { ok: true, tools };
}
