/** The ending chart's events. */
import { endingMachine } from '../../../src/machines/grants/ending.machine.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';

export type Ending = typeof endingMachine;

export const WAYS = ['endInput', 'terminate', 'kill'] as const;

const domain = Object.fromEntries(
  WAYS.flatMap((way) => [
    [`xstate.done.actor.${way}`, [doneEvent(way)]],
    [`xstate.error.actor.${way}`, [errorEvent(way)]],
  ]),
) as Domain<Ending>;

export const model = (machine: Ending = endingMachine) => chartModel(machine, { domain });
