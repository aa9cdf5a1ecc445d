/** The referee sees what it is there to see: runs that break one rule each. */
import { describe, expect, test } from 'vitest';
import type { Operation } from '../../../src/ports/setup/target.ts';
import type { PortCall, PortName } from './port-calls.ts';
import { Referee } from './referee.ts';
import {
  CLAUDE,
  CODEX,
  GOOD,
  HOOK_KEY,
  hookRecord,
  LOCAL,
  OLD_SKILL,
  RELEASE,
  registrationRecord,
  SKILL,
  skillRecord,
} from './world.ts';

type Move = readonly [name: PortName, outcome?: unknown, input?: unknown];

const OWNED = { ok: true, records: [registrationRecord(CLAUDE), skillRecord(CLAUDE)] };
const PENDING = registrationRecord(CLAUDE, { phase: 'pending' });
const SKILL_PENDING = skillRecord(CLAUDE, { phase: 'pending' });
const HOOK_PENDING = hookRecord({ phase: 'pending' });
const HOOKED = { ok: true, records: [hookRecord()] };
const LOCK: Move = ['acquire'];

async function violationsOf(operation: Operation, moves: readonly Move[]): Promise<readonly string[]> {
  const referee = new Referee({ operation, targets: [CLAUDE], release: RELEASE });
  for (const [name, outcome = GOOD[name], input] of moves) {
    const call: PortCall = { name, target: CLAUDE, input };
    const ask = referee.watch(() => (outcome === 'never' ? new Promise(() => {}) : Promise.resolve(outcome)));
    const answer = ask(call);
    if (outcome !== 'never') await answer;
  }
  return referee.violations;
}

describe('nothing is said about', () => {
  test.each<[string, Operation, readonly Move[]]>([
    [
      'an addition',
      'apply',
      [
        LOCK,
        ['readRecords'],
        ['inspect', 'absent'],
        ['put', undefined, PENDING],
        ['add'],
        ['inspect'],
        ['put', undefined, registrationRecord(CLAUDE)],
        ['release'],
      ],
    ],
    [
      'a removal',
      'remove',
      [
        LOCK,
        ['readRecords', OWNED],
        ['inspect'],
        ['remove'],
        ['inspect', 'absent'],
        ['drop', undefined, CLAUDE.registration],
      ],
    ],
    [
      'a hook that comes and one that goes',
      'apply',
      [
        LOCK,
        ['readRecords'],
        ['inspectHook', 'absent'],
        ['put', undefined, HOOK_PENDING],
        ['installHook'],
        ['inspectHook'],
        ['put', undefined, hookRecord()],
        ['readRecords', HOOKED],
        ['inspectHook'],
        ['uninstallHook'],
        ['inspectHook', 'absent'],
        ['drop', undefined, HOOK_KEY],
      ],
    ],
  ])('%s', async (_, operation, moves) => {
    expect(await violationsOf(operation, moves)).toEqual([]);
  });
});

describe('a violation is', () => {
  test.each<[string, Operation, readonly Move[]]>([
    ['an addition without a record', 'apply', [LOCK, ['readRecords'], ['inspect', 'absent'], ['add']]],
    ['an addition over another entry', 'apply', [LOCK, ['put', undefined, PENDING], ['inspect', 'divergent'], ['add']]],
    [
      'a record that could not be written',
      'apply',
      [LOCK, ['inspect', 'absent'], ['put', { ok: false }, PENDING], ['add']],
    ],
    [
      'ownership of what was not seen',
      'apply',
      [
        LOCK,
        ['inspect', 'absent'],
        ['put', undefined, PENDING],
        ['add'],
        ['put', undefined, registrationRecord(CLAUDE)],
      ],
    ],
    ['a removal of what is not ours', 'remove', [LOCK, ['readRecords'], ['inspect'], ['remove']]],
    [
      'forgetting before absence is seen',
      'remove',
      [LOCK, ['readRecords', OWNED], ['inspect'], ['remove'], ['drop', undefined, CLAUDE.registration]],
    ],
    [
      'a change without the lock',
      'apply',
      [
        ['inspect', 'absent'],
        ['put', undefined, PENDING],
      ],
    ],
    ['a change in a dry-run', 'dry-run', [LOCK, ['inspect', 'absent'], ['put', undefined, PENDING]]],
    [
      'a foreign record',
      'apply',
      [LOCK, ['inspect', 'absent'], ['put', undefined, registrationRecord(CODEX, { phase: 'pending' })]],
    ],
    [
      'two changes at once',
      'apply',
      [LOCK, ['inspect', 'absent'], ['put', 'never', PENDING], ['put', undefined, PENDING]],
    ],
    ['an end beside a change', 'apply', [LOCK, ['inspect', 'absent'], ['put', 'never', PENDING], ['release']]],
    ['anything after the end', 'apply', [LOCK, ['release'], ['inspect']]],
    [
      'anything beside what may still run',
      'apply',
      [LOCK, ['inspect', 'absent'], ['put', undefined, PENDING], ['add', 'retained'], ['inspect']],
    ],
    ['a hook without a record', 'apply', [LOCK, ['readRecords'], ['inspectHook', 'absent'], ['installHook']]],
    [
      'a hook over another one',
      'apply',
      [LOCK, ['inspectHook', 'divergent'], ['put', undefined, HOOK_PENDING], ['installHook']],
    ],
    [
      'a hook owned that was not seen',
      'apply',
      [
        LOCK,
        ['inspectHook', 'absent'],
        ['put', undefined, HOOK_PENDING],
        ['installHook'],
        ['put', undefined, hookRecord()],
      ],
    ],
    ['a removal of a hook that is not ours', 'remove', [LOCK, ['readRecords'], ['inspectHook'], ['uninstallHook']]],
    [
      'a removal of a hook that is wanted',
      'remove',
      [
        LOCK,
        ['readRecords', { ok: true, records: [hookRecord(), registrationRecord(LOCAL)] }],
        ['inspectHook'],
        ['uninstallHook'],
      ],
    ],
    [
      'a hook forgotten while it is there',
      'remove',
      [LOCK, ['readRecords', HOOKED], ['inspectHook'], ['uninstallHook'], ['drop', undefined, HOOK_KEY]],
    ],
    ['a stage without a record', 'apply', [LOCK, ['readSource'], ['stage']]],
    [
      'a swap that the record does not tell of',
      'apply',
      [
        LOCK,
        ['readRecords', OWNED],
        ['readSource'],
        ['look'],
        ['put', undefined, SKILL_PENDING],
        ['displace', undefined, SKILL],
      ],
    ],
    [
      'a removal of a changed copy',
      'remove',
      [
        LOCK,
        ['readRecords', OWNED],
        ['look', { kind: 'tree', fingerprint: OLD_SKILL, hidden: false }],
        ['displace', undefined, OLD_SKILL],
      ],
    ],
    [
      'a deletion of what is still in place',
      'remove',
      [LOCK, ['readRecords', OWNED], ['look'], ['discard', undefined, SKILL]],
    ],
    [
      'a skill forgotten while it is there',
      'remove',
      [LOCK, ['readRecords', OWNED], ['look'], ['drop', undefined, CLAUDE.skill]],
    ],
    [
      'a skill owned that was not seen',
      'apply',
      [
        LOCK,
        ['readSource'],
        ['look', { kind: 'absent' }],
        ['put', undefined, SKILL_PENDING],
        ['stage'],
        ['place'],
        ['put', undefined, skillRecord(CLAUDE)],
      ],
    ],
  ])('%s', async (_, operation, moves) => {
    expect(await violationsOf(operation, moves)).not.toEqual([]);
  });
});
