/** Wiring of a setup run: its charts with the ports provided. Decides nothing and does no I/O of its own. */
import { fromPromise } from 'xstate';
import { customizationMachine } from '../machines/setup/customization.machine.ts';
import { registrationMachine } from '../machines/setup/registration.machine.ts';
import type { RunDeadlines } from '../machines/setup/registration-deadlines.ts';
import { setupRunMachine } from '../machines/setup/run.machine.ts';
import { skillSlotMachine } from '../machines/setup/skill-slot.machine.ts';
import type { OneTree, OurTrees } from '../machines/setup/skill-slot.setup.ts';
import { wakeHookMachine } from '../machines/setup/wake-hook.machine.ts';
import type { Customization } from '../ports/setup/customization.ts';
import type {
  OwnershipRead,
  OwnershipRecord,
  OwnershipStore,
  RecordKey,
  WriteOutcome,
} from '../ports/setup/ownership.ts';
import type { Progress, SetupPorts } from '../ports/setup/run.ts';
import type { StepOutcome } from '../ports/setup/skill-slot.ts';
import type { Target } from '../ports/setup/target.ts';

type Announce = (progress: Progress) => void;

/** Handed down to where a chart is provided with all the rest: each `provide` builds the chart anew. */
interface Actions {
  readonly announce: (_: unknown, progress: Progress) => void;
  readonly abortStep: () => void;
}

/**
 * The step that an interruption awaits; there is one at a time in a run. Its
 * signal is not the actor's: an actor that has been left is not heard any more.
 */
class AwaitedStep {
  #controller = new AbortController();

  run<T>(step: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#controller = new AbortController();
    return step(this.#controller.signal);
  }

  readonly abort = (): void => this.#controller.abort();
}

/** The run chart on the ports, ready to run on targets. */
export function wireSetup(ports: SetupPorts, announce: Announce, deadlines: RunDeadlines) {
  const { fence, doctor, release, store } = ports;
  const step = new AwaitedStep();
  const actions: Actions = { announce: (_, progress) => announce(progress), abortStep: step.abort };
  return setupRunMachine.provide({
    actors: {
      acquire: fromPromise(async () => step.run((signal) => fence.acquire(signal))),
      checkDoctor: fromPromise(async ({ signal }) => doctor.check(signal)),
      bindRelease: fromPromise(async ({ signal }) => release.fingerprint(signal)),
      release: fromPromise(async () => fence.release()),
      registration: wireRegistration(ports, step, actions, deadlines),
      skillSlot: wireSkillSlot(ports.slot, store, actions),
      wakeHook: wireWakeHook(ports, step, actions),
    },
    actions,
    delays: { doctorTimeout: deadlines.doctorTimeout, releaseTimeout: deadlines.releaseTimeout },
  });
}

/** The run chart on one customization; it has no targets, and needs no lock. */
export function wireCustomization(port: Customization, announce: Announce) {
  const actions = { announce: (_: unknown, progress: Progress) => announce(progress) };
  return setupRunMachine.provide({
    actors: {
      customization: customizationMachine.provide({
        actors: {
          readShipped: fromPromise(async () => port.shipped()),
          readBase: fromPromise(async () => port.base()),
          readOverride: fromPromise(async () => port.override()),
          recover: fromPromise(async () => port.recover()),
          stage: fromPromise(async () => port.stage()),
          place: fromPromise(async () => port.place()),
          recordBase: fromPromise<StepOutcome, string>(async ({ input }) => port.recordBase(input)),
        },
        actions,
      }),
    },
    actions,
  });
}

function wireRegistration(
  { client, store, verifier }: SetupPorts,
  step: AwaitedStep,
  actions: Actions,
  { handshakeTimeout, handshakeEndTimeout }: RunDeadlines,
) {
  return registrationMachine.provide({
    actions,
    delays: { handshakeTimeout, handshakeEndTimeout },
    actors: {
      ...wireStore(store),
      inspect: fromPromise(async ({ input, signal }) => client(input).inspect(signal)),
      add: fromPromise(async ({ input }) => step.run((signal) => client(input).add(signal))),
      remove: fromPromise(async ({ input }) => step.run((signal) => client(input).remove(signal))),
      handshake: fromPromise(async () => step.run((signal) => verifier.handshake(signal))),
    },
  });
}

function wireWakeHook({ wake, store }: SetupPorts, step: AwaitedStep, actions: Actions) {
  return wakeHookMachine.provide({
    actions,
    actors: {
      ...wireStore(store),
      inspectHook: fromPromise(async ({ signal }) => wake().inspect(signal)),
      installHook: fromPromise(async () => step.run((signal) => wake().install(signal))),
      uninstallHook: fromPromise(async () => step.run((signal) => wake().uninstall(signal))),
    },
  });
}

function wireSkillSlot(slot: SetupPorts['slot'], store: OwnershipStore, { announce }: Actions) {
  return skillSlotMachine.provide({
    actions: { announce },
    actors: {
      ...wireStore(store),
      readSource: fromPromise(async ({ input }) => slot(input).source()),
      look: fromPromise(async ({ input }) => slot(input).look()),
      recover: fromPromise<StepOutcome, OurTrees>(async ({ input: { target, ours } }) => slot(target).recover(ours)),
      stage: fromPromise<StepOutcome, Target>(async ({ input }) => slot(input).stage()),
      displace: fromPromise<StepOutcome, OneTree>(async ({ input: { target, expected } }) =>
        slot(target).displace(expected),
      ),
      place: fromPromise<StepOutcome, Target>(async ({ input }) => slot(input).place()),
      discard: fromPromise<StepOutcome, OneTree>(async ({ input: { target, expected } }) =>
        slot(target).discard(expected),
      ),
    },
  });
}

function wireStore(store: OwnershipStore) {
  return {
    readRecords: fromPromise<OwnershipRead, void>(async () => store.read()),
    put: fromPromise<WriteOutcome, OwnershipRecord>(async ({ input }) => store.put(input)),
    drop: fromPromise<WriteOutcome, RecordKey>(async ({ input }) => store.drop(input)),
  };
}
