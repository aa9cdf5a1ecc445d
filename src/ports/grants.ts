import type { StartFailure, StartRequest } from './agent.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** One tool as an external server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  /** Null: what the server says about arguments or results is no schema that anything could be held against. */
  readonly inputSchema: JsonSchema | null;
}

export type ConnectOutcome = { readonly ok: boolean };

export type PageOutcome =
  | { readonly ok: true; readonly tools: readonly ListedTool[]; readonly nextCursor: string | null }
  | { readonly ok: false };

/** What of a result a model may see. */
export type GrantContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string };

/** `source_too_large` is the one failure that a server can tell us about (docs/external-mcp.md). */
export type CallOutcome =
  | { readonly ok: true; readonly content: readonly GrantContent[] }
  | { readonly ok: false; readonly reason: 'result_too_large' | 'source_too_large' | 'failed' };

export interface GrantCall {
  /** The server's own name of the tool. */
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * What the connection chart may ask of one external server. Every call resolves
 * to an outcome; a rejection is a defect and counts as that call's failure. An
 * aborted call lets go of what it waits for. The three ways to end the child may
 * be asked in any order, again, and before there is a child.
 */
export interface ConnectionPort {
  /** Starts the child and initializes the protocol. */
  connect(signal: AbortSignal): Promise<ConnectOutcome>;
  /** @param cursor Null for the first page. */
  listPage(cursor: string | null, signal: AbortSignal): Promise<PageOutcome>;
  call(call: GrantCall, signal: AbortSignal): Promise<CallOutcome>;
  /** Calls back once when the server is gone or can no longer be understood; returns the unsubscribe. */
  watch(onLost: () => void): () => void;
  /** Lets the child see the end of its input; resolves when it has ended. */
  endInput(): Promise<void>;
  /** SIGTERM; resolves when it has ended. */
  terminate(): Promise<void>;
  /** SIGKILL; resolves when it has ended. */
  kill(): Promise<void>;
}

/** One granted tool of one session. */
export interface GrantedTool {
  /** `mcp_<server>_<tool>`. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

export type GrantsOutcome = { readonly ok: true } | StartFailure;

/** The answer to one call of a granted tool. Exactly one is given. */
export type CallReply =
  | Extract<CallOutcome, { readonly ok: true }>
  | {
      readonly ok: false;
      readonly reason: Extract<CallOutcome, { readonly ok: false }>['reason'] | 'timeout' | 'cancelled' | 'unavailable';
    };

/**
 * What the agent's adapter may ask of the external servers of its sessions.
 * Nothing rejects, and a session that is not known has no tools.
 */
export interface GrantsPort {
  /**
   * Connects all servers of the profile side by side. When one of them fails or
   * the signal is aborted, even after the success, all are closed.
   */
  open(request: StartRequest, signal: AbortSignal): Promise<GrantsOutcome>;
  /** The session's tools, in configured order. */
  tools(sessionId: string): readonly GrantedTool[];
  /** @param tool The tool's composite name. */
  call(
    sessionId: string,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<CallReply>;
  /** Resolves when every child of the session's servers has ended, or its bound is over; may be asked again. */
  close(sessionId: string): Promise<void>;
  /** Synchronously ends every child; for the end of the process only. */
  abandon(): void;
}
