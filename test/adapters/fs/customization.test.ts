import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { customization } from '../../../src/adapters/fs/customization.ts';
import { basesFile, parseBases, readBases, shippedSkill } from '../../../src/adapters/fs/skill-bases.ts';
import type { Customization } from '../../../src/ports/setup/customization.ts';
import { hex, litter, modeOf, picture, scratch, write } from './lab.ts';
import { SKILL, VERSIONS } from './slot-lab.ts';
import { failingAt, intercepted, killedAt } from './system-calls.ts';

const OK = { ok: true };
const FAILED = { ok: false };
const ENOUGH = 100;

function stageOf() {
  const root = scratch();
  const packageRoot = join(root, 'package');
  const overrides = join(root, 'config', 'skills');
  write(join(packageRoot, 'skills', SKILL), VERSIONS.new);
  write(join(root, 'config'), {});
  const skillNamed = (name: string) => customization({ name, packageRoot, overrides });
  return { root, packageRoot, overrides, skillNamed, skill: skillNamed(SKILL), own: join(overrides, SKILL) };
}

async function customize(skill: Customization): Promise<boolean> {
  const shipped = await skill.shipped();
  if (!shipped.ok || !(await skill.recover()).ok) return false;
  if ((await skill.override()) === 'absent' && !((await skill.stage()).ok && (await skill.place()).ok)) return false;
  const base = await skill.base();
  if (base.kind === 'base' && base.fingerprint === shipped.fingerprint) return true;
  return (await skill.recordBase(shipped.fingerprint)).ok;
}

describe('a customized skill', () => {
  it('is the shipped one, file by file, with its base beside it', async () => {
    const { skill, own, overrides, packageRoot } = stageOf();
    write(join(packageRoot, 'skills', SKILL), { '.DS_Store': 'x' });
    expect(await customize(skill)).toBe(true);
    expect(Object.keys(picture(own))).toEqual([
      '.',
      './SKILL.md',
      './notes',
      './notes/a.md',
      './notes/deep',
      './notes/deep/b.md',
    ]);
    expect([modeOf(overrides), modeOf(own), modeOf(join(own, 'SKILL.md')), modeOf(basesFile(overrides))]).toEqual([
      '755',
      '755',
      '644',
      '644',
    ]);
    const shipped = shippedSkill(packageRoot, SKILL);
    expect(readBases(overrides)).toEqual({
      kind: 'bases',
      bases: new Map([[SKILL, shipped.ok && shipped.fingerprint]]),
    });
  });

  it('keeps every other base, and has no say in its own files when the base moves', async () => {
    const { skill, skillNamed, own, overrides } = stageOf();
    write(own, { 'SKILL.md': 'mine' });
    const mine = picture(own);
    await skillNamed('pi-session-review').recordBase(hex('a'));
    await skill.recordBase(hex('b'));
    await skill.recordBase(hex('c'));
    expect(readBases(overrides)).toEqual({
      kind: 'bases',
      bases: new Map([
        [SKILL, hex('c')],
        ['pi-session-review', hex('a')],
      ]),
    });
    expect(picture(own)).toEqual(mine);
  });

  it.each(['../package', 'a/b', '', '.', 'Capital', 'a--b', `${'a'.repeat(65)}`, 'not-shipped'])(
    'is not made of %j',
    async (name) => {
      const { root, skillNamed } = stageOf();
      const before = picture(root);
      const skill = skillNamed(name);
      expect(await skill.shipped()).toEqual(FAILED);
      expect(await skill.recover()).toEqual(OK);
      expect([await skill.stage(), await skill.place()]).toEqual([FAILED, FAILED]);
      expect(picture(root)).toEqual(before);
    },
  );

  it.each<[string, (own: string) => unknown]>([
    ['a link to a good skill', (own) => symlinkSync(write(join(own, '..', 'other'), VERSIONS.new), own)],
    ['a link to nowhere', (own) => symlinkSync('nowhere', own)],
    ['a file', (own) => write(join(own, '..'), { [SKILL]: 'mine' })],
    ['an empty directory', (own) => mkdirSync(own)],
    ['a tree with a link', (own) => symlinkSync('SKILL.md', join(write(own, VERSIONS.old), 'link'))],
    [
      '33 files',
      (own) => write(own, Object.fromEntries(Array.from({ length: 33 }, (_none, index) => [`${index}`, '']))),
    ],
  ])('is invalid, and left alone, as %s', async (_name, make) => {
    const { skill, own, overrides, root } = stageOf();
    mkdirSync(overrides);
    make(own);
    const before = picture(root);
    expect(await skill.override()).toBe('invalid');
    await skill.stage();
    expect(await skill.place()).toEqual(FAILED);
    expect(await skill.recover()).toEqual(OK);
    expect(picture(root)).toEqual(before);
  });

  it('may have the operator’s hidden entries', async () => {
    const { skill, own } = stageOf();
    write(own, { 'SKILL.md': 'mine', '.git/config': '' });
    expect(await skill.override()).toBe('present');
  });

  it('is never overwritten by a race', async () => {
    const { skill, own, root } = stageOf();
    await skill.stage();
    let made: Record<string, string> = {};
    const placed = intercepted(
      (name, _args, run) => {
        if (name === 'renameSync') {
          write(own, { 'SKILL.md': 'mine' });
          made = picture(root);
        }
        return run();
      },
      () => skill.place(),
    );
    expect(await placed).toEqual(FAILED);
    expect(picture(root)).toEqual(made);
  });

  it('is never half there when two runs meet: the loser deletes what it took aside, not what was placed', async () => {
    const { skill, skillNamed, root } = stageOf();
    await skill.stage();
    const rival = skillNamed(SKILL);
    const recovered = intercepted(
      (name, args, run) => {
        if (name === 'renameSync') renameSync(String(args[0]), join(root, 'config', 'skills', SKILL));
        return run();
      },
      () => rival.recover(),
    );
    expect(await recovered).toEqual(FAILED);
    expect(await skill.override()).toBe('present');
  });

  it('is there, whole, after any crash and another run', async () => {
    let died = 0;
    for (let at = 0; at < ENOUGH; at += 1) {
      const { skill, skillNamed, root, own } = stageOf();
      if (!(await killedAt(at, () => customize(skill)))) break;
      died += 1;
      expect(['absent', 'present']).toContain(await skill.override());
      expect(await customize(skillNamed(SKILL))).toBe(true);
      expect(litter(root)).toEqual([]);
      expect(picture(own)['./SKILL.md']).toMatch(/the new text, longer$/);
    }
    expect(died).toBeGreaterThan(20);
  });

  it('leaves nothing behind when the disk is full', async () => {
    for (const call of ['openSync', 'writeSync', 'fsyncSync', 'mkdirSync'] as const) {
      for (let at = 0; at < ENOUGH; at += 1) {
        const { skill, root } = stageOf();
        const before = picture(root);
        const { result, failed } = await failingAt(call, at, 'ENOSPC', () => skill.stage());
        expect(result).toEqual({ ok: !failed });
        if (!failed) break;
        expect(picture(root)).toEqual(before);
      }
    }
  });
});

