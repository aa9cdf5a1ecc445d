/**
 * Steps between the adapters and the disk: each call that changes something can be watched,
 * preceded by somebody else's change, made to fail, or be the moment of death. This is the lowest seam
 * that Node has; the calls themselves are real.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const CHANGING = [
  'openSync',
  'writeSync',
  'fsyncSync',
  'renameSync',
  'mkdirSync',
  'unlinkSync',
  'rmdirSync',
  'chmodSync',
  'fchmodSync',
] as const;

export type Changing = (typeof CHANGING)[number];
type Call = (...args: never[]) => unknown;

/** What happens instead of, or before, one call; `run` is the call itself. */
export type Interception = (name: Changing, args: readonly unknown[], run: () => unknown) => unknown;

/** Runs `action` with every changing call going through `intercept`. */
export async function intercepted<T>(intercept: Interception, action: () => Promise<T>): Promise<T> {
  const originals = CHANGING.map((name) => [name, fs[name] as Call] as const);
  let inside = false;
  for (const [name, original] of originals) {
    const replacement = (...args: never[]): unknown => {
      const run = (): unknown => original(...args);
      if (inside || (name === 'openSync' && !creates(args[1]))) return run();
      inside = true;
      try {
        return intercept(name, args, run);
      } finally {
        inside = false;
      }
    };
    Object.assign(fs, { [name]: replacement });
  }
  syncBuiltinESMExports();
  try {
    return await action();
  } finally {
    for (const [name, original] of originals) Object.assign(fs, { [name]: original });
    syncBuiltinESMExports();
  }
}

function creates(flags: unknown): boolean {
  return typeof flags === 'number' ? (flags & fs.constants.O_CREAT) !== 0 : flags !== undefined && flags !== 'r';
}

function failure(code: string): Error {
  return Object.assign(new Error('a path and other things that must not get out'), { code });
}

/**
 * Runs `action` as a process that is killed right before its `count`-th change (from 0): nothing that it does
 * from then on reaches the disk, no clean-up either. A write that is hit leaves half of its bytes.
 *
 * @returns whether it got that far.
 */
export async function killedAt(count: number, action: () => Promise<unknown>): Promise<boolean> {
  let calls = 0;
  await intercepted((name, args, run) => {
    calls += 1;
    if (calls <= count) return run();
    if (calls === count + 1 && name === 'writeSync') {
      const bytes = args[1] as Uint8Array;
      fs.writeSync(args[0] as number, bytes.subarray(0, bytes.length >> 1));
    }
    throw failure('EIO');
  }, action);
  return calls > count;
}

/** Runs `action` with the `count`-th call of this kind (from 0) failing. @returns the result, and whether it came to that. */
export async function failingAt<T>(
  name: Changing,
  count: number,
  code: string,
  action: () => Promise<T>,
): Promise<{ result: T; failed: boolean }> {
  let calls = 0;
  const result = await intercepted((called, _args, run) => {
    if (called === name) calls += 1;
    if (called === name && calls === count + 1) throw failure(code);
    return run();
  }, action);
  return { result, failed: calls > count };
}
