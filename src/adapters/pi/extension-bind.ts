/** Puts loaded extensions to work in a session, and ends their work again. */
import { setTimeout as delay, setImmediate as nextRound } from 'node:timers/promises';
import type { ExecutionProfile } from '../../config/configuration.ts';
import type { StartFailure } from '../../ports/agent.ts';
import type { Diagnostics } from '../../ports/diagnostics.ts';
import { type LoadedExtensions, mcpRegistration } from './extension-set.ts';
import { untilAborted } from './extension-starts.ts';
import { isRegistered, missingGrant, toolConflict } from './extension-tools.ts';
import type { AgentSession, ExtensionError } from './sdk.ts';
import { startFailure } from './selection.ts';

/** How long the hooks of a session that ends may take, all of them together. */
const SHUTDOWN_HOOKS_MS = 2_000;

export interface BindInput {
  readonly session: AgentSession;
  readonly profile: ExecutionProfile;
  readonly loaded: LoadedExtensions;
  readonly diagnostics: Diagnostics;
}

/** Headless: no user interface, no commands. Rejects on abort; the caller ends the session either way. */
export async function bindExtensions(input: BindInput, signal: AbortSignal): Promise<StartFailure | undefined> {
  const { session, profile, loaded, diagnostics } = input;
  const failed: ExtensionError[] = [];
  const later = countHookErrors(loaded, diagnostics);
  let binding = true;
  const onError = (error: ExtensionError): void => {
    if (binding) failed.push(error);
    else later(error);
  };
  await untilAborted(session.bindExtensions({ onError }), signal);
  // A hook that starts a run by itself does so a little later.
  await nextRound();
  binding = false;
  const failure = startFailure('extension_load_failed', 'extension_bind');
  const [error] = failed;
  if (error) {
    const extension = loaded.ownerOf(error.extensionPath);
    return extension ? { ...failure, subject: { extension } } : failure;
  }
  const registration = mcpRegistration(loaded);
  if (registration) return { ...failure, ...registration };
  // Nobody asked for a run yet, and nobody could see this one.
  if (!session.isIdle) return failure;
  const undeclared = await hiddenFromModel(session, profile.grantedExtensionTools);
  return (
    toolConflict(loaded, profile, 'extension_bind') ??
    missingGrant(profile, 'extension_bind', (tool) => isRegistered(loaded, tool) && !undeclared.has(tool))
  );
}

/** Tools can hide each other's declarations: active is not always declared. */
async function hiddenFromModel(session: AgentSession, names: readonly string[]): Promise<ReadonlySet<string>> {
  const active = session.agent.state.tools
    .filter(({ name }) => names.includes(name))
    .map(({ name, description, parameters }) => ({ name, description, parameters }));
  const somebodyHides = session.getActiveToolNames().some((name) => session.getToolDefinition(name)?.prepareLoadout);
  if (active.length === 0 || !somebodyHides) return new Set();
  const declaration = { role: 'system', content: '', toolsAdded: active, timestamp: 0 } as const;
  const sent = (await session.agent.transformContext?.([declaration])) ?? [declaration];
  const declared = sent.flatMap((message) => (message.role === 'system' ? [...(message.toolsAdded ?? [])] : []));
  return new Set(names.filter((name) => !declared.some((tool) => tool.name === name)));
}

/** Says which package fails and how often, at the first time and at each power of ten, so that nothing floods. */
function countHookErrors({ ownerOf }: LoadedExtensions, diagnostics: Diagnostics): (error: ExtensionError) => void {
  const counts = new Map<string | undefined, number>();
  return ({ extensionPath }) => {
    const extension = ownerOf(extensionPath);
    const count = (counts.get(extension) ?? 0) + 1;
    counts.set(extension, count);
    if (!Number.isInteger(Math.log10(count))) return;
    diagnostics.report('warn', 'extension_hook_failed', { ...(extension && { extension }), count });
  };
}

/**
 * Tells the extensions that their session ends; the caller does so once. The
 * promise is there only when one of them listens, and does not wait for ever.
 */
export function endExtensions({ extensionRunner }: AgentSession): Promise<void> | undefined {
  if (!extensionRunner.hasHandlers('session_shutdown')) return undefined;
  const told = extensionRunner.emit({ type: 'session_shutdown', reason: 'quit' });
  return Promise.race([told, delay(SHUTDOWN_HOOKS_MS, undefined, { ref: false })]).then(() => {});
}
