/** A run that is killed before any one of its changes, or whose disk fails there, and the run after it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { skillSlot } from '../../../src/adapters/fs/skill-slot.ts';
import type { SkillSlot } from '../../../src/ports/setup/skill-slot.ts';
import { litter, picture, write } from './lab.ts';
import { fingerprint, type SlotStage, stageOf } from './slot-lab.ts';
import { failingAt, killedAt } from './system-calls.ts';

const OURS = [fingerprint('new'), fingerprint('old')];
/** More changes than any run makes. */
const ENOUGH = 100;

/** The order of the chart, without its decisions: stops at the first step that fails. */
async function apply(slot: SkillSlot): Promise<boolean> {
  const source = await slot.source();
  if (!source.ok || !(await slot.recover(OURS)).ok) return false;
  const content = await slot.look();
  if (content.kind === 'tree' && content.fingerprint === source.fingerprint) return true;
  if (!(await slot.stage()).ok) return false;
  if (content.kind === 'tree' && !(await slot.displace(content.fingerprint)).ok) return false;
  if (!(await slot.place()).ok) return false;
  return content.kind !== 'tree' || (await slot.discard(content.fingerprint)).ok;
}

async function remove(slot: SkillSlot): Promise<boolean> {
  if (!(await slot.recover(OURS)).ok) return false;
  const content = await slot.look();
  if (content.kind !== 'tree') return true;
  return (await slot.displace(content.fingerprint)).ok && (await slot.discard(content.fingerprint)).ok;
}

/** A home with the operator's own things in it, and the old copy if it is to be updated. */
async function homeWith(old: boolean): Promise<SlotStage> {
  const stage = stageOf('home');
  write(join(stage.base, '.claude', 'skills'), { 'mine/SKILL.md': 'mine', '.hidden': 'mine' });
  if (old) {
    stage.ship('old');
    expect(await apply(skillSlot(stage.input))).toBe(true);
  }
  stage.ship('new');
  return stage;
}

const RUNS = [
  { name: 'an installation', old: false, run: apply, left: 'new' },
  { name: 'an update', old: true, run: apply, left: 'new' },
  { name: 'a removal', old: true, run: remove, left: undefined },
] as const;

async function expectDone(stage: SlotStage, left: 'new' | undefined): Promise<void> {
  const slot = await skillSlot(stage.input).look();
  expect(slot).toEqual(
    left === undefined ? { kind: 'absent' } : { kind: 'tree', fingerprint: fingerprint(left), hidden: false },
  );
  expect(litter(stage.root)).toEqual([]);
  expect(picture(join(stage.base, '.claude', 'skills'))).toMatchObject({
    './.hidden': expect.stringMatching(/mine$/),
    './mine/SKILL.md': expect.stringMatching(/mine$/),
  });
}

/** At no moment does a client see half a skill. */
async function expectWhole(stage: SlotStage): Promise<void> {
  const content = await skillSlot(stage.input).look();
  if (content.kind === 'absent') return;
  expect(content.kind === 'tree' && OURS.includes(content.fingerprint)).toBe(true);
}

describe.each(RUNS)('$name', ({ old, run, left }) => {
  it('is finished by the next run, wherever it was killed', async () => {
    let died = 0;
    for (let at = 0; at < ENOUGH; at += 1) {
      const stage = await homeWith(old);
      if (!(await killedAt(at, () => run(skillSlot(stage.input))))) break;
      died += 1;
      await expectWhole(stage);
      expect(await run(skillSlot(stage.input))).toBe(true);
      await expectDone(stage, left);
    }
    expect(died).toBeGreaterThan(8);
    expect(died).toBeLessThan(ENOUGH);
  });

  it('is finished after two deaths, too', async () => {
    const moment = fc.nat({ max: 45 });
    await fc.assert(
      fc.asyncProperty(moment, moment, async (first, second) => {
        const stage = await homeWith(old);
        await killedAt(first, () => run(skillSlot(stage.input)));
        await killedAt(second, () => run(skillSlot(stage.input)));
        await expectWhole(stage);
        expect(await run(skillSlot(stage.input))).toBe(true);
        await expectDone(stage, left);
      }),
      { numRuns: 50 },
    );
  });

  it.each(['ENOSPC', 'EROFS'])('says so when the disk fails once (%s), and can be run again', async (code) => {
    for (const call of ['openSync', 'writeSync', 'fsyncSync', 'renameSync', 'mkdirSync', 'unlinkSync'] as const) {
      for (let at = 0; at < ENOUGH; at += 1) {
        const stage = await homeWith(old);
        const { result, failed } = await failingAt(call, at, code, () => run(skillSlot(stage.input)));
        expect(result).toBe(!failed);
        await expectWhole(stage);
        if (!failed) break;
        expect(await run(skillSlot(stage.input))).toBe(true);
        await expectDone(stage, left);
      }
    }
  });
});

describe('staging', () => {
  it('that fails leaves nothing at all, no parent directory either', async () => {
    for (const call of ['openSync', 'writeSync', 'fsyncSync', 'mkdirSync', 'chmodSync', 'fchmodSync'] as const) {
      for (let at = 0; at < ENOUGH; at += 1) {
        const stage = stageOf('home');
        stage.ship('new');
        const before = picture(stage.base);
        const slot = skillSlot(stage.input);
        const { result, failed } = await failingAt(call, at, 'ENOSPC', () => slot.stage());
        expect(result).toEqual({ ok: !failed });
        if (!failed) break;
        expect(picture(stage.base)).toEqual(before);
      }
    }
  });
});

describe('a package update between the crash and the next run', () => {
  it('ends with the newest skill; only a torn copy of the one in between can stay', async () => {
    const newest = { 'SKILL.md': 'newest' };
    for (let at = 0; at < ENOUGH; at += 1) {
      const stage = await homeWith(true);
      if (!(await killedAt(at, () => apply(skillSlot(stage.input))))) break;
      stage.ship('none');
      write(stage.shipped, newest);
      expect(await apply(skillSlot(stage.input))).toBe(true);
      expect(picture(stage.entry)['./SKILL.md']).toMatch(/newest$/);
      expect(litter(stage.root).filter((path) => !path.includes('.staged-'))).toEqual([]);
    }
  });
});

describe('a copy that was edited before the next run', () => {
  it('is never deleted or replaced, wherever the update was killed', async () => {
    for (let at = 0; at < ENOUGH; at += 1) {
      const stage = await homeWith(true);
      if (!(await killedAt(at, () => apply(skillSlot(stage.input))))) break;
      const copies = Object.keys(picture(stage.base)).filter((path) =>
        /(displaced-\w+|orchestration)\/SKILL\.md$/.test(path),
      );
      for (const path of copies) writeFileSync(join(stage.base, path), 'edited');
      const slot = skillSlot(stage.input);
      await slot.recover(OURS);
      for (const expected of OURS) await slot.displace(expected);
      for (const expected of OURS) await slot.discard(expected);
      expect(copies.length).toBeGreaterThan(0);
      for (const path of copies) expect(picture(stage.base)[path]).toMatch(/edited$/);
    }
  });
});
