/** The running delivery chart on its spool. Loaded with the first session, and only where events are wanted. */
import { type ActorOptions, type AnyActorLogic, createActor, fromPromise, type InspectionEvent } from 'xstate';
import { EVENT_DEADLINES_MS, type EventDeadlines } from '../machines/events/deadlines.ts';
import type { Job } from '../machines/events/delivery.context.ts';
import { type DeliveryEvent, deliveryMachine } from '../machines/events/delivery.machine.ts';
import type { Diagnostics } from '../ports/diagnostics.ts';
import type { EventSpool, SpoolOutcome, TurnEvents } from '../ports/events.ts';

export interface TurnEventsOptions {
  readonly spool: EventSpool;
  readonly diagnostics: Diagnostics;
  readonly clock?: NonNullable<ActorOptions<AnyActorLogic>['clock']>;
  readonly deadlines?: EventDeadlines;
  readonly inspect?: (event: InspectionEvent) => void;
}

/** A root of its own: what breaks here breaks no session. */
export function createTurnEvents(options: TurnEventsOptions): TurnEvents {
  const { diagnostics } = options;
  const actor = createActor(wireDelivery(options), {
    ...(options.clock && { clock: options.clock }),
    ...(options.inspect && { inspect: options.inspect }),
    // The default logger writes to stdout, which carries the protocol.
    logger: () => {},
  });
  const over = new Promise<void>((resolve) => {
    actor.subscribe({
      complete: resolve,
      error: () => {
        diagnostics.report('error', 'internal_error', { code: 'chart_defect' });
        resolve();
      },
    });
  });
  actor.start();
  // Not from within another chart's action: that chart would resolve its own actions inside it.
  const tell = (event: DeliveryEvent) =>
    queueMicrotask(() => {
      if (actor.getSnapshot().status === 'active') actor.send(event);
    });
  return {
    async begin() {
      tell({ type: 'OPEN' });
    },
    ended: (turn) => tell({ type: 'TURN_ENDED', turn }),
    closed: (sessionId) => tell({ type: 'SESSION_CLOSED', sessionId }),
    close() {
      tell({ type: 'STOP' });
      return over;
    },
  };
}

function wireDelivery({ spool, diagnostics, deadlines = EVENT_DEADLINES_MS }: TurnEventsOptions) {
  const work = (job: Job): Promise<SpoolOutcome> => {
    if (job.kind === 'open') return spool.open();
    if (job.kind === 'write') return spool.write(job.turn);
    return job.kind === 'forget' ? spool.forget(job.sessionId) : spool.sweep();
  };
  return deliveryMachine.provide({
    actors: {
      work: fromPromise<SpoolOutcome, Job>(({ input }) => work(input)),
      close: fromPromise<void, void>(() => spool.close()),
    },
    actions: {
      report: (_, { code, dropped }) => diagnostics.report('warn', 'turn_events_degraded', { code, dropped }),
    },
    delays: deadlines,
  });
}
