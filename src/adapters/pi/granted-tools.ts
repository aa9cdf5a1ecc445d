/** Granted tools of external MCP servers, as tools of a Pi session. */
import type { ExecutionProfile } from '../../config/configuration.ts';
import type { StartFailure } from '../../ports/agent.ts';
import type { CallReply, GrantedTool, GrantsPort } from '../../ports/grants.ts';
import type { AgentSession, ToolDefinition } from './sdk.ts';
import { startFailure } from './selection.ts';

type Reason = Extract<CallReply, { readonly ok: false }>['reason'];

const ASK_FOR_LESS = 'Ask for less: a smaller part, fewer items or a narrower search.';

/** All that a model ever reads of a call that failed. */
const FAILURES: Readonly<Record<Reason, string>> = {
  result_too_large: `The result was dropped, because it is over the limit of 262144 bytes. ${ASK_FOR_LESS}`,
  source_too_large: `The tool cannot read a source that large. ${ASK_FOR_LESS}`,
  failed: 'The external tool failed.',
  timeout: 'The external tool did not answer within 30 seconds.',
  cancelled: 'The call was cancelled.',
  unavailable: 'The external tool is no longer available in this session.',
};

export function grantedToolNames({ mcpServers }: ExecutionProfile): string[] {
  return mcpServers.flatMap(({ alias, tools }) => Object.keys(tools).map((tool) => `mcp_${alias}_${tool}`));
}

/** What the SDK is to offer besides its own tools. */
export function grantedTools(grants: GrantsPort, sessionId: string): ToolDefinition[] {
  return grants.tools(sessionId).map((tool) => definitionOf(grants, sessionId, tool));
}

function definitionOf(grants: GrantsPort, sessionId: string, tool: GrantedTool): ToolDefinition {
  const { name, description, inputSchema } = tool;
  return {
    name,
    label: name,
    description: description || 'A tool that the operator granted.',
    // Any JSON Schema for an object will do; the SDK's own type is one too.
    parameters: inputSchema as ToolDefinition['parameters'],
    executionMode: 'sequential',
    async execute(_callId, args, signal) {
      const reply = await grants.call(sessionId, name, args as Readonly<Record<string, unknown>>, signal);
      if (reply.ok) return { content: [...reply.content], details: {} };
      return { content: [{ type: 'text', text: FAILURES[reply.reason] }], details: {}, isError: true };
    },
  };
}

/** Every granted tool is in use when the session is admitted. Whatever else is in use is judged elsewhere. */
export function verifyGrants(session: AgentSession, profile: ExecutionProfile): StartFailure | undefined {
  const active = session.getActiveToolNames();
  const callable = session.getCallableToolNames();
  const isInUse = (name: string): boolean => active.includes(name) && callable.includes(name);
  const mismatch = startFailure('external_mcp_activation_mismatch', 'postcheck');
  return grantedToolNames(profile).every(isInUse) ? undefined : mismatch;
}
