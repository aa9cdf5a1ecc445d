/** The table that the writer chart goes by, whole. */
import { expect, test } from 'vitest';
import { type Plan, planFor } from '../../../src/machines/writers/plan.ts';
import type { WriterOperation } from '../../../src/ports/writers/lifecycle.ts';
import { INPUTS, OPERATIONS, PHASES } from './domain.ts';

const label = (plan: Plan): string => {
  if (plan.kind === 'stop') return plan.code;
  if (plan.kind === 'inspect' || plan.kind === 'consult') return plan.kind;
  if (plan.kind === 'collect') return `collect, ${plan.next}`;
  return `${plan.kind}, ${plan.phase}${plan.recorded ? '' : ' (new)'}`;
};

test('what each operation means in each phase', () => {
  const rows = PHASES.map((phase) => {
    const cells = OPERATIONS.map((operation) => {
      const plan = (discard: boolean) => label(planFor({ operation, lifecycle: 'persistent', discard }, phase));
      return plan(false) === plan(true) ? plan(false) : `${plan(false)}; discarding: ${plan(true)}`;
    });
    return `${phase}: ${cells.join(' | ')}`;
  });
  const early = (phase: string) =>
    `${phase}: provision, ${phase}${' | writer_not_provisioned'.repeat(6)} | remove, unregistering (new)`;
  const going = (phase: string) => `${phase}: ${'removal_unfinished | '.repeat(7)}remove, ${phase}`;
  const restarting = (phase: string) =>
    `${phase}: ${'restart_unfinished | '.repeat(4)}${`restart, ${phase} | `.repeat(2)}restart, recreating${phase === 'recreating' ? '' : ' (new)'} | remove, unregistering (new)`;
  const idle = 'inspect; discarding: remove, unregistering (new)';
  const notReady = 'writer_not_ready | '.repeat(3);
  expect(rows).toEqual([
    `null: provision, cloning (new)${' | writer_absent'.repeat(6)} | writer_unchanged`,
    ...['cloning', 'preparing', 'configuring', 'wrapping', 'registering'].map(early),
    `controlling: consult | provision, controlling | control_required | collect, null | ${notReady}${idle}`,
    `accepting: consult | provision, controlling (new) | provision, accepting | collect, null | ${notReady}${idle}`,
    [
      'ready: consult',
      'provision, controlling (new)',
      'provision, accepting (new)',
      'collect, null',
      'collect, resetting',
      'inspect; discarding: restart, resetting (new)',
      'inspect; discarding: restart, recreating (new)',
      idle,
    ].join(' | '),
    ...['resetting', 'recreating'].map(restarting),
    ...['unregistering', 'removing'].map(going),
  ]);
});

test('an ephemeral writer is made anew where a persistent one is reset', () => {
  const finish = (lifecycle: 'persistent' | 'ephemeral') =>
    planFor({ operation: 'finish', lifecycle, discard: false }, 'ready');
  expect([finish('persistent'), finish('ephemeral')]).toEqual([
    { kind: 'collect', next: 'resetting' },
    { kind: 'collect', next: 'recreating' },
  ]);
});

test('where somebody may have worked, nothing goes before a look, a collection, or a word of the operator', () => {
  const worked: readonly unknown[] = ['controlling', 'accepting', 'ready'];
  const destructive: WriterOperation[] = [];
  for (const input of INPUTS) {
    for (const phase of PHASES.filter((each) => worked.includes(each))) {
      const { kind } = planFor(input, phase);
      if (kind === 'restart' || kind === 'remove') {
        expect(input.discard).toBe(true);
        destructive.push(input.operation);
      }
    }
  }
  expect(new Set(destructive)).toEqual(new Set(['reset', 'recreate', 'remove']));
});
