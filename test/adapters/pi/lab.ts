/** A disposable home, Pi agent directory and workspace, a scripted model, and the real adapter on them. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  SCRIPTED_MODEL,
  SCRIPTED_PROVIDER,
  type ScriptedModel,
  type ScriptedModelOptions,
  startScriptedModel,
  writePiAgentDirectory,
} from '../../../demo/scripted-model.ts';
import { createPiAgent } from '../../../src/adapters/pi/pi-agent.ts';
import { type ChildScope, createChildScope } from '../../../src/adapters/process/child-scope.ts';
import { createLazyGrants } from '../../../src/app/lazy-grants.ts';
import type { Configuration, ExecutionProfile } from '../../../src/config/configuration.ts';
import type { AgentPort, StartRequest, StepOutcome, TurnResult } from '../../../src/ports/agent.ts';

export const REPOSITORY = join(import.meta.dirname, '../../..');
export const REAPER = join(REPOSITORY, 'src/adapters/process/reaper.ts');
const CACHE = join(REPOSITORY, '.cache/test');

export interface Report {
  readonly event: string;
  readonly fields: Readonly<Record<string, string | number>>;
}

export interface Lab {
  readonly root: string;
  readonly agentDir: string;
  readonly workspace: string;
  readonly model: ScriptedModel;
  readonly agent: AgentPort;
  readonly scope: ChildScope;
  readonly reports: readonly Report[];
  request(executionProfile?: string, sessionId?: string): StartRequest;
  /** Every step of a start; the first failure, or the session's id. */
  start(executionProfile?: string): Promise<StepOutcome & { readonly sessionId: string }>;
  /** Prompts and waits for the turn's end. */
  run(sessionId: string, prompt: string): Promise<TurnResult>;
  prompt(sessionId: string, prompt: string): Promise<{ readonly sessionId: string; readonly turnId: string }>;
  close(): Promise<void>;
}

export function profile(alias: string, override: Partial<ExecutionProfile> = {}): ExecutionProfile {
  const basis = { alias, default: alias === 'reader', permissionProfile: 'read-only', thinkingLevel: 'off' } as const;
  const empty = { extensions: [], grantedExtensionTools: [], skills: [], mcpServers: [] };
  return { ...basis, provider: SCRIPTED_PROVIDER, model: SCRIPTED_MODEL, ...empty, ...override };
}

export function configurationOf(
  root: string,
  workspaces: Readonly<Record<string, string>>,
  profiles: readonly ExecutionProfile[],
): Configuration {
  const placed = Object.entries(workspaces).map(
    ([alias, directory]) => [alias, { alias, directory, mode: 'host' }] as const,
  );
  return {
    fingerprint: `sha256:${'0'.repeat(64)}`,
    directory: root,
    workspaces: Object.fromEntries(placed),
    executionProfiles: Object.fromEntries(profiles.map((one) => [one.alias, one])),
    defaultExecutionProfile: 'reader',
  };
}

function makeRoot(): string {
  mkdirSync(CACHE, { recursive: true });
  const root = mkdtempSync(join(CACHE, 'lab-'));
  process.env['HOME'] = root;
  process.env['PI_OFFLINE'] = '1';
  process.env['PI_TELEMETRY'] = '0';
  process.env['PI_CODING_AGENT_DIR'] = join(root, 'agent');
  return root;
}

const never = (): AbortSignal => new AbortController().signal;

async function startSession(agent: AgentPort, request: StartRequest): Promise<StepOutcome> {
  const steps = [agent.selectModel, agent.checkAuthentication, agent.readAuthentication, agent.checkAvailability];
  for (const step of [...steps, agent.connectTools, agent.createSession]) {
    const outcome = await step(request, never());
    if (!outcome.ok) return outcome;
  }
  return { ok: true };
}

export interface LabOptions extends ScriptedModelOptions {
  readonly profiles?: readonly ExecutionProfile[];
  readonly maxRetries?: number;
}

export async function openLab(options: LabOptions = {}): Promise<Lab> {
  const root = makeRoot();
  const agentDir = join(root, 'agent');
  const workspace = join(root, 'workspace');
  mkdirSync(workspace);
  const model = await startScriptedModel(options);
  await writePiAgentDirectory(agentDir, model.baseUrl);
  const reports: Report[] = [];
  const diagnostics = { report: (_: string, event: string, fields = {}) => void reports.push({ event, fields }) };
  const profiles = [profile('reader'), profile('coder', { permissionProfile: 'coding' }), ...(options.profiles ?? [])];
  const configuration = configurationOf(root, { main: workspace, gone: join(root, 'gone') }, profiles);
  const scope = createChildScope({ reaperPath: REAPER, diagnostics });
  const piSettings = { retry: { maxRetries: options.maxRetries ?? 0, baseDelayMs: 1 } };
  const grants = createLazyGrants(async () => {
    const { createExternalGrants } = await import('../../../src/app/external-grants.ts');
    return createExternalGrants({ configuration, diagnostics, childScope: scope });
  });
  const agent = createPiAgent({ configuration, diagnostics, agentDir, childScope: scope, grants, piSettings });
  const request = (executionProfile = 'reader', sessionId = randomUUID()) => ({
    sessionId,
    workspace: 'main',
    executionProfile,
  });
  const lab: Lab = {
    root,
    agentDir,
    workspace,
    model,
    agent,
    scope,
    reports,
    request,
    async start(executionProfile) {
      const wanted = request(executionProfile);
      return { ...(await startSession(agent, wanted)), sessionId: wanted.sessionId };
    },
    async prompt(sessionId, prompt) {
      const turn = { sessionId, turnId: randomUUID() };
      const admitted = await agent.admitPrompt({ ...turn, prompt }, never());
      if (admitted.disposition !== 'started') throw new Error('the prompt was refused');
      return turn;
    },
    run: async (sessionId, prompt) => agent.runTurn(await lab.prompt(sessionId, prompt)),
    async close() {
      agent.disposeAll();
      await model.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
  return lab;
}

/** Polls until the condition holds; for things that only the operating system knows. */
export async function eventually(condition: () => boolean | Promise<boolean>, boundMs = 2_000): Promise<boolean> {
  const end = performance.now() + boundMs;
  while (!(await condition())) {
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}
