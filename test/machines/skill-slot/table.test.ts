/** The verdicts, row by row: what is promised for each operation, record and slot. */
import { describe, expect, test } from 'vitest';
import { initialTransition, transition } from 'xstate';
import { skillSlotMachine } from '../../../src/machines/setup/skill-slot.machine.ts';
import type { Operation } from '../../../src/ports/setup/target.ts';
import { doneEvent } from '../../kit/domain.ts';
import { SKILL } from '../setup-run/world.ts';
import { inputOf, SLOTS, STORES, type State } from './domain.ts';

const SOURCE = { ok: true, fingerprint: SKILL };

/** What the look at the slot leads to: a verdict, or the step that follows; recovery is taken for granted. */
function outcome(operation: Operation, records: unknown, slot: unknown, source: unknown = SOURCE): string {
  let [state] = initialTransition(skillSlotMachine, inputOf(operation)) as unknown as [State, unknown];
  const answers: Readonly<Record<string, unknown>> = {
    readRecords: records,
    readSource: source,
    look: slot,
    recover: { ok: true },
  };
  while (state.status === 'active') {
    const [child = ''] = Object.keys(state.children);
    if (!(child in answers)) return `→ ${child}`;
    [state] = transition(skillSlotMachine, state, doneEvent(child, answers[child]) as never) as [State, never];
  }
  return `${state.output?.status} ${state.output?.code}`;
}

type Row = readonly [store: string, ...outcomes: string[]];

const BY_OTHERS = 'divergent skill_divergent';
const KEPT = 'unchanged skill_kept_shared';
const NOT_OWNED = 'unchanged skill_not_owned';
const NO_SLOT = 'failed skill_source_invalid';
const EQUIVALENT = 'unchanged skill_equivalent';
const LINKED = 'unchanged skill_linked';
const ALREADY = 'unchanged skill_already_equivalent';
const INSTALL_FAILED = 'failed skill_install_failed';
const UPDATE = 'planned skill_update_planned';
const every = (text: string) => Object.keys(SLOTS).map(() => text);

/** Columns: absent, current, older, foreign, hidden, linked, not a tree, unresolved. */
const TABLES: Readonly<Record<Operation, readonly Row[]>> = {
  'dry-run': [
    ['none', 'absent skill_absent', EQUIVALENT, BY_OTHERS, BY_OTHERS, BY_OTHERS, LINKED, BY_OTHERS, NO_SLOT],
    ['owned', 'absent skill_absent', EQUIVALENT, BY_OTHERS, BY_OTHERS, BY_OTHERS, LINKED, BY_OTHERS, NO_SLOT],
    ['owned, older', 'absent skill_absent', BY_OTHERS, UPDATE, BY_OTHERS, BY_OTHERS, LINKED, BY_OTHERS, NO_SLOT],
    ['pending', 'absent skill_absent', EQUIVALENT, BY_OTHERS, BY_OTHERS, BY_OTHERS, LINKED, BY_OTHERS, NO_SLOT],
    ['pending, older', 'absent skill_absent', EQUIVALENT, UPDATE, BY_OTHERS, BY_OTHERS, LINKED, BY_OTHERS, NO_SLOT],
    ['pending update', 'absent skill_absent', EQUIVALENT, UPDATE, BY_OTHERS, BY_OTHERS, LINKED, BY_OTHERS, NO_SLOT],
  ],
  apply: [
    ['none', '→ put', ALREADY, BY_OTHERS, BY_OTHERS, BY_OTHERS, LINKED, BY_OTHERS, INSTALL_FAILED],
    ['owned', '→ put', ALREADY, BY_OTHERS, BY_OTHERS, BY_OTHERS, '→ drop', BY_OTHERS, INSTALL_FAILED],
    ['owned, older', '→ put', BY_OTHERS, '→ put', BY_OTHERS, BY_OTHERS, '→ drop', BY_OTHERS, INSTALL_FAILED],
    ['pending', '→ put', '→ put', BY_OTHERS, BY_OTHERS, BY_OTHERS, '→ drop', BY_OTHERS, INSTALL_FAILED],
    ['pending, older', '→ put', '→ put', '→ put', BY_OTHERS, BY_OTHERS, '→ drop', BY_OTHERS, INSTALL_FAILED],
    ['pending update', '→ put', '→ put', '→ put', BY_OTHERS, BY_OTHERS, '→ drop', BY_OTHERS, INSTALL_FAILED],
  ],
  verify: [
    [
      'none',
      'failed skill_missing',
      'ok skill_verified',
      'failed skill_not_equivalent',
      'failed skill_not_equivalent',
      'failed skill_not_equivalent',
      'ok skill_verified',
      'failed skill_not_equivalent',
      'failed skill_missing',
    ],
  ],
  remove: [
    ['none', ...every(NOT_OWNED)],
    ['shared', ...every(KEPT)],
    ['owned', '→ drop', '→ displace', BY_OTHERS, BY_OTHERS, BY_OTHERS, '→ drop', BY_OTHERS, BY_OTHERS],
    ['owned, older', '→ drop', BY_OTHERS, '→ displace', BY_OTHERS, BY_OTHERS, '→ drop', BY_OTHERS, BY_OTHERS],
    ['pending update', '→ drop', '→ displace', '→ displace', BY_OTHERS, BY_OTHERS, '→ drop', BY_OTHERS, BY_OTHERS],
    [
      'shared with a pending one',
      '→ drop',
      '→ displace',
      BY_OTHERS,
      BY_OTHERS,
      BY_OTHERS,
      '→ drop',
      BY_OTHERS,
      BY_OTHERS,
    ],
  ],
  rollback: [['shared', ...every(KEPT)]],
};

