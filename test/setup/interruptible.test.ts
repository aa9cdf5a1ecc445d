import { expect, test } from 'vitest';
import type { InterruptSignal } from '../../src/ports/setup/run.ts';
import { interruptible } from '../../src/setup/writers/interruptible.ts';

/** Signals by hand; `listening` is false once nobody hears them. */
function signals() {
  const heard = { listening: false, interrupt: (_: InterruptSignal): void => {} };
  const onInterrupt = (interrupt: (signal: InterruptSignal) => void) => {
    heard.listening = true;
    heard.interrupt = interrupt;
    return () => {
      heard.listening = false;
    };
  };
  return { heard, onInterrupt };
}

test('what is under way is aborted and awaited, and the first signal is told', async () => {
  const { heard, onInterrupt } = signals();
  let end = (): void => {};
  const under = new Promise<void>((resolve) => {
    end = resolve;
  });
  let aborted: AbortSignal | undefined;
  let outcome: object | undefined;
  const run = interruptible(async (signal) => {
    aborted = signal;
    await under;
    return { found: 1 };
  }, onInterrupt).then((ended) => {
    outcome = ended;
  });
  heard.interrupt('SIGTERM');
  heard.interrupt('SIGINT');
  await new Promise((resolve) => setImmediate(resolve));
  expect([aborted?.aborted, outcome, heard.listening]).toEqual([true, undefined, true]);
  end();
  await run;
  expect([outcome, heard.listening]).toEqual([{ found: 1, interrupted: 'SIGTERM' }, false]);
});

test('without a signal nothing is added, and a defect is not swallowed', async () => {
  const { heard, onInterrupt } = signals();
  expect(await interruptible(async () => ({ found: 1 }), onInterrupt)).toEqual({ found: 1 });
  await expect(interruptible(() => Promise.reject(new Error('defect')), onInterrupt)).rejects.toThrow('defect');
  expect(heard.listening).toBe(false);
});
