/** The rules of a customized skill, for the directories and for the fake of the charts' tests. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Customization } from '../../src/ports/setup/customization.ts';

export interface CustomizationHarness {
  readonly skill: Customization;
  /** Another run over the same disk. */
  reopen(): Customization;
  /** Makes an override, as the operator would. */
  override(content: 'good' | 'invalid'): void;
  corruptBases(): void;
  litter(): boolean;
}

const OK = { ok: true };
const FAILED = { ok: false };

export function customizationContract(name: string, makeHarness: () => CustomizationHarness): void {
  describe(`customization: ${name}`, () => {
    let harness: CustomizationHarness;
    let skill: Customization;
    beforeEach(() => {
      harness = makeHarness();
      skill = harness.skill;
    });

    it('copies the shipped skill by staging and placing', async () => {
      expect(await skill.shipped()).toMatchObject({ ok: true });
      expect(await skill.override()).toBe('absent');
      expect(await skill.place()).toEqual(FAILED);
      expect(await skill.stage()).toEqual(OK);
      expect(await skill.override()).toBe('absent');
      expect(await skill.place()).toEqual(OK);
      expect(await skill.override()).toBe('present');
      expect(harness.litter()).toBe(false);
    });

    it.each(['good', 'invalid'] as const)('never places onto an override (%s)', async (content) => {
      await skill.stage();
      harness.override(content);
      expect(await skill.place()).toEqual(FAILED);
      expect(await harness.reopen().recover()).toEqual(OK);
      expect(await skill.override()).toBe(content === 'good' ? 'present' : 'invalid');
      expect(harness.litter()).toBe(false);
    });

    it('records a base and moves it', async () => {
      harness.override('good');
      expect(await skill.base()).toEqual({ kind: 'none' });
      for (const fingerprint of ['a'.repeat(64), 'b'.repeat(64)]) {
        expect(await skill.recordBase(fingerprint)).toEqual(OK);
        expect(await harness.reopen().base()).toEqual({ kind: 'base', fingerprint });
      }
    });

    it('leaves corrupt bases as they are', async () => {
      harness.corruptBases();
      expect(await skill.recordBase('a'.repeat(64))).toEqual(FAILED);
      expect(await skill.base()).toEqual({ kind: 'corrupt' });
    });
  });
}
