/** The grants port: the external servers of each session, each on a chart of its own. */
import type { Configuration, GrantedServer } from '../config/configuration.ts';
import type { FoundTool, OpenReply } from '../machines/grants/discovery.ts';
import type { StartFailure, StartRequest } from '../ports/agent.ts';
import type { Diagnostics } from '../ports/diagnostics.ts';
import type { CallReply, ConnectionPort, GrantedTool, GrantsOutcome, GrantsPort } from '../ports/grants.ts';
import { type RunningConnection, type RunOptions, runConnection } from './grant-connection.ts';

/** Where a server is to run. */
export interface ServerPlace {
  readonly sessionId: string;
  /** Absolute path of the workspace. */
  readonly directory: string;
}

export interface GrantHostOptions extends Omit<RunOptions, 'onDefect'> {
  readonly configuration: Configuration;
  readonly diagnostics: Diagnostics;
  /** Starts nothing yet. */
  readonly connect: (server: GrantedServer, place: ServerPlace) => ConnectionPort;
  /** Ends what a session's servers have left behind. */
  readonly sweep: (sessionId: string) => Promise<void>;
}

interface Link {
  readonly server: GrantedServer;
  readonly port: ConnectionPort;
  readonly connection: RunningConnection;
}

/** Composite name → where a call of it goes. */
type Tools = ReadonlyMap<string, { readonly link: Link; readonly tool: FoundTool }>;

interface SessionLinks {
  readonly links: readonly Link[];
  tools: Tools;
}

const UNAVAILABLE: CallReply = { ok: false, reason: 'unavailable' };

export function createGrantHost(options: GrantHostOptions): GrantsPort {
  const { configuration, diagnostics } = options;
  const sessions = new Map<string, SessionLinks>();
  const run: RunOptions = { ...options, onDefect: (code) => diagnostics.report('error', 'internal_error', { code }) };

  function link(server: GrantedServer, place: ServerPlace): Link {
    const port = options.connect(server, place);
    const grants = Object.entries(server.tools).map(([alias, { name }]) => ({ alias, name }));
    return { server, port, connection: runConnection(port, { grants }, run) };
  }

  async function open(request: StartRequest, signal: AbortSignal): Promise<GrantsOutcome> {
    const { sessionId } = request;
    const workspace = configuration.workspaces[request.workspace];
    const servers = configuration.executionProfiles[request.executionProfile]?.mcpServers;
    if (!workspace || !servers || sessions.has(sessionId) || signal.aborted) return refusal({});
    const links = servers.map((server) => link(server, { sessionId, directory: workspace.directory }));
    const session: SessionLinks = { links, tools: new Map() };
    sessions.set(sessionId, session);
    const closeAll = (): void => void close(sessionId);
    // Also when the success is on its way and nobody wants it any more.
    signal.addEventListener('abort', closeAll, { once: true });
    let failure: StartFailure | undefined;
    const opened = links.map(async (each) => {
      const reply = await each.connection.open();
      if (reply.ok) return [each, reply.tools] as const;
      // The first to fail is to blame; the others fail because of it.
      failure ??= failureOf(each.server, reply);
      closeAll();
      return [each, []] as const;
    });
    const tools = toolsOf(await Promise.all(opened));
    if (failure) return failure;
    session.tools = tools;
    return { ok: true };
  }

  async function close(sessionId: string): Promise<void> {
    const session = sessions.get(sessionId);
    if (!session) return;
    await Promise.all(session.links.map(({ connection }) => connection.close()));
    await options.sweep(sessionId);
    sessions.delete(sessionId);
  }

  return {
    open,
    tools: (sessionId) =>
      [...(sessions.get(sessionId)?.tools ?? [])].map(([name, { tool }]) => grantedTool(name, tool)),
    async call(sessionId, name, args, signal) {
      const found = sessions.get(sessionId)?.tools.get(name);
      if (!found) return UNAVAILABLE;
      return found.link.connection.call({ name: found.tool.name, args }, signal);
    },
    close,
    abandon() {
      for (const { links } of sessions.values()) for (const { port } of links) void port.kill().catch(() => {});
    },
  };
}

function toolsOf(opened: readonly (readonly [Link, readonly FoundTool[]])[]): Tools {
  return new Map(
    opened.flatMap(([link, tools]) =>
      tools.map((tool) => [`mcp_${link.server.alias}_${tool.alias}`, { link, tool }] as const),
    ),
  );
}

function grantedTool(name: string, { description, inputSchema }: FoundTool): GrantedTool {
  return { name, description, inputSchema };
}

function failureOf({ alias }: GrantedServer, { code, tool }: Extract<OpenReply, { readonly ok: false }>): StartFailure {
  return refusal({ server: alias, ...(tool !== undefined && { tool }) }, code);
}

function refusal(
  subject: NonNullable<StartFailure['subject']>,
  code: StartFailure['code'] = 'external_mcp_unavailable',
): StartFailure {
  return { ok: false, code, stage: 'mcp_tools', subject };
}
