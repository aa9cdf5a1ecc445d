/** The agent port on the embedded Pi SDK. Translates; every lifecycle decision is a chart's. */
import type { Configuration } from '../../config/configuration.ts';
import type { AgentPort, CreateOutcome, StartRequest, TurnRef } from '../../ports/agent.ts';
import type { Diagnostics } from '../../ports/diagnostics.ts';
import type { GrantsPort } from '../../ports/grants.ts';
import { grantedTools } from './granted-tools.ts';
import { createRuntimeSource, type OpenedRuntime } from './model-runtime.ts';
import { startFailure } from './selection.ts';
import { buildSession, type PiSettings } from './session-builder.ts';
import { SessionHandle } from './session-handle.ts';
import { createStartSteps } from './start-steps.ts';
import type { ToolChildren } from './tool-children.ts';

export interface PiAgentOptions {
  readonly configuration: Configuration;
  readonly diagnostics: Diagnostics;
  /** Owner of the processes that tools start. */
  readonly childScope: ToolChildren;
  /** External servers that profiles grant; without it such a profile does not start. */
  readonly grants?: GrantsPort;
  /** Pi's agent directory; the SDK's own default when absent. */
  readonly agentDir?: string;
  /** For tests: how Pi retries. */
  readonly piSettings?: PiSettings;
}

type TurnCalls = Pick<AgentPort, 'admitPrompt' | 'settlePrompt' | 'runTurn' | 'watchTurn' | 'abortTurn'>;

function turnCalls(handles: ReadonlyMap<string, SessionHandle>): TurnCalls {
  const turnOf = (ref: TurnRef) => handles.get(ref.sessionId)?.turnOf(ref.turnId);
  return {
    async admitPrompt({ sessionId, turnId, prompt }, signal) {
      return (await handles.get(sessionId)?.admit(turnId, prompt, signal)) ?? { disposition: 'refused' };
    },
    async settlePrompt(ref) {
      await turnOf(ref)?.settled;
    },
    async runTurn(ref) {
      const turn = turnOf(ref);
      await turn?.settled;
      return turn?.result ?? { state: 'failed' };
    },
    watchTurn(ref, onActivity) {
      const turn = turnOf(ref);
      turn?.activity.add(onActivity);
      return () => void turn?.activity.delete(onActivity);
    },
    async abortTurn(ref) {
      const turn = turnOf(ref);
      return (turn && (await handles.get(ref.sessionId)?.abort(turn))) ?? { ok: true };
    },
  };
}

/** Nothing of the SDK is loaded before the first `selectModel`. */
export function createPiAgent(options: PiAgentOptions): AgentPort {
  const { configuration, diagnostics, childScope, grants } = options;
  const handles = new Map<string, SessionHandle>();
  const runtime = createRuntimeSource(options.agentDir, () => childScope.markServer());
  const starts = createStartSteps(configuration, runtime);
  const profileOf = (request: StartRequest) => configuration.executionProfiles[request.executionProfile];

  /** A creation that fails, or that nobody waits for any more, lets go of the session's servers. */
  async function createGranted(request: StartRequest, signal: AbortSignal): Promise<CreateOutcome> {
    const close = (): void => void grants?.close(request.sessionId);
    signal.addEventListener('abort', close, { once: true });
    const created = await createSession(request, signal);
    signal.removeEventListener('abort', close);
    if (!created.ok) close();
    return created;
  }

  async function createSession(request: StartRequest, signal: AbortSignal): Promise<CreateOutcome> {
    const { sessionId } = request;
    const profile = profileOf(request);
    const workspace = configuration.workspaces[request.workspace];
    if (!profile || !workspace || signal.aborted || handles.has(sessionId)) {
      starts.extensions.drop(sessionId);
      return startFailure('pi_session_creation_failed', 'create_session');
    }
    let opened: OpenedRuntime;
    try {
      opened = await starts.openedFor(request, profile);
    } catch {
      return startFailure('pi_session_creation_failed', 'runtime');
    }
    const extensions = starts.extensions.take(sessionId);
    const settings = options.piSettings ?? {};
    const { directory } = workspace;
    const granted = grants ? grantedTools(grants, sessionId) : [];
    const common = { opened, sessionId, profile, directory, children: childScope, diagnostics, settings };
    const input = { ...common, extensions, granted };
    const built = await buildSession(input, signal);
    if (!built.ok) return built;
    const { session, selection } = built;
    handles.set(sessionId, new SessionHandle({ sessionId, session, children: childScope, diagnostics }));
    return { ok: true, selection };
  }

  /** External servers may end by themselves before whatever is left of the session is ended. */
  async function endChildren(sessionId: string): Promise<void> {
    await grants?.close(sessionId);
    await childScope.endSession(sessionId);
  }

  return {
    selectModel: starts.selectModel,
    checkAuthentication: starts.checkAuthentication,
    readAuthentication: starts.readAuthentication,
    checkAvailability: starts.checkAvailability,
    connectTools: starts.during(async (request, signal) => {
      if (profileOf(request)?.mcpServers.length === 0) return { ok: true };
      return grants?.open(request, signal) ?? startFailure('external_mcp_unavailable', 'mcp_tools');
    }),
    createSession: createGranted,
    ...turnCalls(handles),
    async disposeSession(sessionId) {
      starts.extensions.drop(sessionId);
      const handle = handles.get(sessionId);
      if (!handle) return;
      handles.delete(sessionId);
      // The run is told to stop at once, so what its tools have started need not wait for an extension.
      await Promise.all([handle.dispose(), endChildren(sessionId)]);
    },
    disposeAll() {
      starts.extensions.dropAll();
      const open = [...handles.values()];
      handles.clear();
      for (const handle of open) void handle.dispose(true);
      grants?.abandon();
      childScope.abandon();
    },
  };
}
