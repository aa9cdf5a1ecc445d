/**
 * Ports of setup in memory, held to the same contracts as the real ones
 * (test/contracts/setup-*.ts). What would be on a disk sits in a plain object that
 * outlives the fake: a new fake over the old disk is a new run after a crash.
 */
import type {
  Customization,
  OverrideContent,
  RecordedBase,
  ShippedSkill,
} from '../../src/ports/setup/customization.ts';
import type {
  Fingerprint,
  OwnershipRead,
  OwnershipRecord,
  OwnershipStore,
  RecordKey,
  WriteOutcome,
} from '../../src/ports/setup/ownership.ts';
import type { Mutation } from '../../src/ports/setup/registration.ts';
import type { SkillSlot, SkillSource, SlotContent, StepOutcome } from '../../src/ports/setup/skill-slot.ts';
import type { PluginInspection, WakePlugin } from '../../src/ports/setup/wake-plugin.ts';

const OK = { ok: true } as const;
const FAILED = { ok: false } as const;

export interface SlotDisk {
  source: SkillSource;
  slot: SlotContent;
  /** The complete tree beside the slot; a torn one is `torn`, and is as good as the source's. */
  staged?: Fingerprint | 'torn';
  displaced?: Fingerprint;
}

export type SlotStep = Exclude<keyof SkillSlot, 'source' | 'look'>;

export class MemorySlot implements SkillSlot {
  /** Steps that fail and change nothing, for as long as they are in here. */
  readonly refused = new Set<SlotStep>();
  readonly history: (keyof SkillSlot)[] = [];
  readonly disk: SlotDisk;

  constructor(disk: SlotDisk) {
    this.disk = disk;
  }

  async source(): Promise<SkillSource> {
    this.history.push('source');
    return this.disk.source;
  }

  async look(): Promise<SlotContent> {
    this.history.push('look');
    return this.disk.slot;
  }

  recover(ours: readonly Fingerprint[]): Promise<StepOutcome> {
    return this.#step('recover', () => {
      const { disk } = this;
      if (!this.#reachable) return true;
      delete disk.staged;
      if (disk.displaced === undefined) return true;
      if (disk.slot.kind !== 'absent') {
        delete disk.displaced;
      } else if (ours.includes(disk.displaced) || (disk.source.ok && disk.source.fingerprint === disk.displaced)) {
        disk.slot = treeOf(disk.displaced);
        delete disk.displaced;
      }
      return true;
    });
  }

  stage(): Promise<StepOutcome> {
    return this.#step('stage', () => {
      const { disk } = this;
      if (!this.#reachable || !disk.source.ok) return false;
      disk.staged = disk.source.fingerprint;
      return true;
    });
  }

  displace(expected: Fingerprint): Promise<StepOutcome> {
    return this.#step('displace', () => {
      const { disk } = this;
      if (disk.slot.kind === 'absent') return disk.displaced === expected;
      if (disk.slot.kind !== 'tree' || disk.slot.fingerprint !== expected || disk.slot.hidden) return false;
      disk.displaced = expected;
      disk.slot = { kind: 'absent' };
      return true;
    });
  }

  place(): Promise<StepOutcome> {
    return this.#step('place', () => {
      const { disk } = this;
      if (!disk.source.ok || disk.slot.kind !== 'absent' || disk.staged !== disk.source.fingerprint) return false;
      disk.slot = treeOf(disk.staged);
      delete disk.staged;
      return true;
    });
  }

  discard(expected: Fingerprint): Promise<StepOutcome> {
    return this.#step('discard', () => {
      const { disk } = this;
      if (disk.displaced !== undefined && disk.displaced !== expected) return true;
      delete disk.displaced;
      return true;
    });
  }

  /** Can anything be written at the slot's place? */
  get #reachable(): boolean {
    return this.disk.slot.kind !== 'unresolved' && this.disk.slot.kind !== 'foreign';
  }

  async #step(name: SlotStep, act: () => boolean): Promise<StepOutcome> {
    this.history.push(name);
    return { ok: !this.refused.has(name) && act() };
  }
}

function treeOf(fingerprint: Fingerprint): SlotContent {
  return { kind: 'tree', fingerprint, hidden: false };
}

const MAX_RECORDS = 128;

const keyOf = ({ client, scope, alias }: RecordKey): string => `${client} ${scope} ${alias}`;

