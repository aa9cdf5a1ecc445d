/** The delivery chart's events, and what makes each of them happen in the real assembly. */
import type { AnyEventObject, InspectionEvent, SnapshotFrom } from 'xstate';
import { createTurnEvents } from '../../../src/app/turn-events.ts';
import { EVENT_DEADLINES_MS, type EventDeadlines } from '../../../src/machines/events/deadlines.ts';
import { deliveryMachine } from '../../../src/machines/events/delivery.machine.ts';
import type { EndedTurn, EventSpool, TurnEvents } from '../../../src/ports/events.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';
import { ManualClock } from '../../kit/manual-clock.ts';
import { flush, PendingCalls } from '../../kit/pending-calls.ts';
import type { Report } from '../../kit/world.ts';

export type Delivery = typeof deliveryMachine;
export type State = SnapshotFrom<Delivery>;

/** Deadlines that tell their timers apart. */
const TEST_EVENT_DEADLINES: EventDeadlines = {
  deliveryTimeout: EVENT_DEADLINES_MS.deliveryTimeout + 1,
  sweepInterval: EVENT_DEADLINES_MS.sweepInterval + 2,
  spoolCloseTimeout: EVENT_DEADLINES_MS.spoolCloseTimeout + 3,
};

const turn = (sessionId: string, turnId: string): EndedTurn => ({
  sessionId,
  turnId,
  state: 'completed',
  at: 7,
});

export const ended = (sessionId = 's1', turnId = 't1') =>
  ({ type: 'TURN_ENDED', turn: turn(sessionId, turnId) }) as const;
export const closed = (sessionId = 's1') => ({ type: 'SESSION_CLOSED', sessionId }) as const;

const domain: Domain<Delivery> = {
  OPEN: [{ type: 'OPEN' }],
  TURN_ENDED: [ended()],
  SESSION_CLOSED: [closed('s1'), closed('s2')],
  STOP: [{ type: 'STOP' }],
  'xstate.done.actor.work': [doneEvent('work', { ok: true }), doneEvent('work', { ok: false })],
  'xstate.error.actor.work': [errorEvent('work')],
  'xstate.done.actor.close': [doneEvent('close')],
  'xstate.error.actor.close': [errorEvent('close')],
};

export const model = (machine: Delivery = deliveryMachine) =>
  chartModel(machine, {
    domain,
    project: ({ current, waiting }) => ({
      current: current?.kind,
      // One more that waits makes no difference; a full queue has tests of its own.
      waiting: waiting.slice(0, 1).map(({ kind }) => kind),
    }),
  });

export class DeliveryWorld {
  readonly calls = new PendingCalls();
  readonly clock = new ManualClock();
  readonly reports: Report[] = [];
  readonly events: TurnEvents;
  isClosed = false;

  constructor(inspect?: (event: InspectionEvent) => void) {
    const spool: EventSpool = {
      open: () => this.calls.call('open'),
      write: (input) => this.calls.call('write', input),
      forget: (sessionId) => this.calls.call('forget', sessionId),
      sweep: () => this.calls.call('sweep'),
      close: () => this.calls.call('close'),
    };
    this.events = createTurnEvents({
      spool,
      diagnostics: { report: (_, event, fields) => this.reports.push({ event, fields }) },
      clock: this.clock,
      deadlines: TEST_EVENT_DEADLINES,
      ...(inspect && { inspect }),
    });
  }

  /** What the disk is asked for just now, a call that was given up included. */
  get work(): string[] {
    return this.calls.live.map(({ operation }) => operation);
  }

  async apply(event: AnyEventObject): Promise<void> {
    const [, kind, delay] = event.type.split('.');
    if (event.type === 'OPEN') void this.events.begin();
    else if (event.type === 'TURN_ENDED') this.events.ended(event['turn']);
    else if (event.type === 'SESSION_CLOSED') this.events.closed(event['sessionId']);
    else if (event.type === 'STOP') {
      void this.events.close().then(() => {
        this.isClosed = true;
      });
    } else if (kind === 'done') this.calls.settle(event['output']);
    else if (kind === 'error') this.calls.fail();
    else this.clock.fire(TEST_EVENT_DEADLINES[delay as keyof EventDeadlines]);
    await flush();
  }
}
