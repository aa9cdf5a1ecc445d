/** Exact provider, model and authentication look-ups: no resolver, no fallback, no network refresh. */
import type { ExecutionProfile } from '../../config/configuration.ts';
import type { StartFailure, StartStage, StepOutcome } from '../../ports/agent.ts';
import type { StartErrorCode } from '../../ports/error-code.ts';
import type { OpenedRuntime, RuntimeSource } from './model-runtime.ts';
import type { Model } from './sdk.ts';

const OK: StepOutcome = { ok: true };

export function startFailure(code: StartErrorCode, stage: StartStage): StartFailure {
  return { ok: false, code, stage };
}

/** Finds exactly the profile's provider and model. */
export async function selectModel(runtime: RuntimeSource, profile: ExecutionProfile): Promise<StepOutcome> {
  let opened: OpenedRuntime;
  try {
    opened = await runtime.open();
  } catch {
    return startFailure('pi_session_creation_failed', 'runtime');
  }
  const outcome = checkSelection(opened, profile);
  // An unreadable models file looks like an empty one: read it again at the next start.
  if (!outcome.ok && opened.models.getError() !== undefined) runtime.forget(opened);
  return outcome;
}

/** Are there exactly this provider and this model? */
export function checkSelection(opened: OpenedRuntime, profile: ExecutionProfile): StepOutcome {
  if (opened.models.getProvider(profile.provider) === undefined) return startFailure('unknown_provider', 'provider');
  return findModel(opened, profile) ? OK : startFailure('unknown_model', 'model');
}

export function findModel(opened: OpenedRuntime, profile: ExecutionProfile): Model | undefined {
  return opened.models.getModel(profile.provider, profile.model);
}

/**
 * Missing means that the credential store was read and has nothing. A store that
 * is locked by another process or unreadable is unavailable, never missing.
 */
export async function checkAuthentication(
  opened: OpenedRuntime,
  profile: ExecutionProfile,
  signal: AbortSignal,
): Promise<StepOutcome> {
  try {
    // With a signal the SDK reports a read failure; without one it would fall back to an older view.
    const check = await opened.models.checkAuth(profile.provider, { signal });
    return check === undefined ? startFailure('local_authentication_missing', 'check_auth') : OK;
  } catch {
    return startFailure('local_authentication_unavailable', 'check_auth');
  }
}

/** Resolves the credential once, to see that it can be; nothing of it is kept. */
export async function readAuthentication(
  opened: OpenedRuntime,
  profile: ExecutionProfile,
  signal: AbortSignal,
): Promise<StepOutcome> {
  try {
    const model = findModel(opened, profile);
    const resolved = model && (await opened.models.getAuth(model, { signal }));
    return resolved ? OK : startFailure('local_authentication_unavailable', 'get_auth');
  } catch {
    return startFailure('local_authentication_unavailable', 'get_auth');
  }
}

export async function checkAvailability(
  opened: OpenedRuntime,
  profile: ExecutionProfile,
  signal: AbortSignal,
): Promise<StepOutcome> {
  try {
    const available = await opened.models.getAvailable(profile.provider, { signal });
    const found = available.some((model) => model.provider === profile.provider && model.id === profile.model);
    return found ? OK : startFailure('model_unavailable', 'availability');
  } catch {
    return startFailure('model_unavailable', 'availability');
  }
}
