/** Builds one SDK session that has what the profile says and nothing that the workspace says. */
import type { ExecutionProfile } from '../../config/configuration.ts';
import type { StartFailure, StartStage, VerifiedSelection } from '../../ports/agent.ts';
import type { Diagnostics } from '../../ports/diagnostics.ts';
import { createBashOperations } from './bash-operations.ts';
import { closedResources } from './closed-resources.ts';
import { loadContextFiles } from './context-files.ts';
import { bindExtensions, endExtensions } from './extension-bind.ts';
import { type LoadedExtensions, releaseExtensions } from './extension-set.ts';
import { gateRules, toolSelection } from './extension-tools.ts';
import { builtInTools } from './file-tools.ts';
import type { OpenedRuntime } from './model-runtime.ts';
import { toolsOf, verifySession } from './postcheck.ts';
import type { AgentSession, Sdk, Skill, ToolDefinition } from './sdk.ts';
import { findModel, startFailure } from './selection.ts';
import { loadSelectedSkills } from './skills.ts';
import type { ToolChildren } from './tool-children.ts';
import { gateModelCalls, ToolGate } from './tool-gate.ts';
import { requireWorkspace } from './workspace.ts';

/** Pi's own settings; nothing is read from the user's or the workspace's settings files. */
export interface PiSettings {
  readonly retry?: { readonly maxRetries?: number; readonly baseDelayMs?: number };
}

export interface BuildInput {
  readonly opened: OpenedRuntime;
  readonly sessionId: string;
  readonly profile: ExecutionProfile;
  /** Absolute path of the workspace. */
  readonly directory: string;
  readonly children: ToolChildren;
  readonly diagnostics: Diagnostics;
  readonly settings: PiSettings;
  /** The connected tools that the profile grants from outside. */
  readonly granted: readonly ToolDefinition[];
  /** Present exactly when the profile has extensions; the session takes them over. */
  readonly extensions: LoadedExtensions | undefined;
}

export type BuildOutcome =
  | { readonly ok: true; readonly session: AgentSession; readonly selection: VerifiedSelection }
  | StartFailure;

function inMemorySettings(sdk: Sdk, settings: PiSettings) {
  return sdk.SettingsManager.inMemory(
    { ...settings, cacheWarming: 'off', enableInstallTelemetry: false, enableAnalytics: false },
    { projectTrusted: false },
  );
}

function bashTool(input: BuildInput): ToolDefinition {
  const { opened, directory, children, sessionId } = input;
  const operations = createBashOperations(opened.sdk, children, sessionId);
  // The definition's parameter type is more exact than the list's.
  return opened.sdk.createBashToolDefinition(directory, { operations }) as unknown as ToolDefinition;
}

async function openSession(input: BuildInput, skills: readonly Skill[], building: Building): Promise<AgentSession> {
  const { opened, profile, directory, extensions } = input;
  const { sdk, agentDir, models } = opened;
  requireWorkspace(directory);
  const settingsManager = inMemorySettings(sdk, input.settings);
  const agentsFiles = loadContextFiles(sdk, directory, agentDir, input.diagnostics);
  const resourceLoader = closedResources(sdk, { skills, agentsFiles, extensions: extensions?.result });
  building.stage = 'create_session';
  const model = findModel(opened, profile);
  // Without a model the SDK would choose one by itself.
  if (!model) throw new Error('model is gone');
  const tools = toolsOf(profile);
  const { session } = await sdk.createAgentSession({
    cwd: directory,
    agentDir,
    modelRuntime: models,
    model,
    thinkingLevel: profile.thinkingLevel,
    ...(extensions ? toolSelection(profile, tools) : { tools }),
    customTools: [
      ...builtInTools(sdk, directory, tools),
      ...(tools.includes('bash') ? [bashTool(input)] : []),
      ...input.granted,
    ],
    resourceLoader,
    sessionManager: sdk.SessionManager.inMemory(directory),
    settingsManager,
  });
  return session;
}

/** From here on exactly the verified tools may run, whatever is registered later. */
function gateSession(session: AgentSession, profile: ExecutionProfile, extensions: LoadedExtensions | undefined): void {
  const core = toolsOf(profile);
  const gate = extensions?.gate ?? new ToolGate();
  gate.open(session, extensions ? gateRules(profile, core, extensions) : { verified: core });
  gateModelCalls(session, gate);
}

interface Building {
  stage: StartStage;
  session: AgentSession | undefined;
}

/** Ends what a failed start has left behind; extensions that saw the session hear of its end. */
async function discard({ session }: Building, { extensions, diagnostics }: BuildInput): Promise<void> {
  try {
    if (session && extensions) await endExtensions(session);
    session?.dispose();
    if (extensions) releaseExtensions(extensions);
  } catch {
    diagnostics.report('warn', 'pi_session_dispose_failed');
  }
}

async function attempt(
  input: BuildInput,
  skills: readonly Skill[],
  building: Building,
  signal: AbortSignal,
): Promise<BuildOutcome> {
  const { profile, extensions, diagnostics } = input;
  try {
    const session = await openSession(input, skills, building);
    building.session = session;
    building.stage = extensions ? 'extension_bind' : 'postcheck';
    const unbound = extensions && (await bindExtensions({ session, profile, loaded: extensions, diagnostics }, signal));
    const verified = unbound ?? verifySession(session, profile, skills, extensions);
    if (!verified.ok) return verified;
    if (signal.aborted) return startFailure('pi_session_creation_failed', 'create_session');
    gateSession(session, profile, extensions);
    return { ok: true, session, selection: verified.selection };
  } catch {
    const { stage } = building;
    return startFailure(stage === 'extension_bind' ? 'extension_load_failed' : 'pi_session_creation_failed', stage);
  }
}

/** Either a verified session that the caller owns, or a failure with nothing left open. */
export async function buildSession(input: BuildInput, signal: AbortSignal): Promise<BuildOutcome> {
  const building: Building = { stage: 'resource_loader', session: undefined };
  const selected = loadSelectedSkills(input);
  const outcome = selected.ok ? await attempt(input, selected.skills, building, signal) : selected;
  if (!outcome.ok) await discard(building, input);
  return outcome;
}
