/** The process chart's events, and what makes each of them happen in the real assembly. */
import type { AnyEventObject, SnapshotFrom } from 'xstate';
import { processMachine } from '../../../src/machines/process/process.machine.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';
import { TEST_DEADLINES, type World } from '../../kit/world.ts';

type Snapshot = SnapshotFrom<typeof processMachine>;

const domain: Domain<typeof processMachine> = {
  READY: [{ type: 'READY' }],
  END: [{ type: 'END' }],
  SIGNAL: [
    { type: 'SIGNAL', status: 130 },
    { type: 'SIGNAL', status: 143 },
  ],
  DEFECT: [{ type: 'DEFECT' }],
  'xstate.done.actor.registry': (snapshot: Snapshot) =>
    snapshot.matches({ live: { stopping: 'closing' } }) ? [] : [doneEvent('registry')],
  'xstate.done.actor.closeTransport': [doneEvent('closeTransport')],
  'xstate.error.actor.closeTransport': [errorEvent('closeTransport')],
};

export const model = (machine: typeof processMachine = processMachine) => chartModel(machine, { domain });

/** The registry is held by one open session whose handle is slow to go. */
export const HOLDER = 'holder';

export async function applyProcessEvent(world: World, event: AnyEventObject, before: Snapshot): Promise<void> {
  switch (event.type) {
    case 'READY':
      world.app.ready();
      break;
    case 'END':
      world.app.end();
      break;
    case 'SIGNAL':
      world.app.signal(event['status'] as number);
      break;
    case 'DEFECT':
      world.app.defect();
      break;
    case 'xstate.done.actor.registry':
      // Unasked, it only ends when a session's chart breaks and no other is left.
      if (!before.matches({ live: 'stopping' })) {
        world.timeBreaksOnce = true;
        world.close(HOLDER);
        await world.flush();
      } else await world.finishClosing(HOLDER);
      break;
    case 'xstate.done.actor.closeTransport':
      world.settleTransport?.('closed');
      break;
    case 'xstate.error.actor.closeTransport':
      world.settleTransport?.('broken');
      break;
    default:
      world.clock.fire(TEST_DEADLINES.processTimeout);
  }
  await world.flush();
}
