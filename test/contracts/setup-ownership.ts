/** The rules of the ownership store, for the file and for the fake of the charts' tests. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { OwnershipRecord, OwnershipStore } from '../../src/ports/setup/ownership.ts';
import { PROJECT, REGISTRATION, SKILL } from './setup-records.ts';

export interface OwnershipHarness {
  readonly store: OwnershipStore;
  /** The same records in a later run. */
  reopen(): OwnershipStore;
  /** Makes what is stored unusable. */
  corrupt(): void;
}

const print = (digit: string): string => digit.repeat(64);
export function ownershipContract(name: string, makeHarness: () => OwnershipHarness): void {
  describe(`ownership store: ${name}`, () => {
    let harness: OwnershipHarness;
    let store: OwnershipStore;
    beforeEach(() => {
      harness = makeHarness();
      store = harness.store;
    });
    const stored = async () => harness.reopen().read();

    it('is empty at first, and dropping nothing is fine', async () => {
      expect(await store.drop(SKILL)).toEqual({ ok: true });
      expect(await store.read()).toEqual({ ok: true, records: [] });
    });

    it('keeps what was put, for later runs too', async () => {
      expect(await store.put(REGISTRATION)).toEqual({ ok: true });
      expect(await store.put(SKILL)).toEqual({ ok: true });
      expect(await stored()).toEqual({ ok: true, records: [REGISTRATION, SKILL] });
    });

    it('replaces the record with the same key and no other', async () => {
      const owned: OwnershipRecord = { ...REGISTRATION, phase: 'owned' };
      const local: OwnershipRecord = {
        ...REGISTRATION,
        client: 'claude-code',
        scope: 'local',
        alias: `pi-session-mcp${PROJECT}`,
      };
      for (const record of [REGISTRATION, local, SKILL, owned]) await store.put(record);
      expect(await stored()).toEqual({ ok: true, records: [owned, local, SKILL] });
    });

    it('drops one record by its key', async () => {
      await store.put(REGISTRATION);
      await store.put(SKILL);
      const { client, scope, alias } = REGISTRATION;
      expect(await store.drop({ client, scope, alias })).toEqual({ ok: true });
      expect(await stored()).toEqual({ ok: true, records: [SKILL] });
    });

    it('takes 128 records and not one more', async () => {
      const at = (index: number): OwnershipRecord => ({
        ...SKILL,
        alias: `skill:pi-session-orchestration@${index.toString(16).padStart(16, '0')}`,
      });
      for (let index = 0; index < 128; index += 1) expect(await store.put(at(index))).toEqual({ ok: true });
      expect(await store.put(at(128))).toEqual({ ok: false });
      expect(await store.put({ ...at(5), fingerprint: print('e') })).toEqual({ ok: true });
    });

    it('does nothing with what it cannot trust', async () => {
      await store.put(REGISTRATION);
      harness.corrupt();
      expect(await store.read()).toEqual({ ok: false });
      expect(await store.put(SKILL)).toEqual({ ok: false });
      expect(await store.drop(REGISTRATION)).toEqual({ ok: false });
    });
  });
}
