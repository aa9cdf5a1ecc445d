/** The rules of a skill slot, for the directory and for the fake of the charts' tests. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { SkillSlot, SlotContent } from '../../src/ports/setup/skill-slot.ts';

export type Version = 'old' | 'new';

export interface SlotHarness {
  readonly slot: SkillSlot;
  /** Another run over the same disk. */
  reopen(): SkillSlot;
  fingerprint(version: Version): string;
  /** Makes this version the effective skill; `none`: there is no usable one. */
  ship(version: Version | 'none'): void;
  /** Puts this into the slot, as its user would. */
  fill(content: Version | 'edited' | 'with hidden' | 'link to the source' | 'other link'): void;
  /** Is anything of ours left beside the slot? */
  litter(): boolean;
}

const OK = { ok: true };
const FAILED = { ok: false };

export function skillSlotContract(name: string, makeHarness: () => SlotHarness): void {
  describe(`skill slot: ${name}`, () => {
    let harness: SlotHarness;
    let slot: SkillSlot;
    beforeEach(() => {
      harness = makeHarness();
      slot = harness.slot;
    });
    const tree = (version: Version): SlotContent => ({
      kind: 'tree',
      fingerprint: harness.fingerprint(version),
      hidden: false,
    });
    async function install(version: Version): Promise<void> {
      harness.ship(version);
      expect(await slot.stage()).toEqual(OK);
      expect(await slot.place()).toEqual(OK);
      expect(await slot.look()).toEqual(tree(version));
    }

    it('tells the effective skill', async () => {
      harness.ship('new');
      expect(await slot.source()).toEqual({ ok: true, fingerprint: harness.fingerprint('new') });
      harness.ship('none');
      expect(await slot.source()).toEqual(FAILED);
      expect(await slot.stage()).toEqual(FAILED);
    });

    it('shows what is in the slot', async () => {
      harness.ship('new');
      expect(await slot.look()).toEqual({ kind: 'absent' });
      harness.fill('old');
      expect(await slot.look()).toEqual(tree('old'));
      harness.fill('with hidden');
      expect(await slot.look()).toMatchObject({ kind: 'tree', hidden: true });
      harness.fill('link to the source');
      expect(await slot.look()).toEqual({ kind: 'linked' });
      harness.fill('other link');
      expect(await slot.look()).toEqual({ kind: 'foreign' });
    });

    it('installs by staging and placing; staging alone changes nothing in the slot', async () => {
      harness.ship('new');
      expect(await slot.place()).toEqual(FAILED);
      expect(await slot.stage()).toEqual(OK);
      expect(await slot.stage()).toEqual(OK);
      expect(await slot.look()).toEqual({ kind: 'absent' });
      expect(await slot.place()).toEqual(OK);
      expect(await slot.look()).toEqual(tree('new'));
      expect(harness.litter()).toBe(false);
    });

    it('never places onto something', async () => {
      harness.ship('new');
      await slot.stage();
      for (const content of ['old', 'edited', 'other link'] as const) {
        harness.fill(content);
        const before = await slot.look();
        expect(await slot.place()).toEqual(FAILED);
        expect(await slot.look()).toEqual(before);
      }
    });

    it('exchanges the old copy for the new one', async () => {
      await install('old');
      harness.ship('new');
      await slot.stage();
      expect(await slot.displace(harness.fingerprint('old'))).toEqual(OK);
      expect(await slot.look()).toEqual({ kind: 'absent' });
      expect(await slot.displace(harness.fingerprint('old'))).toEqual(OK);
      expect(await slot.place()).toEqual(OK);
      expect(await slot.look()).toEqual(tree('new'));
      expect(await slot.discard(harness.fingerprint('old'))).toEqual(OK);
      expect(await slot.discard(harness.fingerprint('old'))).toEqual(OK);
      expect(harness.litter()).toBe(false);
    });

    it.each(['new', 'edited', 'with hidden', 'other link'] as const)(
      'does not displace what is %s',
      async (content) => {
        harness.ship('new');
        harness.fill(content);
        const before = await slot.look();
        expect(await slot.displace(harness.fingerprint('old'))).toEqual(FAILED);
        expect(await slot.look()).toEqual(before);
        expect(harness.litter()).toBe(false);
      },
    );

    it('does not displace an empty slot', async () => {
      expect(await slot.displace(harness.fingerprint('old'))).toEqual(FAILED);
    });

    it('puts the old copy back after an interrupted exchange', async () => {
      await install('old');
      harness.ship('new');
      await slot.stage();
      await slot.displace(harness.fingerprint('old'));
      const later = harness.reopen();
      expect(await later.recover([harness.fingerprint('new'), harness.fingerprint('old')])).toEqual(OK);
      expect(await later.look()).toEqual(tree('old'));
      expect(harness.litter()).toBe(false);
    });

    it('clears what is left beside a full slot', async () => {
      await install('old');
      harness.ship('new');
      await slot.stage();
      await slot.displace(harness.fingerprint('old'));
      await slot.place();
      const later = harness.reopen();
      await later.stage();
      expect(await later.recover([])).toEqual(OK);
      expect(await later.look()).toEqual(tree('new'));
      expect(harness.litter()).toBe(false);
    });

    it('does not bring back a copy that nobody vouches for, nor delete the last one', async () => {
      await install('old');
      harness.ship('new');
      await slot.displace(harness.fingerprint('old'));
      expect(await harness.reopen().recover([harness.fingerprint('new')])).toEqual(OK);
      expect(await slot.look()).toEqual({ kind: 'absent' });
      expect(harness.litter()).toBe(true);
    });
  });
}
