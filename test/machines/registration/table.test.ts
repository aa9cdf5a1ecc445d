/** The verdicts, row by row: what is promised for each operation, record and client. */
import { describe, expect, test } from 'vitest';
import { initialTransition, transition } from 'xstate';
import { registrationMachine } from '../../../src/machines/setup/registration.machine.ts';
import type { Operation } from '../../../src/ports/setup/target.ts';
import { doneEvent } from '../../kit/domain.ts';
import { INSPECTIONS, inputOf, STORES, type State } from './domain.ts';

/** What the first inspection leads to: a verdict, or the step that follows. */
function outcome(operation: Operation, records: unknown, inspection: string): string {
  let [state] = initialTransition(registrationMachine, inputOf(operation)) as unknown as [State, unknown];
  for (const event of [doneEvent('readRecords', records), doneEvent('inspect', inspection)]) {
    if (state.status === 'active') [state] = transition(registrationMachine, state, event as never) as [State, never];
  }
  if (state.status === 'done') return `${state.output.verdict.status} ${state.output.verdict.code}`;
  const [child] = Object.keys(state.children);
  return `→ ${child}`;
}

type Row = readonly [store: string, ...outcomes: string[]];

const UNSUPPORTED = 'unsupported client_unsupported';
const FAILED = 'failed inspect_failed';
const OTHER_RELEASE = 'failed release_binding_mismatch';
const OTHER_ENTRY = 'failed registration_fingerprint_mismatch';
const NOT_OURS = 'failed ownership_unavailable';
const MOVED_ON = 'failed ownership_diverged';
const REFUSED = 'divergent divergence_requires_replacement';
const NOT_EQUIVALENT = 'failed registration_not_equivalent';

/** Columns: absent, equivalent, divergent, unsupported, failed. */
const TABLES: Readonly<Partial<Record<Operation, readonly Row[]>>> = {
  'dry-run': [
    ['none', 'absent absent', 'unchanged equivalent', 'divergent divergent', UNSUPPORTED, FAILED],
    ['only of others', 'absent absent', 'unchanged equivalent', 'divergent divergent', UNSUPPORTED, FAILED],
    ['owned', 'absent absent', 'unchanged equivalent', 'divergent divergent', UNSUPPORTED, FAILED],
    ['pending', 'absent absent', 'planned equivalent', 'divergent divergent', UNSUPPORTED, FAILED],
    ['owned, other release', 'absent absent', OTHER_RELEASE, OTHER_RELEASE, UNSUPPORTED, FAILED],
    ['owned, other entry', 'absent absent', OTHER_ENTRY, OTHER_ENTRY, UNSUPPORTED, FAILED],
    ['pending, other release', 'absent absent', OTHER_RELEASE, OTHER_RELEASE, UNSUPPORTED, FAILED],
    ['pending, other entry', 'absent absent', OTHER_ENTRY, OTHER_ENTRY, UNSUPPORTED, FAILED],
  ],
  apply: [
    ['none', '→ put', 'unchanged already_equivalent', REFUSED, UNSUPPORTED, FAILED],
    ['only of others', '→ put', 'unchanged already_equivalent', REFUSED, UNSUPPORTED, FAILED],
    ['owned', '→ put', 'unchanged already_equivalent', REFUSED, UNSUPPORTED, FAILED],
    ['pending', '→ put', '→ put', REFUSED, UNSUPPORTED, FAILED],
    ['owned, other release', '→ put', OTHER_RELEASE, OTHER_RELEASE, UNSUPPORTED, FAILED],
    ['owned, other entry', '→ put', OTHER_ENTRY, OTHER_ENTRY, UNSUPPORTED, FAILED],
    ['pending, other release', '→ put', OTHER_RELEASE, OTHER_RELEASE, UNSUPPORTED, FAILED],
    ['pending, other entry', '→ put', OTHER_ENTRY, OTHER_ENTRY, UNSUPPORTED, FAILED],
  ],
  verify: [
    ['none', NOT_EQUIVALENT, '→ handshake', NOT_EQUIVALENT, UNSUPPORTED, FAILED],
    ['owned', NOT_EQUIVALENT, '→ handshake', NOT_EQUIVALENT, UNSUPPORTED, FAILED],
    ['pending', NOT_EQUIVALENT, '→ handshake', NOT_EQUIVALENT, UNSUPPORTED, FAILED],
    ['owned, other release', NOT_EQUIVALENT, OTHER_RELEASE, NOT_EQUIVALENT, UNSUPPORTED, FAILED],
    ['owned, other entry', NOT_EQUIVALENT, OTHER_ENTRY, NOT_EQUIVALENT, UNSUPPORTED, FAILED],
  ],
  remove: [
    ['none', NOT_OURS, NOT_OURS, NOT_OURS, NOT_OURS, NOT_OURS],
    ['only of others', NOT_OURS, NOT_OURS, NOT_OURS, NOT_OURS, NOT_OURS],
    ['owned', '→ drop', '→ remove', 'divergent ownership_diverged', UNSUPPORTED, FAILED],
    ['pending', '→ drop', '→ remove', 'divergent ownership_diverged', UNSUPPORTED, FAILED],
    ['owned, other release', '→ drop', MOVED_ON, MOVED_ON, UNSUPPORTED, FAILED],
    ['pending, other entry', '→ drop', MOVED_ON, MOVED_ON, UNSUPPORTED, FAILED],
    ['only the skill', 'ok removed', NOT_OURS, NOT_OURS, UNSUPPORTED, FAILED],
    ['only the skill, shared', NOT_OURS, NOT_OURS, NOT_OURS, NOT_OURS, NOT_OURS],
    ['only the skill, the other one pending', 'ok removed', NOT_OURS, NOT_OURS, UNSUPPORTED, FAILED],
  ],
  rollback: [['only the skill', 'ok rolled_back', NOT_OURS, NOT_OURS, UNSUPPORTED, FAILED]],
};

describe.each(Object.entries(TABLES))('%s', (operation, rows) => {
  test.each(rows)('%s', (store, ...expected) => {
    const read = { ok: true, records: STORES[store] };
    expect(INSPECTIONS.map((each) => outcome(operation as Operation, read, each))).toEqual(expected);
  });
  test('an unreadable store', () => {
    expect(outcome(operation as Operation, { ok: false }, 'equivalent')).toBe(NOT_OURS);
  });
});
