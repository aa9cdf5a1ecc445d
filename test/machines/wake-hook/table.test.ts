/** The verdicts, row by row: what is promised for each operation, record and client. */
import { describe, expect, test } from 'vitest';
import { initialTransition, transition } from 'xstate';
import { wakeHookMachine } from '../../../src/machines/setup/wake-hook.machine.ts';
import type { Operation } from '../../../src/ports/setup/target.ts';
import { doneEvent } from '../../kit/domain.ts';
import { INSPECTIONS, inputOf, STORES, type State } from './domain.ts';

type Answer = readonly [string, unknown];

function after(operation: Operation, answers: readonly Answer[]): State {
  let [state] = initialTransition(wakeHookMachine, inputOf(operation)) as unknown as [State, unknown];
  for (const [name, answer] of answers) {
    const event = doneEvent(name, answer) as never;
    if (state.status === 'active') [state] = transition(wakeHookMachine, state, event) as [State, never];
  }
  return state;
}

function outcome(operation: Operation, answers: readonly Answer[]): string {
  const state = after(operation, answers);
  if (state.status === 'done') return `${state.output.verdict.status} ${state.output.verdict.code}`;
  return `→ ${Object.keys(state.children)[0]}`;
}

const OTHER = ['divergent wake_divergent', 'unsupported wake_unsupported', 'failed wake_failed'];
const OFF = 'unchanged wake_disabled';
const THERE = 'unchanged wake_equivalent';
const DONE = 'unchanged wake_already_equivalent';
const OLD = 'planned wake_update_planned';
const TAKEN = Array(4).fill('→ uninstallHook');
const ends = (verdict: string) => Array(7).fill(verdict);
const NOT_OURS = ends('unchanged wake_not_owned');
const KEPT = ends('unchanged wake_kept_shared');

type Row = readonly [store: string, ...outcomes: string[]];

const REMOVALS: readonly Row[] = [
  ['none', ...NOT_OURS],
  ['only of others', ...NOT_OURS],
  ['owned', ...TAKEN, ...OTHER],
  ['pending', ...TAKEN, ...OTHER],
  ['owned, of another release', ...TAKEN, ...OTHER],
  ['owned, wanted elsewhere', ...KEPT],
  ['owned, wanted in a project', ...KEPT],
  ['owned, the other one pending', ...TAKEN, ...OTHER],
  ['owned, and a registration of Codex', ...TAKEN, ...OTHER],
];

/** Columns: absent, equivalent, outdated, disabled, divergent, unsupported, failed. */
const TABLES: Readonly<Record<Operation, readonly Row[]>> = {
  'dry-run': [
    ['none', 'absent wake_absent', THERE, 'divergent wake_divergent', OFF, ...OTHER],
    ['owned', 'absent wake_absent', THERE, OLD, OFF, ...OTHER],
    ['pending', 'absent wake_absent', 'planned wake_equivalent', OLD, OFF, ...OTHER],
    ['owned, wanted elsewhere', 'absent wake_absent', THERE, OLD, OFF, ...OTHER],
  ],
  apply: [
    ['none', '→ put', DONE, 'divergent wake_divergent', OFF, ...OTHER],
    ['owned', '→ put', DONE, '→ put', OFF, ...OTHER],
    ['pending', '→ put', '→ put', '→ put', OFF, ...OTHER],
    ['owned, wanted elsewhere', '→ put', DONE, '→ put', OFF, ...OTHER],
  ],
  verify: [
    [
      'owned',
      'failed wake_missing',
      'ok wake_verified',
      'failed wake_not_equivalent',
      'failed wake_disabled',
      'failed wake_not_equivalent',
      ...OTHER.slice(1),
    ],
  ],
  remove: REMOVALS,
  rollback: REMOVALS,
};

describe.each(Object.entries(TABLES))('%s', (operation, rows) => {
  test.each(rows)('%s', (store, ...expected) => {
    const read = ['readRecords', { ok: true, records: STORES[store] }] as const;
    const actual = INSPECTIONS.map((each) => outcome(operation as Operation, [read, ['inspectHook', each]]));
    expect(actual).toEqual(expected);
  });
  test('without usable records', () => {
    expect(outcome(operation as Operation, [['readRecords', { ok: false }]])).toBe('failed ownership_unavailable');
  });
});

const OK = { ok: true } as const;
const INSTALL = [
  ['put', OK],
  ['installHook', 'failed'],
  ['inspectHook', 'equivalent'],
  ['put', OK],
] as const;
const REMOVE = [
  ['uninstallHook', 'failed'],
  ['inspectHook', 'absent'],
  ['drop', OK],
] as const;

/** What the client says about its own success is not believed either way. */
test.each<[string, Operation, string, readonly Answer[], string]>([
  ['installed', 'apply', 'none', [['inspectHook', 'absent'], ...INSTALL], 'ok wake_installed'],
  ['updated', 'apply', 'owned', [['inspectHook', 'outdated'], ...INSTALL], 'ok wake_updated'],
  [
    'recovered',
    'apply',
    'pending',
    [
      ['inspectHook', 'equivalent'],
      ['put', OK],
    ],
    'ok wake_installed',
  ],
  [
    'not there after all',
    'apply',
    'none',
    [['inspectHook', 'absent'], ...INSTALL.slice(0, 2), ['inspectHook', 'absent']],
    'failed wake_failed',
  ],
  ['removed', 'remove', 'owned', [['inspectHook', 'equivalent'], ...REMOVE], 'ok wake_removed'],
  ['forgotten', 'rollback', 'owned', [['inspectHook', 'absent'], ...REMOVE], 'ok wake_removed'],
  [
    'still there',
    'remove',
    'owned',
    [
      ['inspectHook', 'equivalent'],
      ['uninstallHook', 'ended'],
      ['inspectHook', 'outdated'],
    ],
    'failed wake_failed',
  ],
])('%s', (_, operation, store, answers, expected) => {
  expect(outcome(operation, [['readRecords', { ok: true, records: STORES[store] }], ...answers])).toBe(expected);
});
