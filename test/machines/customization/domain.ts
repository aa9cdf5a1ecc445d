/** The customization chart's events. */
import { customizationMachine } from '../../../src/machines/setup/customization.machine.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';
import { unionOf } from '../setup-run/paths.ts';
import { OLD_SKILL, SKILL } from '../setup-run/world.ts';

export type CustomizationChart = typeof customizationMachine;

export const OPERATIONS = ['dry-run', 'apply'] as const;
export const STEPS = ['recover', 'stage', 'place', 'recordBase'] as const;

export const ANSWERS: Readonly<Record<string, readonly unknown[]>> = {
  readShipped: [{ ok: true, fingerprint: SKILL }, { ok: false }],
  readBase: [
    { kind: 'none' },
    { kind: 'base', fingerprint: SKILL },
    { kind: 'base', fingerprint: OLD_SKILL },
    { kind: 'corrupt' },
  ],
  readOverride: ['absent', 'present', 'invalid'],
  ...Object.fromEntries(STEPS.map((step) => [step, [{ ok: true }, { ok: false }]])),
};

const domain: Domain<CustomizationChart> = {
  INTERRUPT: [{ type: 'INTERRUPT' }],
  ...Object.fromEntries(
    Object.entries(ANSWERS).flatMap(([name, answers]) => [
      [`xstate.done.actor.${name}`, answers.map((answer) => doneEvent(name, answer))],
      [`xstate.error.actor.${name}`, [errorEvent(name)]],
    ]),
  ),
};

export const model = (operation: (typeof OPERATIONS)[number], machine: CustomizationChart = customizationMachine) =>
  chartModel(machine, { domain, input: { operation } });

export const allModels = (machine: CustomizationChart) =>
  unionOf(OPERATIONS.map((operation) => model(operation, machine)));
