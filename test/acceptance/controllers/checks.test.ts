/** The checks of the controllers' acceptance hold for a sound run, and each fails for its own fault. */
import { describe, expect, it } from 'vitest';
import { abortChecks } from './checks/abort.ts';
import { type Checks, commonChecks } from './checks/common.ts';
import { parallelChecks } from './checks/parallel.ts';
import type { Evidence } from './evidence.ts';
import { ABORT, type Faults, PARALLEL, reword } from './faults.ts';
import { CREDENTIAL, type Mutable, soundAbort, soundParallel } from './sample.ts';

const ROWS: readonly (readonly [string, () => Evidence, (evidence: Evidence) => Checks, Faults])[] = [
  ['parallel', soundParallel, (evidence) => ({ ...commonChecks(evidence), ...parallelChecks(evidence) }), PARALLEL],
  ['abort', soundAbort, (evidence) => ({ ...commonChecks(evidence), ...abortChecks(evidence) }), ABORT],
];

describe.each(ROWS)('%s', (_, sound, checksOf, faults) => {
  it('holds for a sound run', () => {
    expect(Object.entries(checksOf(sound())).filter(([, passed]) => !passed)).toEqual([]);
  });

  it('has a fault for every check', () => {
    expect(new Set(faults.map(([check]) => check))).toEqual(new Set(Object.keys(checksOf(sound()))));
  });

  it.each(faults)('%s: %s', (check, _fault, plantIn) => {
    const evidence = structuredClone(sound()) as Mutable<Evidence>;
    plantIn(evidence);
    expect(checksOf(evidence)[check]).toBe(false);
  });
});

describe('what a worker says', () => {
  it('is counted and not forbidden', () => {
    const evidence = structuredClone(soundParallel()) as Mutable<Evidence>;
    reword('pi_turn_get', 0, 'STATUS: done', `see /opt/thing/else, ${CREDENTIAL}`)(evidence);
    expect(Object.entries(commonChecks(evidence)).filter(([, passed]) => !passed)).toEqual([]);
  });
});