export class MemoryOwnership implements OwnershipStore {
  /** `corrupt` makes every call fail; `full` makes every write fail. */
  trouble: 'none' | 'corrupt' | 'full' = 'none';
  readonly history: (keyof OwnershipStore)[] = [];
  /** What is on the disk, shared between runs. */
  readonly records: OwnershipRecord[];

  constructor(records: OwnershipRecord[] = []) {
    this.records = records;
  }

  async read(): Promise<OwnershipRead> {
    this.history.push('read');
    return this.trouble === 'corrupt' ? FAILED : { ok: true, records: [...this.records] };
  }

  async put(record: OwnershipRecord): Promise<WriteOutcome> {
    this.history.push('put');
    if (this.trouble !== 'none') return FAILED;
    const index = this.#indexOf(record);
    if (index < 0 && this.records.length >= MAX_RECORDS) return FAILED;
    if (index < 0) this.records.push(record);
    else this.records[index] = record;
    return OK;
  }

  async drop(key: RecordKey): Promise<WriteOutcome> {
    this.history.push('drop');
    if (this.trouble === 'corrupt') return FAILED;
    const index = this.#indexOf(key);
    if (index < 0) return OK;
    if (this.trouble === 'full') return FAILED;
    this.records.splice(index, 1);
    return OK;
  }

  #indexOf(key: RecordKey): number {
    return this.records.findIndex((record) => keyOf(record) === keyOf(key));
  }
}

export interface HookDisk {
  /** The plugin's files beside our state; `other` are of another release, or edited. */
  files: 'ours' | 'other' | null;
  /** What the client holds under our name. */
  plugin: 'ours' | 'disabled' | 'foreign' | null;
}

export class MemoryHook implements WakePlugin {
  readonly disk: HookDisk;

  constructor(disk: HookDisk) {
    this.disk = disk;
  }

  async inspect(): Promise<PluginInspection> {
    const { files, plugin } = this.disk;
    if (plugin === null) return 'absent';
    if (plugin === 'foreign') return 'divergent';
    if (plugin === 'disabled') return 'disabled';
    return files === 'ours' ? 'equivalent' : 'outdated';
  }

  async install(): Promise<Mutation> {
    this.disk.files = 'ours';
    this.disk.plugin = 'ours';
    return 'ended';
  }

  async uninstall(): Promise<Mutation> {
    this.disk.plugin = null;
    this.disk.files = null;
    return 'ended';
  }
}

export interface CustomizationDisk {
  shipped: ShippedSkill;
  override: OverrideContent;
  base: RecordedBase;
  staged?: 'whole' | 'torn';
}

export type CustomizationStep = Exclude<keyof Customization, 'shipped' | 'override' | 'base'>;

export class MemoryCustomization implements Customization {
  readonly refused = new Set<CustomizationStep>();
  readonly history: (keyof Customization)[] = [];
  readonly disk: CustomizationDisk;

  constructor(disk: CustomizationDisk) {
    this.disk = disk;
  }

  async shipped(): Promise<ShippedSkill> {
    this.history.push('shipped');
    return this.disk.shipped;
  }

  async override(): Promise<OverrideContent> {
    this.history.push('override');
    return this.disk.override;
  }

  async base(): Promise<RecordedBase> {
    this.history.push('base');
    return this.disk.base;
  }

  recover(): Promise<StepOutcome> {
    return this.#step('recover', () => {
      delete this.disk.staged;
      return true;
    });
  }

  stage(): Promise<StepOutcome> {
    return this.#step('stage', () => {
      if (!this.disk.shipped.ok) return false;
      this.disk.staged = 'whole';
      return true;
    });
  }

  place(): Promise<StepOutcome> {
    return this.#step('place', () => {
      if (this.disk.override !== 'absent' || this.disk.staged !== 'whole') return false;
      delete this.disk.staged;
      this.disk.override = 'present';
      return true;
    });
  }

  recordBase(fingerprint: string): Promise<StepOutcome> {
    return this.#step('recordBase', () => {
      if (this.disk.base.kind === 'corrupt') return false;
      this.disk.base = { kind: 'base', fingerprint };
      return true;
    });
  }

  async #step(name: CustomizationStep, act: () => boolean): Promise<StepOutcome> {
    this.history.push(name);
    return { ok: !this.refused.has(name) && act() };
  }
}
