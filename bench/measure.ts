/** Samples and rows: how a number is taken and how it is judged. */

export interface Row {
  readonly what: string;
  readonly unit: 'ms' | 'MB' | 'bytes' | 'of 50';
  readonly ours: number;
  /** What `ours` is divided by; without one the number itself is judged. */
  readonly floor?: number;
  /** Upper bound of the ratio or of the number; without one the row is for information. */
  readonly limit?: number;
  /** For the few rows where more is better. */
  readonly atLeast?: boolean;
}

export interface Benchmark {
  readonly name: string;
  run(): Promise<readonly Row[]>;
}

export function judged(row: Row): number {
  return row.floor === undefined ? row.ours : row.ours / row.floor;
}

export function passes(row: Row): boolean {
  if (row.limit === undefined) return true;
  return row.atLeast ? judged(row) >= row.limit : judged(row) <= row.limit;
}

export function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

type Side = () => Promise<number>;

/**
 * Takes one sample of each side in turn, every other round in reverse, so that
 * whatever else the machine does meets all sides alike. Returns the medians.
 */
export async function interleaved<K extends string>(
  rounds: number,
  sides: Readonly<Record<K, Side>>,
): Promise<Record<K, number>> {
  const names = Object.keys(sides) as K[];
  const samples = new Map(names.map((name): [K, number[]] => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) samples.get(name)?.push(await sides[name]());
  }
  return Object.fromEntries(names.map((name) => [name, median(samples.get(name) ?? [])])) as Record<K, number>;
}
