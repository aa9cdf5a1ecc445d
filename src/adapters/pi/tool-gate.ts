/** At call time: only tools that were verified when the session was admitted may run. */
import type { AgentSession, ToolDefinition } from './sdk.ts';

/** What the model reads in place of a result. */
const REFUSAL = 'This tool is not available in this session.';

export interface GateRules {
  /** Names that must be exactly the verified tools. */
  readonly verified: readonly string[];
  /** May a tool beyond those run? */
  readonly admits?: (name: string, definition: ToolDefinition) => boolean;
}

/**
 * Closed until it is opened, so that nothing runs before a session is admitted.
 * It compares definitions, not names: a tool that was registered over a
 * verified one is another tool.
 */
export class ToolGate {
  private session: AgentSession | undefined;
  private readonly verified = new Map<string, ToolDefinition | undefined>();
  private admits: GateRules['admits'];

  open(session: AgentSession, rules: GateRules): void {
    this.session = session;
    this.admits = rules.admits;
    for (const name of rules.verified) this.verified.set(name, session.getToolDefinition(name));
  }

  /** For the SDK's hooks: `undefined` lets the call pass. */
  check(name: string): { readonly block: true; readonly reason: string } | undefined {
    const definition = this.session?.getToolDefinition(name);
    if (definition !== undefined) {
      if (this.verified.get(name) === definition) return undefined;
      if (!this.verified.has(name) && this.admits?.(name, definition)) return undefined;
    }
    return { block: true, reason: REFUSAL };
  }
}

/** Stands before the SDK's own hook, for every call that the model makes. */
export function gateModelCalls(session: AgentSession, gate: ToolGate): void {
  const { agent } = session;
  const next = agent.beforeToolCall;
  agent.beforeToolCall = async (context, signal) => gate.check(context.toolCall.name) ?? next?.(context, signal);
}
