/**
 * Runs of the grants host in an arbitrary order of moves. A run is a list of
 * numbers, each picking one of the moves that are possible just then, so that a
 * failing run shrinks and can be replayed.
 */
import fc from 'fast-check';
import { describe, test } from 'vitest';
import type { GrantHostOptions } from '../../src/app/grant-host.ts';
import type { GrantsPort } from '../../src/ports/grants.ts';
import { GrantChaos } from './grant-chaos.ts';

/** @param choices One number a move; its lowest bit says whether the world may settle before the next one. */
export async function runGrantChaos(
  choices: readonly number[],
  assemble?: (options: GrantHostOptions) => GrantsPort,
): Promise<void> {
  const chaos = new GrantChaos(assemble);
  // Most of what is interesting comes after an opening, so half of the runs begin with one.
  if (((choices[0] ?? 0) & 2) !== 0) await chaos.openWell();
  for (const choice of choices) {
    const moves = chaos.moves();
    moves[(choice >>> 2) % moves.length]?.();
    if ((choice & 1) === 0) await chaos.flush();
    chaos.check();
  }
  await chaos.end();
}

const SEED = Number(process.env['SEED'] ?? 20_261_130);
const RUNS = Number(process.env['INTERLEAVINGS'] ?? 100_000);
const PARTS = 10;

export const choicesOfARun = fc.array(fc.nat(), { minLength: 1, maxLength: 60, size: 'max' });

/** The runs in parts that report their progress. */
export function grantInterleavings(): void {
  const runsPerPart = Math.ceil(RUNS / PARTS);
  describe(`${runsPerPart * PARTS} interleavings of external servers, seed ${SEED}`, () => {
    test.each(Array.from({ length: PARTS }, (_, part) => part))('part %i', { timeout: 1_200_000 }, async (part) => {
      const run = fc.asyncProperty(choicesOfARun, (each) => runGrantChaos(each));
      await fc.assert(run, { numRuns: runsPerPart, seed: SEED + part });
    });
  });
}
