/** One running wake chart on its port. */
import {
  type ActorOptions,
  type AnyActorLogic,
  createActor,
  fromCallback,
  fromPromise,
  type InspectionEvent,
} from 'xstate';
import { WAKE_DEADLINES_MS, type WakeDeadlines } from '../machines/events/deadlines.ts';
import { wakeMachine } from '../machines/events/wake.machine.ts';
import type { ClaimOutcome, LookOutcome, SpoolOutcome, WakePort, WakeTarget } from '../ports/events.ts';

export interface WakingOptions {
  readonly clock?: NonNullable<ActorOptions<AnyActorLogic>['clock']>;
  readonly deadlines?: WakeDeadlines;
  readonly inspect?: (event: InspectionEvent) => void;
}

export type WakeResult = 'found' | 'expired' | 'orphaned' | 'failed';

/** Waits for the end of one turn and tells the client; never rejects. */
export function waitForTurn(target: WakeTarget, port: WakePort, options: WakingOptions = {}): Promise<WakeResult> {
  const actor = createActor(wireWake(port, options.deadlines ?? WAKE_DEADLINES_MS), {
    input: target,
    ...(options.clock && { clock: options.clock }),
    ...(options.inspect && { inspect: options.inspect }),
    logger: () => {},
  });
  return new Promise((resolve) => {
    actor.subscribe({
      complete: () => resolve(actor.getSnapshot().value as WakeResult),
      // A chart that threw wakes nobody.
      error: () => resolve('failed'),
    });
    actor.start();
  });
}

function wireWake(port: WakePort, delays: WakeDeadlines) {
  return wakeMachine.provide({
    actors: {
      watchSpool: fromCallback(({ sendBack }) => port.watchSpool(() => sendBack({ type: 'CHANGED' }))),
      watchClient: fromCallback(({ sendBack }) => port.watchClient(() => sendBack({ type: 'CLIENT_GONE' }))),
      look: fromPromise<LookOutcome, WakeTarget>(({ input }) => port.look(input)),
      claim: fromPromise<ClaimOutcome, WakeTarget>(({ input }) => port.claim(input)),
      notify: fromPromise<SpoolOutcome, WakeTarget>(({ input }) => port.notify(input)),
    },
    delays,
  });
}
