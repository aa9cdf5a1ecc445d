/** One setup command, as a promise of its result. The charts decide; this only starts them. */
import { type ActorOptions, type AnyActorLogic, createActor, type InspectionEvent } from 'xstate';
import { RUN_DEADLINES_MS, type RunDeadlines } from '../machines/setup/registration-deadlines.ts';
import { brokenResult, type RunInput } from '../machines/setup/run.context.ts';
import type { setupRunMachine } from '../machines/setup/run.machine.ts';
import type { Customization } from '../ports/setup/customization.ts';
import type {
  CustomizeRequest,
  InterruptSignal,
  Progress,
  RunResult,
  SetupPorts,
  TargetsRequest,
} from '../ports/setup/run.ts';
import { wireCustomization, wireSetup } from './wiring.ts';

export interface RunSetupOptions {
  /** Called with what is about to be done. */
  readonly onProgress?: (progress: Progress) => void;
  /** Subscribes to the interruption of the run; what it returns ends the subscription. */
  readonly onInterrupt?: (interrupt: (signal: InterruptSignal) => void) => () => void;
  readonly clock?: NonNullable<ActorOptions<AnyActorLogic>['clock']>;
  readonly deadlines?: RunDeadlines;
  readonly inspect?: (event: InspectionEvent) => void;
}

/** Works on the targets one after the other (docs/setup.md). Never rejects; whatever has begun has ended by then. */
export function runSetup(
  { operation, targets }: TargetsRequest,
  ports: SetupPorts,
  options: RunSetupOptions = {},
): Promise<RunResult> {
  const machine = wireSetup(ports, announcer(options), options.deadlines ?? RUN_DEADLINES_MS);
  return run(machine, { operation, targets, customize: null }, options, () => ports.fence.release());
}

/** Makes or acknowledges the operator's version of one shipped skill (docs/skills.md). Never rejects. */
export function runCustomization(
  { operation, alias }: CustomizeRequest,
  customization: Customization,
  options: RunSetupOptions = {},
): Promise<RunResult> {
  const machine = wireCustomization(customization, announcer(options));
  return run(machine, { operation, targets: [], customize: alias }, options, async () => {});
}

/** @param onDefect Lets go of what a chart that broke can no longer let go of. */
function run(
  machine: typeof setupRunMachine,
  input: RunInput,
  { clock, inspect, onInterrupt }: RunSetupOptions,
  onDefect: () => Promise<unknown>,
): Promise<RunResult> {
  const actor = createActor(machine, {
    input,
    ...(clock && { clock }),
    ...(inspect && { inspect }),
    // The default logger writes to stdout, which carries the report.
    logger: () => {},
  });
  const stopListening = onInterrupt?.((signal) => {
    if (actor.getSnapshot().status === 'active') actor.send({ type: 'INTERRUPT', signal });
  });
  const result = new Promise<RunResult>((resolve) => {
    actor.subscribe({
      complete: () => resolve(actor.getSnapshot().output ?? brokenResult(input)),
      // A chart that threw leaves its children running.
      error: () => {
        const end = (): void => resolve(brokenResult(input));
        onDefect().then(end, end);
      },
    });
  });
  actor.start();
  return result.finally(() => stopListening?.());
}

/** An observer that throws must not break the run that it observes. */
function announcer({ onProgress }: RunSetupOptions): (progress: Progress) => void {
  return (progress) => {
    try {
      onProgress?.(progress);
    } catch {
      // Progress is a courtesy.
    }
  };
}
