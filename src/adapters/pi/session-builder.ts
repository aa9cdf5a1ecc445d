/** Builds one SDK session that has what the profile says and nothing that the workspace says. */
import { accessSync, constants, statSync } from 'node:fs';
import type { ExecutionProfile } from '../../config/configuration.ts';
import type { StartFailure, StartStage, VerifiedSelection } from '../../ports/agent.ts';
import type { Diagnostics } from '../../ports/diagnostics.ts';
import { createBashOperations } from './bash-operations.ts';
import { loadContextFiles } from './context-files.ts';
import type { OpenedRuntime } from './model-runtime.ts';
import { toolsOf, verifySession } from './postcheck.ts';
import type { AgentSession, Sdk, Skill, ToolDefinition } from './sdk.ts';
import { findModel, startFailure } from './selection.ts';
import { closedCatalogues, loadSelectedSkills } from './skills.ts';
import type { ToolChildren } from './tool-children.ts';

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
}

export type BuildOutcome =
  | { readonly ok: true; readonly session: AgentSession; readonly selection: VerifiedSelection }
  | StartFailure;

/** A profile never starts silently without something that it asks for. */
function unsupportedFeature(profile: ExecutionProfile): StartFailure | undefined {
  const { extensions } = profile;
  if (extensions.length === 0) return undefined;
  return { ...startFailure('extension_load_failed', 'extension_load'), subject: { count: extensions.length } };
}

/**
 * The loader would find nothing in a directory that is gone or closed, and say
 * nothing. Synchronous like the loader's own reads: the start is four times the
 * price of these two calls when they go through the thread pool.
 */
function requireWorkspace(directory: string): void {
  accessSync(directory, constants.R_OK | constants.X_OK);
  if (!statSync(directory).isDirectory()) throw new Error('not a directory');
}

function inMemorySettings(sdk: Sdk, settings: PiSettings) {
  return sdk.SettingsManager.inMemory(
    { ...settings, cacheWarming: 'off', enableInstallTelemetry: false, enableAnalytics: false },
    { projectTrusted: false },
  );
}

async function loadResources(
  input: BuildInput,
  skills: readonly Skill[],
  settingsManager: ReturnType<typeof inMemorySettings>,
) {
  const { opened, directory, diagnostics } = input;
  const { sdk, agentDir } = opened;
  const loader = new sdk.DefaultResourceLoader({
    cwd: directory,
    agentDir,
    settingsManager,
    noExtensions: true,
    ...closedCatalogues(skills),
    // Loaded by the override, with Pi's rules but without its output.
    noContextFiles: true,
    agentsFilesOverride: () => ({ agentsFiles: loadContextFiles(sdk, directory, agentDir, diagnostics) }),
  });
  await loader.reload();
  return loader;
}

function bashTool(input: BuildInput): ToolDefinition {
  const { opened, directory, children, sessionId } = input;
  const operations = createBashOperations(opened.sdk, children, sessionId);
  // The definition's parameter type is more exact than the list's.
  return opened.sdk.createBashToolDefinition(directory, { operations }) as unknown as ToolDefinition;
}

async function openSession(
  input: BuildInput,
  skills: readonly Skill[],
  enter: (stage: StartStage) => void,
): Promise<AgentSession> {
  const { opened, profile, directory } = input;
  const { sdk, agentDir, models } = opened;
  enter('resource_loader');
  requireWorkspace(directory);
  const settingsManager = inMemorySettings(sdk, input.settings);
  const resourceLoader = await loadResources(input, skills, settingsManager);
  enter('create_session');
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
    tools,
    customTools: tools.includes('bash') ? [bashTool(input)] : [],
    resourceLoader,
    sessionManager: sdk.SessionManager.inMemory(directory),
    settingsManager,
  });
  return session;
}

/** Either a verified session that the caller owns, or a failure with nothing left open. */
export async function buildSession(input: BuildInput, signal: AbortSignal): Promise<BuildOutcome> {
  const missing = unsupportedFeature(input.profile);
  if (missing) return missing;
  const selected = loadSelectedSkills(input);
  if (!selected.ok) return selected;
  let stage: StartStage = 'resource_loader';
  let session: AgentSession | undefined;
  try {
    session = await openSession(input, selected.skills, (entered) => {
      stage = entered;
    });
    stage = 'postcheck';
    const verified = verifySession(session, input.profile, selected.skills);
    if (verified.ok && !signal.aborted) return { ok: true, session, selection: verified.selection };
    session.dispose();
    return verified.ok ? startFailure('pi_session_creation_failed', 'create_session') : verified;
  } catch {
    return startFailure('pi_session_creation_failed', stage);
  }
}