describe('the bases file', () => {
  const parse = (value: unknown) => parseBases(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));

  it.each<[string, unknown]>([
    ['nothing', ''],
    ['another version', { schemaVersion: 2, bases: {} }],
    ['no bases', { schemaVersion: 1 }],
    ['a field too many', { schemaVersion: 1, bases: {}, more: 1 }],
    ['a name that is none', { schemaVersion: 1, bases: { '../a': hex('a') } }],
    ['a prototype', `{"schemaVersion":1,"bases":{"__proto__":"${hex('a')}"}}`],
    ['a name twice', `{"schemaVersion":1,"bases":{"a":"${hex('a')}","a":"${hex('a')}"}}`],
    ['a short fingerprint', { schemaVersion: 1, bases: { a: 'ab' } }],
    ['more than 64 KiB', `{"schemaVersion":1,"bases":{}}${' '.repeat(65_536)}`],
  ])('is corrupt with %s', async (_name, value) => {
    expect(parse(value)).toBeUndefined();
    const { skill, overrides } = stageOf();
    write(overrides, { '.pi-session-mcp-bases.json': typeof value === 'string' ? value : JSON.stringify(value) });
    const before = picture(overrides);
    expect(await skill.base()).toEqual({ kind: 'corrupt' });
    expect(await skill.recordBase(hex('a'))).toEqual(FAILED);
    expect(picture(overrides)).toEqual(before);
  });

  it('is corrupt as a link, and the link stays', async () => {
    const { skill, overrides, root } = stageOf();
    write(root, { 'elsewhere.json': '{"schemaVersion":1,"bases":{}}' });
    mkdirSync(overrides);
    symlinkSync(join(root, 'elsewhere.json'), basesFile(overrides));
    const before = picture(root);
    expect(await skill.base()).toEqual({ kind: 'corrupt' });
    expect(await skill.recordBase(hex('a'))).toEqual(FAILED);
    expect(picture(root)).toEqual(before);
  });

  it('is read back as it was written, for any names', async () => {
    const { skillNamed, overrides } = stageOf();
    mkdirSync(overrides);
    const name = fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}$/);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { minLength: 1, maxLength: 4 }), async (names) => {
        rmSync(basesFile(overrides), { force: true });
        for (const one of names) expect(await skillNamed(one).recordBase(hex('a'))).toEqual(OK);
        expect(readBases(overrides)).toEqual({
          kind: 'bases',
          bases: new Map(names.toSorted().map((one) => [one, hex('a')])),
        });
      }),
      { numRuns: 30 },
    );
  });

  it('loses its abandoned temporaries, and nothing that only looks like them', async () => {
    const { skill, overrides } = stageOf();
    const bases = '.pi-session-mcp-bases.json';
    const mine = { [`${bases}.tmp-${'a'.repeat(31)}`]: '', [`${bases}.tmp`]: '', [`other.tmp-${'a'.repeat(32)}`]: '' };
    write(overrides, { ...mine, [`${bases}.tmp-${'a'.repeat(32)}`]: 'half' });
    expect(await skill.recover()).toEqual(OK);
    expect(Object.keys(picture(overrides)).sort()).toEqual(
      ['.', ...Object.keys(mine).map((path) => `./${path}`)].sort(),
    );
  });
});
