/** Lock and guardian of one run, as the one thing that the run's chart knows of. */
import type { CommandRunner, HeldLock, KernelLock } from '../ports/setup/command.ts';
import type { OwnershipStore } from '../ports/setup/ownership.ts';
import type { Fence } from '../ports/setup/run.ts';

interface StartableRunner extends CommandRunner {
  start(): void;
}

export interface Fenced {
  /**
   * Takes the lock if nobody has it, and starts the guardian with it: both are there
   * when the run asks for them. Otherwise nothing happens, and the run waits as usual. Never throws.
   */
  begin(): void;
  readonly fence: Fence;
  /** Every command of a client goes through it; its guardian holds the lock as well, if one was taken. */
  readonly runner: CommandRunner;
  /** The store, as long as the lock file is the one that was locked. */
  guarded(store: OwnershipStore): OwnershipStore;
}

/** @param makeRunner Called once: with the locked descriptor, or without one for what only looks. */
export function createFence(lock: KernelLock, makeRunner: (lockFd?: number) => StartableRunner): Fenced {
  let held: HeldLock | undefined;
  let made: StartableRunner | undefined;
  const runner = () => {
    made ??= makeRunner(held?.fd);
    return made;
  };
  const hold = (lock: HeldLock) => {
    held = lock;
    // Its start overlaps with what comes before the first command.
    runner().start();
  };
  return {
    begin() {
      const taken = lock.acquireNow();
      if (taken) hold(taken);
    },
    fence: {
      async acquire(signal) {
        if (held) return 'locked';
        const outcome = await lock.acquire(signal);
        if (outcome.kind !== 'locked') return outcome.kind;
        hold(outcome.lock);
        return 'locked';
      },
      async release() {
        const outcome = (await made?.close()) ?? 'released';
        held?.release();
        return outcome;
      },
    },
    runner: { run: (command, signal) => runner().run(command, signal), close: () => runner().close() },
    guarded: (store) => ({
      read: () => store.read(),
      put: async (record) => (held?.intact() ? store.put(record) : { ok: false }),
      drop: async (key) => (held?.intact() ? store.drop(key) : { ok: false }),
    }),
  };
}
