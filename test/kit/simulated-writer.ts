/**
 * A writer, its clone, its client and the operator's checkout as plain data, and a
 * port that works on them. The process can be killed at any call, before or after
 * the call has had its effect; what is left is what a disk would hold.
 */
import type { Collected, Inspected, WriterPhase, WriterPort } from '../../src/ports/writers/lifecycle.ts';

export interface Disk {
  phase: WriterPhase | null;
  /** Commits and changes in the clone by name; null: there is no clone. */
  clone: string[] | null;
  /** False: somebody was killed while it was made, or made anew. */
  isWhole: boolean;
  hasState: boolean;
  hasConfiguration: boolean;
  hasWrapper: boolean;
  isRegistered: boolean;
  isControlled: boolean;
  isAccepted: boolean;
  /** What has come out. */
  readonly checkout: string[];
  /** What can never come out, because of its name. */
  readonly stuck: readonly string[];
}

export interface Death {
  /** Which call, counted from 1. */
  readonly at: number;
  /** `during`: half of the effect is there. */
  readonly when: 'before' | 'during' | 'after';
}

export function emptyDisk(stuck: readonly string[] = []): Disk {
  return {
    phase: null,
    clone: null,
    isWhole: false,
    hasState: false,
    hasConfiguration: false,
    hasWrapper: false,
    isRegistered: false,
    isControlled: false,
    isAccepted: false,
    checkout: [],
    stuck,
  };
}

/** A writer that somebody has worked in. */
export function workedDisk(work: readonly string[], stuck: readonly string[] = []): Disk {
  const made = { hasState: true, hasConfiguration: true, hasWrapper: true, isRegistered: true };
  return {
    ...emptyDisk(stuck),
    ...made,
    phase: 'ready',
    clone: [...work],
    isWhole: true,
    isControlled: true,
    isAccepted: true,
  };
}

/** May a client start the writer? Then all of it has to be there. */
export function isStartable(disk: Disk): boolean {
  return disk.phase === 'ready';
}

export class SimulatedWriter {
  readonly disk: Disk;
  readonly #death: Death | undefined;
  calls = 0;
  isDead = false;
  isHeld = false;

  constructor(disk: Disk, death?: Death) {
    this.disk = disk;
    this.#death = death;
  }

  /** What runs while nobody holds the writer, or in a process that is dead, is a mistake. */
  readonly mistakes: string[] = [];

  port(): WriterPort {
    const { disk } = this;
    const step =
      (name: string, effect: Partial<Disk>, half: Partial<Disk> = {}) =>
      () => {
        const finish = () => {
          Object.assign(disk, effect);
          return { ok: true };
        };
        return this.#call(name, finish, () => Object.assign(disk, half));
      };
    const fresh = { clone: [], isWhole: true };
    const torn = { clone: [], isWhole: false };
    const gone = { clone: null, isWhole: false, hasState: false, hasConfiguration: false, hasWrapper: false };
    return {
      fence: () =>
        this.#call('fence', () => {
          this.isHeld = true;
          return 'held' as const;
        }),
      release: () =>
        this.#call('release', () => {
          this.isHeld = false;
        }),
      quiesce: () => this.#call('quiesce', () => {}),
      read: () => this.#call('read', () => ({ ok: true, phase: disk.phase }) as const),
      record: (phase) => step('record', { phase })(),
      forget: step('forget', { phase: null }),
      clone: step('clone', fresh, torn),
      prepare: step('prepare', { hasState: true }),
      configure: step('configure', { hasConfiguration: true }),
      wrap: step('wrap', { hasWrapper: true }),
      register: step('register', { isRegistered: true }),
      control: step('control', { isControlled: true }),
      accept: step('accept', { isAccepted: true }),
      consult: () => this.#call('consult', () => (disk.isRegistered ? 'present' : 'absent')),
      inspect: () => this.#call('inspect', () => this.#look()),
      collect: () => this.#call('collect', () => this.#collect()),
      reset: step('reset', fresh, torn),
      recreate: step('recreate', fresh, torn),
      unregister: step('unregister', { isRegistered: false }),
      dispose: step('dispose', { ...gone, isControlled: false, isAccepted: false }, { clone: null, isWhole: false }),
    };
  }

  #look(): Inspected {
    if (this.disk.clone === null) return 'unknown';
    return this.disk.clone.every((each) => this.disk.checkout.includes(each)) ? 'clean' : 'work';
  }

  #collect(): Collected {
    const { clone, checkout, stuck } = this.disk;
    if (clone === null) return 'failed';
    const out = clone.filter((each) => !stuck.includes(each) && !checkout.includes(each));
    checkout.push(...out);
    return clone.some((each) => stuck.includes(each)) ? 'incomplete' : 'complete';
  }

  #call<T>(name: string, effect: () => T, half: () => void = () => {}): Promise<T> {
    if (this.isDead) return new Promise(() => {});
    this.calls += 1;
    if (name !== 'fence' && name !== 'release' && !this.isHeld) this.mistakes.push(`${name} without the fence`);
    const isHit = this.calls === this.#death?.at;
    if (isHit && this.#death?.when === 'during') half();
    if (isHit && this.#death?.when !== 'after') return this.#die();
    const outcome = effect();
    return isHit ? this.#die() : Promise.resolve(outcome);
  }

  /** Nobody hears of the call, and nothing comes after it. */
  #die(): Promise<never> {
    this.isDead = true;
    // The kernel lets go of the lock of a process that is gone.
    this.isHeld = false;
    return new Promise(() => {});
  }
}
