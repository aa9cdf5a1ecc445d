/** Loads the pinned extensions of one start, with a model runtime of its own. Runs third-party code. */
import type { ExecutionProfile } from '../../config/configuration.ts';
import type { StartFailure } from '../../ports/agent.ts';
import { type ExtensionPackage, resolveExtensions } from './extension-package.ts';
import { type LoadedExtensions, mcpRegistration, releaseExtensions } from './extension-set.ts';
import { isRegistered, missingGrant, toolConflict } from './extension-tools.ts';
import { type OpenedRuntime, openRuntime } from './model-runtime.ts';
import type { Sdk } from './sdk.ts';
import { startFailure } from './selection.ts';
import { closedCatalogues } from './skills.ts';
import { ToolGate } from './tool-gate.ts';
import { requireWorkspace } from './workspace.ts';

export interface ExtensionSource {
  readonly sdk: Sdk;
  readonly agentDir: string;
  readonly profile: ExecutionProfile;
  /** Absolute path of the workspace. */
  readonly directory: string;
}

export type LoadOutcome = { readonly ok: true; readonly loaded: LoadedExtensions } | StartFailure;

/** Resolution comes first: nothing is loaded unless every package is there, in its version. */
export async function loadExtensions(source: ExtensionSource): Promise<LoadOutcome> {
  const { sdk, agentDir, profile, directory } = source;
  const resolved = await resolveExtensions(sdk, agentDir, profile.extensions);
  if (!resolved.ok) return resolved;
  try {
    requireWorkspace(directory);
  } catch {
    return startFailure('pi_session_creation_failed', 'resource_loader');
  }
  let opened: OpenedRuntime;
  try {
    opened = await openRuntime(sdk, agentDir);
  } catch {
    return startFailure('pi_session_creation_failed', 'runtime');
  }
  try {
    return await runFactories(source, opened, resolved.packages);
  } catch {
    return startFailure('extension_load_failed', 'extension_load');
  }
}

async function runFactories(
  source: ExtensionSource,
  opened: OpenedRuntime,
  packages: readonly ExtensionPackage[],
): Promise<LoadOutcome> {
  const { sdk, agentDir, profile, directory } = source;
  const gate = new ToolGate();
  const owners = new Map(packages.flatMap(({ name, entries }) => entries.map((entry) => [entry, name] as const)));
  const { resourceLoader, diagnostics } = await sdk.createAgentSessionServices({
    cwd: directory,
    agentDir,
    modelRuntime: opened.models,
    settingsManager: sdk.SettingsManager.inMemory({}, { projectTrusted: false }),
    resourceLoaderOptions: {
      ...closedCatalogues([]),
      noExtensions: true,
      additionalExtensionPaths: [...owners.keys()],
      // Ours is the only hook that also sees the calls that one tool makes of another.
      extensionFactories: [{ name: 'tool-gate', factory: (pi) => void pi.on('tool_call', gateHook(gate)) }],
      noContextFiles: true,
      // Given, so that the loader does not look for the user's files: the session's own loader does.
      systemPrompt: ' ',
      appendSystemPrompt: [],
    },
  });
  const result = resourceLoader.getExtensions();
  const loaded: LoadedExtensions = { opened, result, gate, ownerOf: (path) => owners.get(path) };
  const problem = loadProblem(loaded, owners, diagnostics.length > 0) ?? toolProblem(loaded, profile);
  if (!problem) return { ok: true, loaded };
  releaseExtensions(loaded);
  return problem;
}

const gateHook = (gate: ToolGate) => (event: { readonly toolName: string }) => gate.check(event.toolName);

function loadProblem(
  loaded: LoadedExtensions,
  owners: ReadonlyMap<string, string>,
  registrationFailed: boolean,
): StartFailure | undefined {
  const present = new Set(loaded.result.extensions.map(({ path }) => path));
  const [absent] = [...owners].filter(([entry]) => !present.has(entry));
  const failure = startFailure('extension_load_failed', 'extension_load');
  if (absent) return { ...failure, subject: { extension: absent[1] } };
  const registration = mcpRegistration(loaded);
  return registration || registrationFailed ? { ...failure, ...registration } : undefined;
}

function toolProblem(loaded: LoadedExtensions, profile: ExecutionProfile): StartFailure | undefined {
  return (
    toolConflict(loaded, profile, 'extension_load') ??
    missingGrant(profile, 'extension_load', (tool) => isRegistered(loaded, tool))
  );
}
