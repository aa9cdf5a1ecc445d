/** The command chart's events, and what makes each of them happen in the real guardian. */
import type { AnyEventObject, SnapshotFrom } from 'xstate';
import { commandMachine } from '../../../src/machines/setup/command.machine.ts';
import type { ProcessNews } from '../../../src/ports/setup/guarded-process.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';
import { COMMAND_TEST_DEADLINES, type CommandWorld, type ProcessOperation, TIMEOUT_MS } from './world.ts';

export type Command = typeof commandMachine;
export type State = SnapshotFrom<Command>;

export const SCANS = ['clear', 'live', 'unknown'] as const;

const domain: Domain<Command> = {
  STOP: [{ type: 'STOP' }],
  // Of a process that nobody could watch or start, nobody hears it; one that has ended ends no more.
  EXITED: (snapshot: State) =>
    snapshot.matches({ guarded: 'live' }) || !['exited', null].includes(snapshot.context.end)
      ? [
          { type: 'EXITED', code: 0 },
          { type: 'EXITED', code: null },
        ]
      : [],
  OVERFLOW: [{ type: 'OVERFLOW' }],
  // It can only fail when it begins.
  'xstate.error.actor.watch': (snapshot: State) =>
    snapshot.matches({ guarded: { live: 'spawning' } }) ? [errorEvent('watch')] : [],
  'xstate.done.actor.spawn': ['spawned', 'not_found', undefined].map((outcome) => doneEvent('spawn', outcome)),
  'xstate.error.actor.spawn': [errorEvent('spawn')],
  'xstate.done.actor.terminate': [doneEvent('terminate')],
  'xstate.error.actor.terminate': [errorEvent('terminate')],
  'xstate.done.actor.kill': [doneEvent('kill')],
  'xstate.error.actor.kill': [errorEvent('kill')],
  'xstate.done.actor.scan': SCANS.map((outcome) => doneEvent('scan', outcome)),
  'xstate.error.actor.scan': [errorEvent('scan')],
};

export const model = (machine: Command = commandMachine) =>
  chartModel(machine, { domain, input: { timeoutMs: TIMEOUT_MS } });

export async function applyCommandEvent(world: CommandWorld, event: AnyEventObject): Promise<void> {
  const [, kind = '', name = '', actor = ''] = event.type.split('.');
  if (event.type === 'STOP') world.guardian.stop();
  else if (event.type === 'EXITED' || event.type === 'OVERFLOW') world.process.news(event as ProcessNews);
  else if (kind === 'after') {
    world.clock.fire(COMMAND_TEST_DEADLINES[name as keyof typeof COMMAND_TEST_DEADLINES] ?? TIMEOUT_MS);
  } else if (kind === 'done') world.process.settle(actor as ProcessOperation, event['output']);
  // See `watchFails` in the path's preparation.
  else if (actor !== 'watch') world.process.fail(actor as ProcessOperation);
  await world.flush();
}

export const needsBrokenWatch = (events: readonly { readonly event: { readonly type: string } }[]): boolean =>
  events.some(({ event }) => event.type === 'xstate.error.actor.watch');
