/**
 * The running server without its edges: charts wired to ports, and the facade
 * that the MCP adapter and the process's triggers talk to.
 */
import {
  type Actor,
  type ActorOptions,
  type ActorRefFrom,
  type AnyActorLogic,
  createActor,
  type InspectionEvent,
} from 'xstate';
import { createAsk } from '../adapters/mcp/ask.ts';
import type { Configuration, ExecutionProfile } from '../config/configuration.ts';
import type { ProcessEvent } from '../machines/process/process.machine.ts';
import type { RegistryEvent, registryMachine } from '../machines/session/registry.machine.ts';
import type { sessionMachine } from '../machines/session/session.machine.ts';
import type { Deadlines } from '../machines/shared/deadlines.ts';
import type { AgentPort, StartFailure, StartRequest } from '../ports/agent.ts';
import type { Diagnostics } from '../ports/diagnostics.ts';
import type { ErrorCode } from '../ports/error-code.ts';
import type { TurnEvents } from '../ports/events.ts';
import type { Failure, PromptReply, Reply, SessionReply, SessionService } from '../ports/session-service.ts';
import type { TransportPort } from '../ports/transport.ts';
import type { CodingAdmission } from '../ports/writers/admission.ts';
import { wireAdmission } from './coding-admission.ts';
import { lateChart } from './late-chart.ts';
import { getSession, getTurn, listSessions } from './views.ts';
import { type Wiring, wireCharts } from './wiring.ts';

export interface ServerAppOptions {
  readonly configuration: Configuration;
  readonly agent: AgentPort;
  readonly transport: TransportPort;
  readonly diagnostics: Diagnostics;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Fresh UUIDs for sessions and turns. */
  readonly newId: () => string;
  /** Only where the operator wants them. */
  readonly turnEvents?: TurnEvents;
  /** Only in a writer's box. */
  readonly admission?: CodingAdmission;
  /** Loads the session side with the first start; a test may have it loaded already. */
  readonly loadSessionWiring?: () => Promise<typeof import('./session-wiring.ts')>;
  readonly clock?: NonNullable<ActorOptions<AnyActorLogic>['clock']>;
  readonly deadlines?: Deadlines;
  readonly inspect?: (event: InspectionEvent) => void;
}

export interface ServerApp {
  readonly service: SessionService;
  /** The transport is connected. */
  ready(): void;
  /** The client is gone: stdin ended or a pipe broke. */
  end(): void;
  /** @param status 128 plus the signal's number. */
  signal(status: number): void;
  /** Something broke its own rules; the process ends with status 1. */
  defect(): void;
  /** Resolves with the exit status once the process chart has ended. */
  readonly exited: Promise<number>;
}

type Question<T> = T extends { readonly requestId: string } ? Omit<T, 'requestId'> : never;
type RequestEvent = Extract<RegistryEvent, { readonly requestId: string }>;

const STOPPING: Failure = { ok: false, code: 'server_stopping' };
const DEFECTIVE: Failure = { ok: false, code: 'internal_error' };
const DEFECT_STATUS = 1;

