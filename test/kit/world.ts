/**
 * The real assembly with its edges scripted: charts, wiring, facade and `ask`
 * are the product's own; the agent, the transport and time are the test's.
 */
import type { InspectionEvent } from 'xstate';
import { createServerApp, type ServerApp, type ServerAppOptions } from '../../src/app/server-app.ts';
import * as sessionWiring from '../../src/app/session-wiring.ts';
import type { Configuration, ExecutionProfile, WorkspaceMode } from '../../src/config/configuration.ts';
import type { Deadlines } from '../../src/machines/shared/deadlines.ts';
import type { Reply } from '../../src/ports/session-service.ts';
import { ManualClock } from './manual-clock.ts';
import { ScriptedAgent } from './scripted-agent.ts';

/** All different, so that a timer can be told by its delay. */
export const TEST_DEADLINES: Deadlines = {
  authenticationTimeout: 5_001,
  loadingTimeout: 30_010,
  creationTimeout: 10_002,
  connectionTimeout: 10_009,
  externalStartTimeout: 10_010,
  externalCallTimeout: 30_011,
  externalEndTimeout: 1_512,
  externalTerminateTimeout: 1_513,
  externalKillTimeout: 1_514,
  preflightTimeout: 5_003,
  abortTimeout: 5_004,
  closeAbortTimeout: 5_005,
  disposeTimeout: 5_006,
  registryTimeout: 12_007,
  processTimeout: 15_008,
};

export const STARTED_AT = 1_700_000_000_000;
export const SELECTION = { provider: 'scripted', model: 'scripted-1', thinkingLevel: 'off' };

export type RequestKind = 'START' | 'PROMPT' | 'ABORT' | 'CLOSE';

export interface TrackedRequest {
  readonly kind: RequestKind;
  readonly sessionId: string;
  /** Asked when no session could answer any more. */
  readonly isLate: boolean;
  reply: Reply | undefined;
}

export interface Report {
  readonly event: string;
  readonly fields: Readonly<Record<string, string | number>> | undefined;
}

/** Every step of a start before the session is created. */
const START_STEPS = [
  'selectModel',
  'checkAuthentication',
  'readAuthentication',
  'checkAvailability',
  'connectTools',
] as const;

export interface WorldOptions {
  readonly inspect?: (event: InspectionEvent) => void;
  /** Otherwise the test settles the transport's close. */
  readonly transportClosesAtOnce?: boolean;
  /** Another way to put the server together: a wrong one, to show that a test would see it. */
  readonly assemble?: (options: ServerAppOptions) => ServerApp;
}

export class World {
  readonly agent = new ScriptedAgent();
  readonly clock = new ManualClock(STARTED_AT);
  readonly requests: TrackedRequest[] = [];
  readonly reports: Report[] = [];
  readonly app: ServerApp;
  /** Taken, in order, before fresh ids are made up. */
  readonly nextIds: string[] = [];
  exitStatus: number | undefined;
  /** The next look at the time throws, and with it the chart that looks. */
  timeBreaksOnce = false;
  transportClosings = 0;
  settleTransport: ((how: 'closed' | 'broken') => void) | undefined;
  #ids = 0;

