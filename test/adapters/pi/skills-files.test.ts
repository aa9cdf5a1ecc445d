/** Skill files as people write them, and as they should not be. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import * as sdk from '@earendil-works/pi-coding-agent';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadSelectedSkills } from '../../../src/adapters/pi/skills.ts';
import type { SelectedSkill } from '../../../src/config/configuration.ts';
import { CANARY, listedSkills, openShelf, openSkilledLab, type Shelf, skillText } from './skill-shelf.ts';

const LIMIT = 262_144;
const BOM = '\uFEFF';
const GOOD = skillText('good');

/** Exactly this many bytes, with fewer characters. */
function skillOf(bytes: number): string {
  const start = `${skillText('good')}ééé\n`;
  return start + 'x'.repeat(bytes - Buffer.byteLength(start));
}

const frontmatter = (...lines: readonly string[]) => `---\n${lines.join('\n')}\n---\n\n${CANARY}\n`;

/** Makes a directory and, in it, something called SKILL.md. */
function make(shelf: Shelf, folder: string, create: (path: string) => void): SelectedSkill {
  mkdirSync(`${shelf.root}/${folder}`, { recursive: true });
  create(shelf.at(folder));
  return shelf.select(folder);
}

describe('a file that Pi understands is loaded', () => {
  it.each<[string, string | Buffer, string?]>([
    ['plain', GOOD],
    ['with a byte order mark', BOM + GOOD],
    ['with CRLF', GOOD.replaceAll('\n', '\r\n')],
    ['with both', (BOM + GOOD).replaceAll('\n', '\r\n')],
    ['with CR alone', GOOD.replaceAll('\n', '\r')],
    ['without a newline at the end', GOOD.trimEnd()],
    ['without a body', '---\nname: good\ndescription: about good\n---'],
    ['with a colon in a quoted description', frontmatter('name: good', 'description: "a: b"'), 'a: b'],
    ['with a colon that no blank follows', frontmatter('name: good', 'description: see http://x'), 'see http://x'],
    ['with a folded description', frontmatter('name: good', 'description: >-', '  a:', '  b'), 'a: b'],
    ['with fields of other clients', frontmatter('name: good', 'description: d', 'allowed-tools: Read', 'x: [1]'), 'd'],
    ['named by its folder alone', frontmatter('description: d'), 'd'],
    ['with the flag switched off', frontmatter('name: good', 'description: d', 'disable-model-invocation: false'), 'd'],
    ['of 256 KiB', skillOf(LIMIT)],
    [
      'with a description of 1,024 characters',
      frontmatter('name: good', `description: ${'d'.repeat(1024)}`),
      'd'.repeat(1024),
    ],
    ['with bytes that are no UTF-8 below', Buffer.concat([Buffer.from(GOOD), Buffer.from([0xff, 0x00, 0xfe])])],
  ])('%s', async (_, content, description = 'about good') => {
    const shelf = openShelf();
    const lab = await openSkilledLab([shelf.put('alias', content, 'good')]);
    const { sessionId, ...outcome } = await lab.start('skilled');
    expect(outcome).toEqual({ ok: true });
    await lab.run(sessionId, 'go');
    expect(listedSkills(lab.model.requests[0])).toEqual([{ name: 'good', description, location: shelf.at('good') }]);
    expect(lab.reports).toEqual([]);
  });

  it('under a name that differs from its folder and its alias', async () => {
    const shelf = openShelf();
    const lab = await openSkilledLab([shelf.put('alias', GOOD, 'folder')]);
    const { sessionId } = await lab.start('skilled');
    await lab.run(sessionId, 'go');
    expect(listedSkills(lab.model.requests[0])).toMatchObject([{ name: 'good', location: shelf.at('folder') }]);
  });

  it('through a link, under the path of the link', async () => {
    const shelf = openShelf();
    shelf.put('real', GOOD);
    const lab = await openSkilledLab([make(shelf, 'link', (path) => symlinkSync('../real/SKILL.md', path))]);
    const { sessionId } = await lab.start('skilled');
    await lab.run(sessionId, 'go');
    expect(listedSkills(lab.model.requests[0])).toMatchObject([{ name: 'good', location: shelf.at('link') }]);
  });

  it('without a word of its content on stderr, where the parser wonders about a line', async () => {
    const shelf = openShelf();
    const text = frontmatter('name: good', `description: !${CANARY} see below`);
    const lab = await openSkilledLab([shelf.put('alias', text, 'good')]);
    const warning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    expect((await lab.start('skilled')).ok).toBe(true);
    expect(warning).not.toHaveBeenCalled();
    process.emitWarning('later ones get through');
    expect(warning).toHaveBeenCalledTimes(1);
    warning.mockRestore();
    expect(lab.reports).toEqual([{ event: 'skill_warnings_suppressed', fields: { skill: 'alias', count: 1 } }]);
  });
});