export function createServerApp(options: ServerAppOptions): ServerApp {
  const { configuration, diagnostics, newId } = options;
  const ask = createAsk<Question<RequestEvent>, Reply>(
    (event) => registry.send(event as RequestEvent),
    () => diagnostics.report('error', 'reply_unclaimed'),
  );
  // Pipes and signals go on after the chart has ended.
  const tell = (event: ProcessEvent) => {
    if (root.getSnapshot().status === 'active') root.send(event);
  };
  const wiring: Wiring = {
    agent: options.agent,
    transport: options.transport,
    now: options.now,
    reply: (answers) => {
      for (const { requestIds, reply } of answers) for (const id of requestIds) ask.deliver(id, reply);
    },
    reportRefusal: (failure, request) => reportRefusal(options, failure, request),
    // Not from within an action: the root would resolve its own actions inside it.
    reportDefect: () => queueMicrotask(() => tell({ type: 'DEFECT' })),
    ...(options.turnEvents && { turnEvents: options.turnEvents }),
    ...(options.deadlines && { deadlines: options.deadlines }),
  };
  const sessionSide = createSessionSide(options, wiring);
  const root = createActor(wireCharts(wiring, sessionSide.chart), {
    ...(options.clock && { clock: options.clock }),
    ...(options.inspect && { inspect: options.inspect }),
    // The default logger writes to stdout, which carries the protocol.
    logger: () => {},
  });
  const exited = whenExited(root, options, () => ask.failAll(STOPPING));
  root.start();
  const registry = root.getSnapshot().children.registry as ActorRefFrom<typeof registryMachine>;

  // A machine answers only while it runs; afterwards nobody would.
  const question = <T extends Reply>(event: Question<RequestEvent>): Promise<T> =>
    registry.getSnapshot().status === 'active' ? (ask.ask(event) as Promise<T>) : Promise.resolve(STOPPING as T);

  const admit = wireAdmission(options.admission, registry);

  const service: SessionService = {
    start: ({ workspace, executionProfile }) => {
      const profile = resolveStart(configuration, workspace, executionProfile);
      if (typeof profile === 'string') return Promise.resolve({ ok: false, code: profile });
      const session = { id: newId(), workspace, executionProfile: profile.alias, profile: profile.permissionProfile };
      const begin = () => question<SessionReply>({ type: 'START', session });
      return sessionSide.load().then(
        () => (profile.permissionProfile === 'coding' ? admit(begin) : begin()),
        () => DEFECTIVE,
      );
    },
    prompt: ({ sessionId, prompt }) => question<PromptReply>({ type: 'PROMPT', sessionId, turnId: newId(), prompt }),
    abort: ({ sessionId }) => question<SessionReply>({ type: 'ABORT', sessionId }),
    close: ({ sessionId }) => question<SessionReply>({ type: 'CLOSE', sessionId }),
    list: () => listSessions(registry),
    get: (sessionId) => getSession(registry, sessionId),
    turn: (sessionId, turnId) => getTurn(registry, sessionId, turnId),
  };
  return {
    service,
    ready: () => tell({ type: 'READY' }),
    end: () => tell({ type: 'END' }),
    signal: (status) => tell({ type: 'SIGNAL', status }),
    defect: () => tell({ type: 'DEFECT' }),
    exited,
  };
}

function createSessionSide(
  { loadSessionWiring = () => import('./session-wiring.ts') }: ServerAppOptions,
  wiring: Wiring,
) {
  let wired: typeof sessionMachine | undefined;
  return {
    async load() {
      if (wired !== undefined) return;
      const [sessionSide] = await Promise.all([loadSessionWiring(), wiring.turnEvents?.begin()]);
      wired ??= sessionSide.wireSession(wiring);
    },
    chart: lateChart(() => {
      if (wired === undefined) throw new Error('no session starts before its side is loaded');
      return wired;
    }),
  };
}

/** The aliases' profile, or the code that refuses them. */
function resolveStart(
  configuration: Configuration,
  workspaceAlias: string,
  profileAlias = configuration.defaultExecutionProfile,
): ExecutionProfile | ErrorCode {
  const workspace = configuration.workspaces[workspaceAlias];
  if (workspace === undefined) return 'unknown_workspace';
  const profile = configuration.executionProfiles[profileAlias];
  if (profile === undefined) return 'unknown_execution_profile';
  const forbidsCoding = workspace.mode === 'container' || workspace.mode === 'read-only';
  return forbidsCoding && profile.permissionProfile === 'coding' ? 'workspace_mode_forbids_coding' : profile;
}

function reportRefusal({ configuration, diagnostics }: ServerAppOptions, failure: StartFailure, request: StartRequest) {
  const profile = configuration.executionProfiles[request.executionProfile];
  diagnostics.report('error', 'pi_session_creation_failed', {
    stage: failure.stage,
    code: failure.code,
    executionProfile: request.executionProfile,
    ...(profile && { provider: profile.provider, model: profile.model, thinkingLevel: profile.thinkingLevel }),
    ...failure.subject,
  });
}

/**
 * The one observer of the root. A chart that threw leaves its children running,
 * so whatever the adapters hold is let go of here, in every case.
 */
function whenExited(
  root: Actor<ReturnType<typeof wireCharts>>,
  { agent, diagnostics }: ServerAppOptions,
  answerTheRest: () => void,
): Promise<number> {
  return new Promise((resolve) => {
    const finish = (status: number) => {
      answerTheRest();
      agent.disposeAll();
      resolve(status);
    };
    root.subscribe({
      complete: () => finish(root.getSnapshot().output?.status ?? DEFECT_STATUS),
      error: () => {
        diagnostics.report('error', 'internal_error', { code: 'chart_defect' });
        finish(DEFECT_STATUS);
      },
    });
  });
}
