/** The steps of a start before there is a session, on the runtime that belongs to the profile. */
import type { Configuration, ExecutionProfile } from '../../config/configuration.ts';
import type { AgentPort, StartRequest, StepOutcome } from '../../ports/agent.ts';
import { loadExtensions } from './extension-load.ts';
import { ExtensionStarts } from './extension-starts.ts';
import type { OpenedRuntime, RuntimeSource } from './model-runtime.ts';
import {
  checkAuthentication,
  checkAvailability,
  checkSelection,
  readAuthentication,
  selectModel,
  startFailure,
} from './selection.ts';

type Check = (opened: OpenedRuntime, profile: ExecutionProfile, signal: AbortSignal) => Promise<StepOutcome>;
type Step = (request: StartRequest, signal: AbortSignal) => Promise<StepOutcome>;

export interface StartSteps
  extends Pick<AgentPort, 'selectModel' | 'checkAuthentication' | 'readAuthentication' | 'checkAvailability'> {
  /** What starts have loaded; whoever ends a session or a start lets go of it here. */
  readonly extensions: ExtensionStarts;
  /** The shared runtime, or the start's own; rejects when there is none. */
  openedFor(request: StartRequest, profile: ExecutionProfile): Promise<OpenedRuntime>;
  /** Makes a step let go of what the start has loaded when it fails or is aborted. */
  during(run: Step): Step;
}

export function createStartSteps(configuration: Configuration, runtime: RuntimeSource): StartSteps {
  const extensions = new ExtensionStarts();

  const openedFor = async ({ sessionId }: StartRequest, profile: ExecutionProfile): Promise<OpenedRuntime> =>
    profile.extensions.length === 0 ? runtime.open() : extensions.require(sessionId).opened;

  const during =
    (run: Step): Step =>
    (request, signal) =>
      extensions.during(request.sessionId, signal, run(request, signal));

  const step = (check: Check): Step =>
    during(async (request, signal) => {
      const profile = configuration.executionProfiles[request.executionProfile];
      if (!profile) return startFailure('pi_session_creation_failed', 'runtime');
      try {
        return await check(await openedFor(request, profile), profile, signal);
      } catch {
        return startFailure('pi_session_creation_failed', 'runtime');
      }
    });

  /** Extensions may bring providers: they are loaded first, and selected is what is there then. */
  const selectExtended = async (request: StartRequest, profile: ExecutionProfile, signal: AbortSignal) => {
    const workspace = configuration.workspaces[request.workspace];
    if (!workspace) return startFailure('pi_session_creation_failed', 'runtime');
    const { directory } = workspace;
    const loading = runtime.load().then((known) => loadExtensions({ ...known, profile, directory }));
    const prepared = await extensions.prepare(request.sessionId, loading, signal);
    if (!prepared.ok) return prepared;
    return step(async (opened) => checkSelection(opened, profile))(request, signal);
  };

  return {
    extensions,
    openedFor,
    during,
    async selectModel(request, signal) {
      const profile = configuration.executionProfiles[request.executionProfile];
      if (!profile) return startFailure('pi_session_creation_failed', 'runtime');
      return profile.extensions.length === 0 ? selectModel(runtime, profile) : selectExtended(request, profile, signal);
    },
    checkAuthentication: step(checkAuthentication),
    readAuthentication: step(readAuthentication),
    checkAvailability: step(checkAvailability),
  };
}
