/**
 * A world that outlives a run: records, clients, slots and an override in
 * memory. Each run is new and comes to the same world, like a process to a disk.
 */
import type { OwnershipRecord, RecordKey } from '../../../src/ports/setup/ownership.ts';
import type { Inspection, Mutation, RegistrationClient } from '../../../src/ports/setup/registration.ts';
import type { InterruptSignal, RunResult, SetupPorts, SetupTarget } from '../../../src/ports/setup/run.ts';
import type { Operation, Target } from '../../../src/ports/setup/target.ts';
import { runCustomization, runSetup } from '../../../src/setup/run-setup.ts';
import { ManualClock } from '../../kit/manual-clock.ts';
import {
  type CustomizationDisk,
  type HookDisk,
  MemoryCustomization,
  MemoryHook,
  MemoryOwnership,
  MemorySlot,
  type SlotDisk,
} from '../../kit/setup-fakes.ts';
import { type Ask, askOf, portsOf } from './port-calls.ts';
import { Referee } from './referee.ts';
import { RELEASE, SKILL } from './world.ts';

/** What a client holds under our alias; anything but ours is somebody else's. */
export type Entry = 'ours' | 'foreign' | null;

const keyOf = ({ client, scope }: Target) => `${client} ${scope}`;

export interface LabOptions {
  readonly records?: readonly OwnershipRecord[];
  readonly entries?: Readonly<Record<string, Entry>>;
  readonly slot?: SlotDisk['slot'];
  readonly customization?: CustomizationDisk;
  readonly hook?: HookDisk;
}

export class Lab {
  readonly records: OwnershipRecord[];
  readonly entries: Map<string, Entry>;
  readonly disk: SlotDisk;
  readonly customization: CustomizationDisk;
  readonly hook: HookDisk;
  /** One run at a time holds it; others learn that it is busy, or wait for it. */
  holder: symbol | undefined;
  readonly #waiting: (() => void)[] = [];

  constructor({ records = [], entries = {}, slot = { kind: 'absent' }, customization, hook }: LabOptions = {}) {
    this.hook = hook ?? { files: null, plugin: null };
    this.records = [...records];
    this.entries = new Map(Object.entries(entries));
    this.disk = { source: { ok: true, fingerprint: SKILL }, slot };
    this.customization = customization ?? {
      shipped: { ok: true, fingerprint: SKILL },
      override: 'absent',
      base: { kind: 'none' },
    };
  }

  /** Ports of one run. Each call takes effect when it is made; a crash lets go of the lock. */
  ask(): Ask {
    const run = Symbol('run');
    const store = new MemoryOwnership(this.records);
    const slot = new MemorySlot(this.disk);
    const hook = new MemoryHook(this.hook);
    const ports: SetupPorts = {
      fence: {
        acquire: async (signal) => {
          while (this.holder !== undefined && !signal.aborted) {
            await new Promise<void>((resolve) => {
              this.#waiting.push(resolve);
              signal.addEventListener('abort', () => resolve(), { once: true });
            });
          }
          if (signal.aborted) return 'unavailable';
          this.holder = run;
          return 'locked';
        },
        release: async () => {
          if (this.holder === run) this.unlock();
          return 'released';
        },
      },
      doctor: { check: async () => ({ errors: 0 }) },
      release: { fingerprint: async () => ({ ok: true, fingerprint: RELEASE }) },
      store,
      verifier: { handshake: async () => 'verified' },
      client: (target) => this.#client(target),
      slot: () => slot,
      wake: () => hook,
    };
    return askOf(ports);
  }

  /** What the kernel does when a process is gone. */
  unlock(): void {
    this.holder = undefined;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  askCustomization(): Ask {
    return askOf({} as SetupPorts, new MemoryCustomization(this.customization));
  }

  record(key: RecordKey): OwnershipRecord | undefined {
    return this.records.find(
      ({ client, scope, alias }) => client === key.client && scope === key.scope && alias === key.alias,
    );
  }

  #client(target: Target): RegistrationClient {
    const key = keyOf(target);
    const look = (): Inspection => {
      const entry = this.entries.get(key) ?? null;
      return entry === null ? 'absent' : entry === 'ours' ? 'equivalent' : 'divergent';
    };
    return {
      inspect: async () => look(),
      // Like a real one: it replaces what is there, without a word.
      add: async (): Promise<Mutation> => {
        this.entries.set(key, 'ours');
        return 'ended';
      },
      remove: async (): Promise<Mutation> => {
        this.entries.set(key, null);
        return 'ended';
      },
    };
  }
}

export interface LabRun {
  readonly result: Promise<RunResult>;
  readonly referee: Referee;
  readonly clock: ManualClock;
  readonly interrupt: (signal?: InterruptSignal) => void;
}

export interface LabRunOptions {
  readonly operation: Operation;
  readonly targets: readonly SetupTarget[];
  /** Between the run and the world: where a test counts, stops, delays or lies. */
  readonly between?: (ask: Ask) => Ask;
}

/** Starts a run in the lab; the referee sits next to the run and sees what it is told. */
export function runIn(lab: Lab, { operation, targets, between = (ask) => ask }: LabRunOptions): LabRun {
  const referee = new Referee({ operation, targets, release: RELEASE });
  const clock = new ManualClock();
  let interrupt: (signal: InterruptSignal) => void = () => {};
  const result = runSetup({ operation, targets }, portsOf(referee.watch(between(lab.ask()))), {
    clock,
    onInterrupt: (listener) => {
      interrupt = listener;
      return () => {};
    },
  });
  return {
    result,
    referee,
    clock,
    interrupt: (signal = 'SIGINT') => {
      referee.stop();
      interrupt(signal);
    },
  };
}

export function customizeIn(lab: Lab, between: (ask: Ask) => Ask = (ask) => ask): Promise<RunResult> {
  const { customization } = portsOf(between(lab.askCustomization()));
  return runCustomization({ operation: 'apply', alias: 'some-skill' }, customization, { clock: new ManualClock() });
}

/** Lets every promise that can settle do so. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