const FAILURES: Readonly<Record<Operation, { readonly store: string; readonly source: string }>> = {
  'dry-run': { store: 'failed ownership_unavailable', source: 'failed skill_source_invalid' },
  apply: { store: INSTALL_FAILED, source: 'failed skill_source_invalid' },
  verify: { store: 'ok skill_verified', source: 'failed skill_source_invalid' },
  remove: { store: 'failed cleanup_failed', source: '→ displace' },
  rollback: { store: 'failed cleanup_failed', source: '→ displace' },
};

describe.each(Object.entries(TABLES))('%s', (name, rows) => {
  const operation = name as Operation;
  test.each(rows)('%s', (store, ...expected) => {
    const read = { ok: true, records: STORES[store] };
    expect(Object.values(SLOTS).map((slot) => outcome(operation, read, slot))).toEqual(expected);
  });
  test('an unreadable store, an unusable source', () => {
    const { store, source } = FAILURES[operation];
    expect(outcome(operation, { ok: false }, SLOTS['current'])).toBe(store);
    const owned = { ok: true, records: STORES['owned'] };
    expect(outcome(operation, owned, SLOTS['current'], { ok: false })).toBe(source);
  });
});

/** Runs a list of steps to the end of the chart. */
function verdictOf(operation: Operation, answers: readonly unknown[]): string {
  let [state] = initialTransition(skillSlotMachine, inputOf(operation)) as unknown as [State, unknown];
  for (const answer of answers) {
    const [child = ''] = Object.keys(state.children);
    [state] = transition(skillSlotMachine, state, doneEvent(child, answer) as never) as [State, never];
  }
  return state.status === 'done' ? `${state.output.status} ${state.output.code}` : JSON.stringify(state.value);
}

const OK = { ok: true };
const NO = { ok: false };
const store = (name: string) => ({ ok: true, records: STORES[name] });
const { absent, current, older, linked } = SLOTS;

test.each([
  ['a new copy', 'apply', [store('none'), SOURCE, absent, OK, OK, OK, current, OK], 'ok skill_installed'],
  [
    'an update',
    'apply',
    [store('owned, older'), SOURCE, older, OK, older, OK, OK, OK, OK, current, OK, OK],
    'ok skill_updated',
  ],
  ['a pending copy', 'apply', [store('pending'), SOURCE, current, OK, current, OK], 'ok skill_installed'],
  ['a pending update', 'apply', [store('pending update'), SOURCE, current, OK, current, OK], 'ok skill_updated'],
  [
    'a pending update that has lost both copies',
    'apply',
    [store('pending update'), SOURCE, absent, OK, absent, OK, OK, OK, current, OK],
    'ok skill_installed',
  ],
  ['a link instead of our copy', 'apply', [store('owned'), SOURCE, linked, OK, linked, OK], LINKED],
  ['a step that fails', 'apply', [store('none'), SOURCE, absent, OK, NO, OK], INSTALL_FAILED],
  ['a copy that is not what was placed', 'apply', [store('none'), SOURCE, absent, OK, OK, OK, older], INSTALL_FAILED],
  ['a removal', 'remove', [store('owned'), current, OK, current, OK, OK, OK], 'ok skill_removed'],
  ['a copy that is gone', 'remove', [store('owned'), absent, OK, absent, OK], 'ok skill_absent'],
  ['a link that took its place', 'rollback', [store('owned'), linked, OK, linked, OK], NOT_OWNED],
  ['a removal that fails', 'remove', [store('owned'), current, OK, current, OK, NO], 'failed cleanup_failed'],
] as const)('%s', (_, operation, answers, expected) => {
  expect(verdictOf(operation, answers)).toBe(expected);
});
