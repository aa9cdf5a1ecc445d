/** The agent port on the embedded Pi SDK. Translates; every lifecycle decision is a chart's. */
import type { Configuration, ExecutionProfile } from '../../config/configuration.ts';
import type { AgentPort, CreateOutcome, StartRequest, StepOutcome, TurnRef } from '../../ports/agent.ts';
import type { Diagnostics } from '../../ports/diagnostics.ts';
import { createRuntimeSource, type OpenedRuntime } from './model-runtime.ts';
import { checkAuthentication, checkAvailability, readAuthentication, selectModel, startFailure } from './selection.ts';
import { buildSession, type PiSettings } from './session-builder.ts';
import { SessionHandle } from './session-handle.ts';
import type { ToolChildren } from './tool-children.ts';

export interface PiAgentOptions {
  readonly configuration: Configuration;
  readonly diagnostics: Diagnostics;
  /** Owner of the processes that tools start. */
  readonly childScope: ToolChildren;
  /** Pi's agent directory; the SDK's own default when absent. */
  readonly agentDir?: string;
  /** For tests: how Pi retries. */
  readonly piSettings?: PiSettings;
}

type Step = (opened: OpenedRuntime, profile: ExecutionProfile, signal: AbortSignal) => Promise<StepOutcome>;

/** Nothing of the SDK is loaded before the first `selectModel`. */
export function createPiAgent(options: PiAgentOptions): AgentPort {
  const { configuration, diagnostics, childScope } = options;
  const handles = new Map<string, SessionHandle>();
  const runtime = createRuntimeSource(options.agentDir, () => childScope.markServer());
  const turnOf = (ref: TurnRef) => handles.get(ref.sessionId)?.turnOf(ref.turnId);
  const profileOf = (request: StartRequest) => configuration.executionProfiles[request.executionProfile];

  async function step(request: StartRequest, signal: AbortSignal, run: Step): Promise<StepOutcome> {
    const profile = profileOf(request);
    if (!profile) return startFailure('pi_session_creation_failed', 'runtime');
    try {
      return await run(await runtime.open(), profile, signal);
    } catch {
      return startFailure('pi_session_creation_failed', 'runtime');
    }
  }

  async function createSession(request: StartRequest, signal: AbortSignal): Promise<CreateOutcome> {
    const { sessionId } = request;
    const profile = profileOf(request);
    const workspace = configuration.workspaces[request.workspace];
    if (!profile || !workspace || signal.aborted || handles.has(sessionId)) {
      return startFailure('pi_session_creation_failed', 'create_session');
    }
    let opened: OpenedRuntime;
    try {
      opened = await runtime.open();
    } catch {
      return startFailure('pi_session_creation_failed', 'runtime');
    }
    const settings = options.piSettings ?? {};
    const { directory } = workspace;
    const input = { opened, sessionId, profile, directory, children: childScope, diagnostics, settings };
    const built = await buildSession(input, signal);
    if (!built.ok) return built;
    const { session, selection } = built;
    handles.set(sessionId, new SessionHandle({ sessionId, session, children: childScope, diagnostics }));
    return { ok: true, selection };
  }

  return {
    async selectModel(request) {
      const profile = profileOf(request);
      if (!profile) return startFailure('pi_session_creation_failed', 'runtime');
      return selectModel(runtime, profile);
    },
    checkAuthentication: (request, signal) => step(request, signal, checkAuthentication),
    readAuthentication: (request, signal) => step(request, signal, readAuthentication),
    checkAvailability: (request, signal) => step(request, signal, checkAvailability),
    async connectTools(request) {
      const [server] = profileOf(request)?.mcpServers ?? [];
      if (!server) return { ok: true };
      return { ...startFailure('external_mcp_unavailable', 'mcp_tools'), subject: { server: server.alias } };
    },
    createSession,
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
    async disposeSession(sessionId) {
      const handle = handles.get(sessionId);
      if (!handle) return;
      handles.delete(sessionId);
      handle.dispose();
      await childScope.endSession(sessionId);
    },
    disposeAll() {
      const open = [...handles.values()];
      handles.clear();
      for (const handle of open) handle.dispose();
      childScope.abandon();
    },
  };
}