type Arrange = (shelf: Shelf) => SelectedSkill;
const written =
  (content: string | Uint8Array): Arrange =>
  (shelf) =>
    shelf.put('bad', content);
const made =
  (create: (path: string, shelf: Shelf) => void): Arrange =>
  (shelf) =>
    make(shelf, 'bad', (path) => create(path, shelf));

/** Both the outcome and the report must be exactly this: no path, name or text of anybody. */
async function expectRefusal(skills: readonly SelectedSkill[], subject: object): Promise<void> {
  const lab = await openSkilledLab(skills);
  // The runtime is loaded, so that the time is that of the skill.
  expect((await lab.start('reader')).ok).toBe(true);
  const begin = performance.now();
  const { sessionId: _id, ...outcome } = await lab.start('skilled');
  expect(performance.now() - begin).toBeLessThan(5_000);
  expect(outcome).toEqual({ ok: false, code: 'skill_load_failed', stage: 'skill_load', subject });
  expect(lab.reports).toEqual([]);
  expect((await lab.start('coder')).ok).toBe(true);
}

describe('a start fails for', () => {
  it.each<[string, Arrange]>([
    ['a missing file', (shelf) => shelf.select('bad')],
    ['an empty file', written('')],
    ['a binary file', written(Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 3, 0xff, 0xfe]))],
    ['UTF-16', written(Buffer.from(BOM + GOOD, 'utf16le'))],
    ['no frontmatter', written(`# ${CANARY}\n`)],
    ['an empty frontmatter', written(`---\n---\n${CANARY}\n`)],
    ['an unclosed frontmatter', written(`---\nname: bad\ndescription: d\n\n${CANARY}\n`)],
    ['a blank line before the frontmatter', written(`\n${GOOD}`)],
    ['an unquoted colon and blank in the description', written(frontmatter('name: bad', `description: a: ${CANARY}`))],
    ['a field twice', written(frontmatter('name: bad', 'name: worse', 'description: d'))],
    ['no description', written(frontmatter('name: bad'))],
    ['a blank description', written(frontmatter('name: bad', 'description: "  "'))],
    ['a description that is no text', written(frontmatter('name: bad', 'description: [a]'))],
    ['a description of 1,025 characters', written(frontmatter('name: bad', `description: ${'d'.repeat(1025)}`))],
    ['an invalid name', written(frontmatter(`name: Big ${CANARY}`, 'description: d'))],
    ['a name of 65 characters', written(frontmatter(`name: ${'n'.repeat(65)}`, 'description: d'))],
    ['a folder whose name does not do', (shelf) => shelf.put('bad', frontmatter('description: d'), 'Bad_Folder')],
    [
      'a skill that the model may not use',
      written(frontmatter('name: b', 'description: d', 'disable-model-invocation: true')),
    ],
    ['one byte over 256 KiB', written(skillOf(LIMIT + 1))],
    [
      'a huge sparse file',
      made((path) => {
        writeFileSync(path, GOOD);
        truncateSync(path, 8 * 2 ** 30);
      }),
    ],
    [
      'a directory called SKILL.md',
      made((path, shelf) => {
        mkdirSync(path);
        shelf.put('inner', GOOD, 'bad/SKILL.md');
      }),
    ],
    ['a FIFO', made((path) => execFileSync('mkfifo', [path]))],
    ['a device', made((path) => symlinkSync('/dev/zero', path))],
    ['a dangling link', made((path) => symlinkSync(`/nowhere/${CANARY}`, path))],
    ['a link to itself', made((path) => symlinkSync('SKILL.md', path))],
    [
      'a loop of links',
      made((path, shelf) => {
        symlinkSync(path, `${shelf.root}/loop`);
        symlinkSync('../loop', path);
      }),
    ],
  ])('%s', async (_, arrange) => {
    const shelf = openShelf();
    const good = shelf.put('fine', GOOD, 'good');
    await expectRefusal([good, arrange(shelf)], { skill: 'bad' });
  });

  it.runIf(process.platform === 'linux')('a file of the kernel, whose size says nothing', async () => {
    const shelf = openShelf();
    const child = spawn('sleep', ['60'], { argv0: GOOD, stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    await expectRefusal([make(shelf, 'bad', (path) => symlinkSync(`/proc/${child.pid}/cmdline`, path))], {
      skill: 'bad',
    });
  });

  it('the first bad one of several', async () => {
    const shelf = openShelf();
    await expectRefusal([shelf.select('missing'), shelf.put('empty', '')], { skill: 'missing' });
  });

  it('a file without permission to read it', () => {
    const shelf = openShelf();
    const selected = shelf.put('bad', GOOD);
    chmodSync(shelf.root, 0o755);
    chmodSync(selected.path, 0o000);
    const diagnostics = { report: vi.fn() };
    const opened = { sdk, agentDir: shelf.root };
    const load = () => loadSelectedSkills({ opened, profile: { skills: [selected] }, directory: '/', diagnostics });
    // Root reads anything; as somebody else it is an ordinary user.
    const isRoot = process.getuid?.() === 0;
    let outcome: ReturnType<typeof load> | undefined;
    try {
      if (isRoot) process.seteuid?.(65_534);
      outcome = load();
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
    expect(outcome).toEqual({ ok: false, code: 'skill_load_failed', stage: 'skill_load', subject: { skill: 'bad' } });
    chmodSync(selected.path, 0o644);
    expect(load().ok).toBe(true);
  });
});

describe('a start fails, with nobody alone to blame, for', () => {
  it('two skills of one name', async () => {
    const shelf = openShelf();
    const skills = [shelf.put('a', GOOD), shelf.put('b', skillText('other')), shelf.put('c', GOOD)];
    await expectRefusal(skills, { count: 2 });
  });

  it('a name that another skill has from its folder', async () => {
    const shelf = openShelf();
    await expectRefusal([shelf.put('a', frontmatter('description: d'), 'good'), shelf.put('b', GOOD)], { count: 2 });
  });

  it('two aliases of one file', async () => {
    const shelf = openShelf();
    shelf.put('real', GOOD);
    const links = ['one', 'two'].map((folder) => make(shelf, folder, (path) => symlinkSync('../real/SKILL.md', path)));
    await expectRefusal([...links, shelf.select('real')], { count: 3 });
  });

  it('one file that has two names by its folders', async () => {
    const shelf = openShelf();
    shelf.put('real', frontmatter('description: d'));
    const link = make(shelf, 'link', (path) => symlinkSync('../real/SKILL.md', path));
    await expectRefusal([shelf.select('real'), link], { count: 2 });
  });

  it('one folder under two paths', async () => {
    const shelf = openShelf();
    const real = shelf.put('real', frontmatter('description: d'));
    symlinkSync('real', `${shelf.root}/linked-folder`);
    await expectRefusal([real, shelf.select('linked-folder')], { count: 2 });
  });

  it('a hard link, which is the same skill again', async () => {
    const shelf = openShelf();
    const real = shelf.put('real', GOOD);
    await expectRefusal([real, make(shelf, 'hard', (path) => linkSync(real.path, path))], { count: 2 });
  });
});
