/** The wake chart's events, and what makes each of them happen in the real assembly. */
import type { AnyEventObject, InspectionEvent, SnapshotFrom } from 'xstate';
import { type WakeResult, waitForTurn } from '../../../src/app/waking.ts';
import { WAKE_DEADLINES_MS, type WakeDeadlines } from '../../../src/machines/events/deadlines.ts';
import { wakeMachine } from '../../../src/machines/events/wake.machine.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';
import { ManualClock } from '../../kit/manual-clock.ts';
import { flush, PendingCalls } from '../../kit/pending-calls.ts';

export type Wake = typeof wakeMachine;
export type State = SnapshotFrom<Wake>;

export const TARGET = { sessionId: 's1', turnId: 't1' };
export const LOOKS = ['found', 'absent', 'deserted'] as const;
export const CLAIMS = ['claimed', 'taken', 'unavailable'] as const;

const looks = (id: string) => LOOKS.map((seen) => doneEvent(id, seen));
/** A watch can only fail when it begins. */
const atTheStart = (id: string) => (snapshot: State) =>
  snapshot.matches({ waiting: 'looking' }) ? [errorEvent(id)] : [];

const domain: Domain<Wake> = {
  CHANGED: [{ type: 'CHANGED' }],
  CLIENT_GONE: [{ type: 'CLIENT_GONE' }],
  'xstate.error.actor.watchSpool': atTheStart('watchSpool'),
  'xstate.error.actor.watchClient': atTheStart('watchClient'),
  'xstate.done.actor.look': looks('look'),
  'xstate.error.actor.look': [errorEvent('look')],
  'xstate.done.actor.lookAgain': looks('lookAgain'),
  'xstate.error.actor.lookAgain': [errorEvent('lookAgain')],
  'xstate.done.actor.claim': CLAIMS.map((claim) => doneEvent('claim', claim)),
  'xstate.error.actor.claim': [errorEvent('claim')],
  'xstate.done.actor.notify': [doneEvent('notify', { ok: true }), doneEvent('notify', { ok: false })],
  'xstate.error.actor.notify': [errorEvent('notify')],
};

export const model = (machine: Wake = wakeMachine) => chartModel(machine, { domain, input: TARGET });

export interface WakeWorldOptions {
  readonly inspect?: (event: InspectionEvent) => void;
  /** Which watch cannot begin. */
  readonly broken?: 'watchSpool' | 'watchClient' | undefined;
}

export class WakeWorld {
  readonly calls = new PendingCalls();
  readonly clock = new ManualClock();
  readonly watches = new Map<string, () => void>();
  result: WakeResult | undefined;

  constructor({ inspect, broken }: WakeWorldOptions = {}) {
    const watch = (name: string) => (tell: () => void) => {
      if (broken === name) throw new Error('scripted failure');
      this.watches.set(name, tell);
      return () => this.watches.delete(name);
    };
    const port = {
      look: (input: unknown) => this.calls.call<never>('look', input),
      watchSpool: watch('watchSpool'),
      watchClient: watch('watchClient'),
      claim: (input: unknown) => this.calls.call<never>('claim', input),
      notify: (input: unknown) => this.calls.call<never>('notify', input),
    };
    const options = { clock: this.clock, ...(inspect && { inspect }) };
    void waitForTurn(TARGET, port, options).then((result) => {
      this.result = result;
    });
  }

  async apply(event: AnyEventObject): Promise<void> {
    const [, kind, delay] = event.type.split('.');
    if (event.type === 'CHANGED') this.watches.get('watchSpool')?.();
    else if (event.type === 'CLIENT_GONE') this.watches.get('watchClient')?.();
    else if (kind === 'done') this.calls.settle(event['output']);
    else if (kind === 'after') this.clock.fire(WAKE_DEADLINES_MS[delay as keyof WakeDeadlines]);
    else if (!event.type.includes('.watch')) this.calls.fail();
    await flush();
  }
}