  constructor(options: WorldOptions = {}) {
    this.app = (options.assemble ?? createServerApp)({
      configuration: testConfiguration(),
      agent: this.agent,
      transport: { close: () => this.#closeTransport(options.transportClosesAtOnce ?? true) },
      diagnostics: { report: (_level, event, fields) => this.reports.push({ event, fields }) },
      now: () => {
        if (this.timeBreaksOnce) {
          this.timeBreaksOnce = false;
          throw new Error('scripted failure');
        }
        return this.clock.now();
      },
      newId: () => this.nextIds.shift() ?? `id-${++this.#ids}`,
      loadSessionWiring: async () => sessionWiring,
      clock: this.clock,
      deadlines: TEST_DEADLINES,
      ...(options.inspect && { inspect: options.inspect }),
    });
    void this.app.exited.then((status) => {
      this.exitStatus = status;
    });
  }

  /** @returns the new session's id; its start is under way. */
  start(sessionId = `s${++this.#ids}`, executionProfile = 'reader'): string {
    this.nextIds.unshift(sessionId);
    this.#track('START', sessionId, this.app.service.start({ workspace: 'here', executionProfile }));
    return sessionId;
  }

  prompt(sessionId: string): TrackedRequest {
    return this.#track('PROMPT', sessionId, this.app.service.prompt({ sessionId, prompt: 'do it' }));
  }

  abort(sessionId: string): TrackedRequest {
    return this.#track('ABORT', sessionId, this.app.service.abort({ sessionId }));
  }

  close(sessionId: string): TrackedRequest {
    return this.#track('CLOSE', sessionId, this.app.service.close({ sessionId }));
  }

  /** Lets every promise that can settle do so; nothing here waits for time. */
  flush(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** Settles every step of a start well. */
  async open(sessionId: string): Promise<void> {
    for (const step of START_STEPS) {
      this.agent.settle(step, { ok: true }, sessionId);
      await this.flush();
    }
    this.agent.settle('createSession', { ok: true, selection: SELECTION }, sessionId);
    await this.flush();
  }

  async openSession(sessionId?: string): Promise<string> {
    const id = this.start(sessionId);
    await this.flush();
    await this.open(id);
    return id;
  }

  /** @returns the id of the turn that now runs. */
  async runPrompt(sessionId: string): Promise<string> {
    const request = this.prompt(sessionId);
    await this.flush();
    this.agent.settle('admitPrompt', { disposition: 'started' }, sessionId);
    await this.flush();
    if (!request.reply?.ok || !('turn' in request.reply)) throw new Error('the prompt was not admitted');
    return request.reply.turn.turnId;
  }

  /** Settles whatever a closing session waits for, until it is gone. */
  async finishClosing(sessionId: string): Promise<void> {
    for (const operation of ['admitPrompt', 'runTurn', 'abortTurn', 'disposeSession'] as const) {
      while (this.agent.find(operation, sessionId)) {
        this.agent.settle(operation, FAVOURABLE[operation], sessionId);
        await this.flush();
      }
    }
  }

  /** Requests that nobody has answered, oldest first. */
  unanswered(): TrackedRequest[] {
    return this.requests.filter(({ reply }) => reply === undefined);
  }

  #track(kind: RequestKind, sessionId: string, promise: Promise<Reply>): TrackedRequest {
    const isLate = this.agent.isOver || this.transportClosings > 0;
    const request: TrackedRequest = { kind, sessionId, isLate, reply: undefined };
    this.requests.push(request);
    void promise.then((reply) => {
      request.reply = reply;
    });
    return request;
  }

  #closeTransport(atOnce: boolean): Promise<void> {
    this.transportClosings += 1;
    if (atOnce) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.settleTransport = (how) => (how === 'closed' ? resolve() : reject(new Error('scripted rejection')));
    });
  }
}

const FAVOURABLE = {
  admitPrompt: { disposition: 'refused' },
  runTurn: { state: 'aborted' },
  abortTurn: { ok: true },
  disposeSession: undefined,
} as const;

/** Short and comparable: the code of a failure, or the session's state. */
export function replyLabel(reply: Reply): string {
  return reply.ok ? reply.session.state : reply.code;
}

/** @param granted External servers of the profile `reader`: each tool's alias is its name. */
export function testConfiguration(
  granted: readonly { readonly alias: string; readonly tools: readonly string[] }[] = [],
): Configuration {
  const mcpServers = granted.map(({ alias, tools }) => ({
    alias,
    command: '/nowhere/server',
    args: [],
    envFrom: {},
    tools: Object.fromEntries(tools.map((name) => [name, { name, readOnly: true }])),
  }));
  const workspace = (alias: string, mode: WorkspaceMode) => ({ alias, directory: `/nowhere/${alias}`, mode });
  const profile = (alias: string, permissionProfile: ExecutionProfile['permissionProfile']): ExecutionProfile => ({
    alias,
    default: alias === 'reader',
    permissionProfile,
    provider: SELECTION.provider,
    model: SELECTION.model,
    thinkingLevel: 'off',
    extensions: [],
    grantedExtensionTools: [],
    skills: [],
    mcpServers: alias === 'reader' ? mcpServers : [],
  });
  return {
    fingerprint: `sha256:${'0'.repeat(64)}`,
    directory: '/nowhere',
    workspaces: {
      here: workspace('here', 'unset'),
      boxed: workspace('boxed', 'container'),
      locked: workspace('locked', 'read-only'),
      open: workspace('open', 'host'),
    },
    executionProfiles: { reader: profile('reader', 'read-only'), writer: profile('writer', 'coding') },
    defaultExecutionProfile: 'reader',
  };
}
