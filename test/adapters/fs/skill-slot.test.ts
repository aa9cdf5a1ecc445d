import { fstatSync, lstatSync, mkdirSync, renameSync, rmSync, type Stats, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { skillSlot } from '../../../src/adapters/fs/skill-slot.ts';
import { slotRootOf } from '../../../src/adapters/fs/slot-place.ts';
import type { SkillSlot } from '../../../src/ports/setup/skill-slot.ts';
import { litter, modeOf, picture, write } from './lab.ts';
import { fingerprint, SKILL, type SlotStage, stageOf, VERSIONS } from './slot-lab.ts';
import { type Changing, intercepted } from './system-calls.ts';

const OK = { ok: true };
const FAILED = { ok: false };

const inodeOf = ({ ino }: Stats): number => ino;
const installed = async (slot: SkillSlot) => (await slot.stage()).ok && (await slot.place()).ok;

describe('where the slots are', () => {
  it.each([
    ['codex', 'user', 'home', '/h', '.agents/skills'],
    ['claude-code', 'user', 'home', '/h', '.claude/skills'],
    ['claude-code', 'local', 'home', '/h', '.claude/skills'],
    ['claude-code', 'project', 'project', '/p', '.claude/skills'],
  ] as const)('%s:%s', (client, scope, kind, directory, below) => {
    const root = slotRootOf({ client, scope }, { home: '/h', project: '/p' });
    expect({ ...root, below: root.below.join('/') }).toEqual({ kind, directory, below });
  });
});

describe('what is written', () => {
  it('has fixed modes, whatever the umask and the source say, and nothing hidden', async () => {
    const stage = stageOf('home');
    stage.ship('new');
    write(stage.shipped, { '.DS_Store': 'x' });
    mkdirSync(join(stage.shipped, 'empty'));
    const before = process.umask(0o077);
    expect(await installed(skillSlot(stage.input)).finally(() => process.umask(before))).toBe(true);
    const modes = Object.entries(picture(stage.base)).map(([path, what]) => [path, what.split(' ', 2).join(' ')]);
    expect(Object.fromEntries(modes)).toEqual({
      '.': 'directory 755',
      './.claude': 'directory 755',
      './.claude/skills': 'directory 755',
      [`./.claude/skills/${SKILL}`]: 'directory 755',
      [`./.claude/skills/${SKILL}/SKILL.md`]: 'file 644',
      [`./.claude/skills/${SKILL}/notes`]: 'directory 755',
      [`./.claude/skills/${SKILL}/notes/a.md`]: 'file 644',
      [`./.claude/skills/${SKILL}/notes/deep`]: 'directory 755',
      [`./.claude/skills/${SKILL}/notes/deep/b.md`]: 'file 644',
    });
  });

  it('is durable before it is renamed, and so is the rename', async () => {
    const stage = stageOf('home');
    stage.ship('new');
    const log: string[] = [];
    const describeCall = (name: Changing, args: readonly unknown[]): string => {
      if (name === 'fsyncSync') return `fsync ${inodeOf(fstatSync(args[0] as number))}`;
      return name === 'renameSync' ? `rename ${String(args[0])}` : name;
    };
    await intercepted(
      (name, args, run) => {
        log.push(describeCall(name, args));
        return run();
      },
      () => installed(skillSlot(stage.input)),
    );
    const skills = join(stage.base, '.claude', 'skills');
    const staged = join(skills, `.${SKILL}.staged-${fingerprint('new')}`);
    const at = (path: string): string => path.replace(staged, stage.entry);
    const synced = (path: string) => `fsync ${inodeOf(lstatSync(at(path)))}`;
    const move = log.indexOf(`rename ${staged}`);
    const before = log.slice(0, move);
    for (const path of ['SKILL.md', 'notes/a.md', 'notes/deep/b.md', 'notes/deep', 'notes', '.']) {
      expect(before).toContain(synced(join(staged, path)));
    }
    for (const path of [stage.base, join(stage.base, '.claude'), skills]) expect(before).toContain(synced(path));
    expect(log.slice(move + 1)).toEqual([synced(skills)]);
  });
});

describe('what is deleted', () => {
  it('has its last name durably before the first of it goes', async () => {
    const stage = stageOf('home');
    stage.ship('old');
    const slot = skillSlot(stage.input);
    await installed(slot);
    await slot.displace(fingerprint('old'));
    const calls: Changing[] = [];
    await intercepted(
      (name, _args, run) => {
        calls.push(name);
        return run();
      },
      () => slot.discard(fingerprint('old')),
    );
    const unlinks = ['unlinkSync', 'unlinkSync', 'unlinkSync'];
    expect(calls).toEqual(['renameSync', 'fsyncSync', ...unlinks, 'rmdirSync', 'rmdirSync', 'fsyncSync']);
  });
});

describe('the effective skill', () => {
  it('is the operator’s version, also when that is unusable', async () => {
    const stage = stageOf('home');
    stage.ship('new');
    const slot = skillSlot(stage.input);
    write(stage.override, VERSIONS.old);
    expect(await slot.source()).toEqual({ ok: true, fingerprint: fingerprint('old') });
    symlinkSync('SKILL.md', join(stage.override, 'link.md'));
    expect(await slot.source()).toEqual(FAILED);
    expect(await slot.stage()).toEqual(FAILED);
    expect(litter(stage.root)).toEqual([]);
    rmSync(join(stage.override, 'SKILL.md'));
    expect(await slot.source()).toEqual({ ok: true, fingerprint: fingerprint('new') });
  });

  it('makes a link to it the operator’s own installation, only while it is valid and effective', async () => {
    const stage = stageOf('project');
    stage.ship('new');
    const slot = skillSlot(stage.input);
    mkdirSync(join(stage.entry, '..'), { recursive: true });
    symlinkSync(stage.shipped, stage.entry);
    expect(await slot.look()).toEqual({ kind: 'linked' });
    write(stage.override, VERSIONS.old);
    expect(await slot.look()).toEqual({ kind: 'foreign' });
    rmSync(stage.override, { recursive: true });
    rmSync(join(stage.shipped, 'SKILL.md'));
    expect(await slot.look()).toEqual({ kind: 'foreign' });
  });
});

type Links = readonly [name: string, make: (stage: SlotStage) => void];

const elsewhere = (stage: SlotStage): string => write(join(stage.root, 'elsewhere'), { 'mine.md': 'mine' });
const CLAUDE_LINK: Links = ['a linked .claude', (stage) => symlinkSync(elsewhere(stage), join(stage.base, '.claude'))];
const SKILLS_LINK: Links = [
  'a linked skills directory',
  (stage) => {
    mkdirSync(join(stage.base, '.claude'));
    symlinkSync(elsewhere(stage), join(stage.base, '.claude', 'skills'));
  },
];

describe('links above the slot', () => {
  it.each([CLAUDE_LINK, SKILLS_LINK])('in the home are followed and kept: %s', async (_name, make) => {
    const stage = stageOf('home');
    stage.ship('old');
    make(stage);
    const before = picture(stage.base);
    const slot = skillSlot(stage.input);
    expect(await slot.look()).toEqual({ kind: 'absent' });
    expect(await installed(slot)).toBe(true);
    expect(await slot.look()).toMatchObject({ kind: 'tree', fingerprint: fingerprint('old') });
    expect(await slot.displace(fingerprint('old'))).toEqual(OK);
    expect(await slot.discard(fingerprint('old'))).toEqual(OK);
    expect(picture(stage.base)).toEqual(before);
    expect(picture(join(stage.root, 'elsewhere'))['./mine.md']).toMatch(/mine$/);
  });

  it('at the home itself are followed', async () => {
    const stage = stageOf('home');
    stage.ship('new');
    symlinkSync(stage.base, join(stage.root, 'link'));
    const slot = skillSlot({ ...stage.input, root: { ...stage.input.root, directory: join(stage.root, 'link') } });
    expect(await installed(slot)).toBe(true);
    expect(picture(stage.entry)['./SKILL.md']).toMatch(/the new text, longer$/);
  });

  it.each<Links>([
    CLAUDE_LINK,
    SKILLS_LINK,
    [
      'a link that stays inside the project',
      (stage) => {
        mkdirSync(join(stage.base, 'inside'));
        symlinkSync('inside', join(stage.base, '.claude'));
      },
    ],
    ['a link to nowhere', (stage) => symlinkSync('nowhere', join(stage.base, '.claude'))],
  ])('in a project stop everything: %s', async (_name, make) => {
    const stage = stageOf('project');
    stage.ship('new');
    make(stage);
    write(join(stage.root, 'elsewhere', SKILL), VERSIONS.new);
    write(join(stage.root, 'elsewhere', 'skills', SKILL), VERSIONS.new);
    const before = picture(stage.root);
    const slot = skillSlot(stage.input);
    expect(await slot.look()).toEqual({ kind: 'foreign' });
    expect(await slot.recover([fingerprint('new')])).toEqual(OK);
    expect(await slot.stage()).toEqual(FAILED);
    expect(await slot.displace(fingerprint('new'))).toEqual(FAILED);
    expect(await slot.place()).toEqual(FAILED);
    expect(await slot.discard(fingerprint('new'))).toEqual(FAILED);
    expect(picture(stage.root)).toEqual(before);
  });

  it('at the project itself are resolved once', async () => {
    const stage = stageOf('project');
    stage.ship('new');
    symlinkSync(stage.base, join(stage.root, 'link'));
    const slot = skillSlot({ ...stage.input, root: { ...stage.input.root, directory: join(stage.root, 'link') } });
    expect(await installed(slot)).toBe(true);
  });

  it.each<Links>([
    ['no home', (stage) => rmSync(stage.base, { recursive: true })],
    ['a file in the way', (stage) => writeFileSync(join(stage.base, '.claude'), 'mine')],
    ['a file for a skills directory', (stage) => write(stage.base, { '.claude/skills': 'mine' })],
    ['a link to nowhere', (stage) => symlinkSync('nowhere', join(stage.base, '.claude'))],
    ['a link to itself', (stage) => symlinkSync('.claude', join(stage.base, '.claude'))],
  ])('leave no place: %s', async (_name, make) => {
    const stage = stageOf('home');
    stage.ship('new');
    make(stage);
    const before = picture(stage.root);
    const slot = skillSlot(stage.input);
    expect(await slot.look()).toEqual({ kind: 'unresolved' });
    expect(await slot.recover([])).toEqual(OK);
    expect([await slot.stage(), await slot.place()]).toEqual([FAILED, FAILED]);
    expect(picture(stage.root)).toEqual(before);
  });
});

describe('what is not ours', () => {
  it.each<[string, (stage: SlotStage) => void]>([
    ['a file', (stage) => write(join(stage.entry, '..'), { [SKILL]: 'mine' })],
    ['an empty directory', (stage) => write(stage.entry, {})],
    ['a directory without SKILL.md', (stage) => write(stage.entry, { 'a.md': 'mine' })],
    ['a tree with a link', (stage) => symlinkSync('/etc/hosts', join(write(stage.entry, VERSIONS.new), 'hosts'))],
  ])('is foreign in the slot: %s', async (_name, make) => {
    const stage = stageOf('home');
    stage.ship('new');
    make(stage);
    const before = picture(stage.base);
    const slot = skillSlot(stage.input);
    expect(await slot.look()).toEqual({ kind: 'foreign' });
    expect(await slot.displace(fingerprint('new'))).toEqual(FAILED);
    await slot.stage();
    expect(await slot.place()).toEqual(FAILED);
    expect(await slot.recover([fingerprint('new')])).toEqual(OK);
    expect(picture(stage.base)).toEqual(before);
  });

  it.each<[string, string, (path: string) => void]>([
    ['an edited staged copy', `staged-${fingerprint('new')}`, (path) => write(path, { 'SKILL.md': 'mine' })],
    [
      'a staged copy with something more',
      `staged-${fingerprint('new')}`,
      (path) => write(path, { ...VERSIONS.new, 'b.md': '' }),
    ],
    [
      'an edited displaced copy',
      `displaced-${fingerprint('old')}`,
      (path) => write(path, { ...VERSIONS.old, 'z.md': 'mine' }),
    ],
    [
      'a hidden note in a displaced copy',
      `displaced-${fingerprint('old')}`,
      (path) => write(path, { ...VERSIONS.old, '.note': '' }),
    ],
    ['a hidden note in a discarded copy', `discarded-${'a'.repeat(32)}`, (path) => write(path, { '.note': '' })],
    [
      'a link in a discarded copy',
      `discarded-${'a'.repeat(32)}`,
      (path) => symlinkSync('/etc', join(write(path, {}), 'etc')),
    ],
    ['a link with our name', `staged-${fingerprint('new')}`, (path) => symlinkSync('..', path)],
    ['a file with our name', `discarded-${'a'.repeat(32)}`, (path) => writeFileSync(path, 'mine')],
    ['nearly our name', `staged-${fingerprint('new')}0`, (path) => write(path, VERSIONS.new)],
    ['nearly our random name', `discarded-${'A'.repeat(32)}`, (path) => write(path, VERSIONS.new)],
  ])('is left beside the slot: %s', async (_name, suffix, make) => {
    const stage = stageOf('home');
    stage.ship('new');
    write(join(stage.entry, '..'), {});
    make(join(stage.entry, '..', `.${SKILL}.${suffix}`));
    const before = picture(stage.base);
    expect(await skillSlot(stage.input).recover([fingerprint('old'), fingerprint('new')])).toEqual(OK);
    expect(picture(stage.base)).toEqual(before);
  });

  it('is not written over when it has the name of the staged copy', async () => {
    const stage = stageOf('home');
    stage.ship('new');
    write(join(stage.entry, '..', `.${SKILL}.staged-${fingerprint('new')}`), { 'SKILL.md': 'mine' });
    const before = picture(stage.base);
    const slot = skillSlot(stage.input);
    expect([await slot.stage(), await slot.place()]).toEqual([FAILED, FAILED]);
    expect(picture(stage.base)).toEqual(before);
  });
});

/** Runs `action` with `change` done right before its first rename. */
async function beforeRename<T>(change: () => void, action: () => Promise<T>): Promise<T> {
  let done = false;
  return intercepted((name, _args, run) => {
    if (name === 'renameSync' && !done) {
      done = true;
      change();
    }
    return run();
  }, action);
}

describe('somebody else between the last check and the rename', () => {
  it.each<[string, (stage: SlotStage) => void]>([
    ['edits the copy', (stage) => writeFileSync(join(stage.entry, 'SKILL.md'), 'mine')],
    ['adds a hidden note', (stage) => writeFileSync(join(stage.entry, 'notes', '.mine'), 'mine')],
    [
      'puts a link in its place',
      (stage) => {
        renameSync(stage.entry, join(stage.root, 'moved'));
        symlinkSync(join(stage.root, 'moved'), stage.entry);
      },
    ],
  ])('keeps what they made: %s', async (_name, change) => {
    const stage = stageOf('home');
    stage.ship('old');
    const slot = skillSlot(stage.input);
    await installed(slot);
    await slot.look();
    let made: Record<string, string> = {};
    const changeOnce = () => {
      change(stage);
      made = picture(stage.root);
    };
    expect(await beforeRename(changeOnce, () => slot.displace(fingerprint('old')))).toEqual(FAILED);
    expect(picture(stage.root)).toEqual(made);
  });

  it.each<[string, (entry: string) => void]>([
    ['a directory with something in it', (entry) => write(entry, { 'a.md': 'mine' })],
    ['a file', (entry) => writeFileSync(entry, 'mine')],
    ['a link to nowhere', (entry) => symlinkSync('nowhere', entry)],
    ['a link to a directory', (entry) => symlinkSync('..', entry)],
  ])('is not overwritten when they put %s into the slot', async (_name, make) => {
    const stage = stageOf('home');
    stage.ship('new');
    const slot = skillSlot(stage.input);
    await slot.stage();
    let made: Record<string, string> = {};
    const change = () => {
      make(stage.entry);
      made = picture(stage.base);
    };
    expect(await beforeRename(change, () => slot.place())).toEqual(FAILED);
    expect(picture(stage.base)).toEqual(made);
  });

  it('loses an empty directory at most', async () => {
    const stage = stageOf('home');
    stage.ship('new');
    const slot = skillSlot(stage.input);
    await slot.stage();
    expect(
      await beforeRename(
        () => mkdirSync(stage.entry),
        () => slot.place(),
      ),
    ).toEqual(OK);
    expect(await slot.look()).toMatchObject({ fingerprint: fingerprint('new') });
  });

  it('gets back what they edited in a copy that was about to be deleted', async () => {
    const stage = stageOf('home');
    stage.ship('old');
    const slot = skillSlot(stage.input);
    await installed(slot);
    await slot.displace(fingerprint('old'));
    const aside = join(stage.entry, '..', `.${SKILL}.displaced-${fingerprint('old')}`);
    const change = () => writeFileSync(join(aside, 'SKILL.md'), 'mine');
    expect(await beforeRename(change, () => slot.discard(fingerprint('old')))).toEqual(FAILED);
    expect(await skillSlot(stage.input).recover([fingerprint('old')])).toEqual(OK);
    expect(picture(aside)['./SKILL.md']).toMatch(/mine$/);
    expect(litter(stage.root)).toHaveLength(1);
  });

  it('is noticed when the slot holds another directory than the one that was looked at', async () => {
    const stage = stageOf('home');
    stage.ship('old');
    const slot = skillSlot(stage.input);
    await installed(slot);
    await slot.look();
    renameSync(stage.entry, join(stage.root, 'moved'));
    write(stage.entry, VERSIONS.old);
    expect(await slot.displace(fingerprint('old'))).toEqual(FAILED);
    expect(modeOf(stage.entry)).toBe('755');
    expect(litter(stage.root)).toEqual([]);
    await slot.look();
    expect(await slot.displace(fingerprint('old'))).toEqual(OK);
  });
});
