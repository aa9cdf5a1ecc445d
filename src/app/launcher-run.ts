/** One start of one writer: the launcher chart on its port. */
import {
  type ActorOptions,
  type AnyActorLogic,
  createActor,
  fromCallback,
  fromPromise,
  type InspectionEvent,
} from 'xstate';
import { credentialsMachine } from '../machines/writers/credentials.machine.ts';
import { launcherMachine } from '../machines/writers/launcher.machine.ts';
import { LAUNCHER_DELAYS_MS, type LauncherDelays } from '../machines/writers/launcher-deadlines.ts';
import type { LauncherCode, LauncherPort, LauncherResult, Refusable } from '../ports/writers/launcher.ts';

export interface LauncherRunOptions {
  readonly clock?: NonNullable<ActorOptions<AnyActorLogic>['clock']>;
  readonly delays?: LauncherDelays;
  readonly inspect?: (event: InspectionEvent) => void;
}

export interface LauncherRun {
  /** To be called once. Never rejects; whoever ends the process then leaves nothing behind, unless the code says so. */
  start(): Promise<LauncherResult>;
  /** @param status 128 plus the signal's number; also before the start, and when it is over. */
  signal(status: number): void;
}

/** Starts nothing yet: whoever has to hear signals wants to listen first. */
export function createLauncherRun(port: LauncherPort, options: LauncherRunOptions = {}): LauncherRun {
  const { delays = LAUNCHER_DELAYS_MS, ...rest } = options;
  const actor = createActor(wire(port, delays), { ...rest, logger: () => {} });
  const ended = new Promise<LauncherResult>((resolve) => {
    actor.subscribe({
      complete: () => resolve(actor.getSnapshot().output ?? UNKNOWN),
      error: () => void endWithoutChart(port).then(resolve),
    });
  });
  return {
    start() {
      actor.start();
      return ended;
    },
    signal(status) {
      if (actor.getSnapshot().status === 'active') actor.send({ type: 'SIGNAL', status });
    },
  };
}

const UNKNOWN: LauncherResult = { status: 1, code: 'box_left' };

/** A chart that threw decides nothing any more; its box must not outlast it. */
async function endWithoutChart(port: LauncherPort): Promise<LauncherResult> {
  try {
    port.remove();
    const end = await port.ended();
    return end.kind === 'retained' ? UNKNOWN : { status: 1, code: 'box_not_started' };
  } catch {
    return UNKNOWN;
  }
}

function wire(port: LauncherPort, { renewalPatience, graceTimeout, renewalInterval }: LauncherDelays) {
  const renew = fromPromise<{ readonly ok: boolean }, void>(() => port.renew());
  return launcherMachine.provide({
    delays: { renewalPatience, graceTimeout },
    actors: {
      claim: fromPromise(({ signal }) => port.claim(signal)),
      check: fromPromise<Refusable<LauncherCode>, void>(() => port.check()),
      clear: fromPromise(() => port.clear()),
      open: fromPromise<Refusable<LauncherCode>, void>(() => port.open()),
      reap: fromPromise(() => port.reap()),
      renew,
      plan: fromPromise<Refusable<LauncherCode>, void>(() => port.plan()),
      start: fromPromise(() => port.start()),
      watchInput: fromCallback(({ sendBack }) => port.watchInput(() => sendBack({ type: 'INPUT_ENDED' }))),
      box: fromPromise(() => port.ended()),
      credentials: credentialsMachine.provide({ delays: { renewalInterval }, actors: { renew } }),
    },
    actions: {
      endInput: () => port.end(),
      removeBox: () => port.remove(),
    },
  });
}
