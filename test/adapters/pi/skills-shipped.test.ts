/** The skills of the package: from the file to the session, through the real configuration. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseFrontmatter } from '@earendil-works/pi-coding-agent';
import { describe, expect, it } from 'vitest';
import { SCRIPTED_MODEL, SCRIPTED_PROVIDER } from '../../../demo/scripted-model.ts';
import { configurationFiles } from '../../../src/adapters/fs/configuration-files.ts';
import { MESSAGES } from '../../../src/adapters/mcp/messages.ts';
import { TOOLS } from '../../../src/adapters/mcp/tools.ts';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { REPOSITORY } from './lab.ts';
import { listedSkills, openShelf, openSkilledLab, type Shelf, skillText } from './skill-shelf.ts';

const SHIPPED = ['pi-session-implementation', 'pi-session-orchestration', 'pi-session-review'];
const shippedPath = (name: string) => join(REPOSITORY, 'skills', name, 'SKILL.md');
const textOf = (name: string) => readFileSync(shippedPath(name), 'utf8');

/** The skills that a configuration file in the shelf's folder gives to its one profile. */
function configured(shelf: Shelf, catalogue: Readonly<Record<string, string>>) {
  const profile = {
    provider: SCRIPTED_PROVIDER,
    model: SCRIPTED_MODEL,
    thinkingLevel: 'off',
    skills: Object.keys(catalogue),
  };
  const document = {
    workspaces: { main: '.' },
    skillCatalog: catalogue,
    executionProfiles: { only: { default: true, permissionProfile: 'read-only', ...profile } },
  };
  const file = join(shelf.root, 'pi-session-mcp.json');
  writeFileSync(file, JSON.stringify(document));
  const env = { PI_SESSION_MCP_CONFIG: file };
  const loaded = loadConfiguration({ env, packageRoot: REPOSITORY, files: configurationFiles });
  const skills = loaded.ok && loaded.configuration.executionProfiles['only']?.skills;
  if (!skills) throw new Error('the configuration was refused');
  return skills;
}

/** Name and file of each skill that a session's model is told of. */
async function listed(shelf: Shelf, catalogue: Readonly<Record<string, string>>) {
  const lab = await openSkilledLab(configured(shelf, catalogue));
  const { sessionId, ...outcome } = await lab.start('skilled');
  expect(outcome).toEqual({ ok: true });
  await lab.run(sessionId, 'go');
  return listedSkills(lab.model.requests[0]);
}

async function expectRefusal(shelf: Shelf, value: string): Promise<void> {
  const lab = await openSkilledLab(configured(shelf, { one: value }));
  const refusal = { ok: false, code: 'skill_load_failed', stage: 'skill_load', subject: { skill: 'one' } };
  expect(await lab.start('skilled')).toMatchObject(refusal);
  expect((await lab.start('reader')).ok).toBe(true);
}

describe('builtin:', () => {
  const all = Object.fromEntries(SHIPPED.map((name) => [name, `builtin:${name}`]));

  it('loads every shipped skill', async () => {
    const expected = SHIPPED.map((name) => ({ name, location: shippedPath(name) }));
    expect(await listed(openShelf(), all)).toMatchObject(expected);
  });

  it("prefers the operator's override, and adds a skill that is not shipped", async () => {
    const shelf = openShelf();
    const review = shelf.put('_', skillText('pi-session-review', 'my own'), 'skills/pi-session-review');
    const mine = shelf.put('_', skillText('mine'), 'skills/mine');
    expect(await listed(shelf, { ...all, mine: 'builtin:mine' })).toMatchObject([
      { name: 'pi-session-implementation', location: shippedPath('pi-session-implementation') },
      { name: 'pi-session-orchestration', location: shippedPath('pi-session-orchestration') },
      { name: 'pi-session-review', location: review.path, description: 'my own' },
      { name: 'mine', location: mine.path },
    ]);
  });

  it('takes a path that is relative to the configuration', async () => {
    const shelf = openShelf();
    const { path } = shelf.put('_', skillText('local'), 'skills-local/notes');
    const found = await listed(shelf, { notes: 'skills-local/notes/SKILL.md' });
    expect(found).toEqual([{ name: 'local', description: 'about local', location: path }]);
  });

  it.each<[string, (path: string) => void]>([
    ['no file', (path) => mkdirSync(path)],
    ['a FIFO', (path) => execFileSync('mkfifo', [path])],
    ['empty', (path) => writeFileSync(path, '')],
  ])('does not fall back to the shipped skill behind an override that is %s', async (_, create) => {
    const shelf = openShelf();
    const path = join(shelf.root, 'skills/pi-session-review/SKILL.md');
    mkdirSync(dirname(path), { recursive: true });
    create(path);
    await expectRefusal(shelf, 'builtin:pi-session-review');
  });

  it('fails the session, and not the server, for a skill of no library', () =>
    expectRefusal(openShelf(), 'builtin:no-such-skill'));

  it('is what the example configuration uses', async () => {
    const example = JSON.parse(readFileSync(join(REPOSITORY, 'pi-session-mcp.example.json'), 'utf8'));
    expect(example.executionProfiles['safe-readonly'].skills).toEqual(['pi-session-review']);
    expect(example.executionProfiles['coding-worker'].skills).toEqual(['pi-session-implementation']);
    expect(await listed(openShelf(), example.skillCatalog)).toHaveLength(2);
  });
});

describe('a shipped skill', () => {
  it('is one of three', () => expect(readdirSync(join(REPOSITORY, 'skills')).toSorted()).toEqual(SHIPPED));

  it.each(SHIPPED)('is read alike by every client: %s', (name) => {
    const text = textOf(name);
    const { frontmatter } = parseFrontmatter(text);
    expect(Object.keys(frontmatter)).toEqual(['name', 'description']);
    expect(frontmatter['name']).toBe(name);
    const description = String(frontmatter['description']);
    expect(description.length).toBeLessThanOrEqual(1024);
    // Plain on one line: no parser has to understand quotes, and no list that holds it breaks.
    expect(text.split('\n', 4)).toEqual(['---', `name: ${name}`, `description: ${description}`, '---']);
    expect(description).not.toMatch(/[<>"]|: |#/);
    expect(text.split('\n').length).toBeLessThan(150);
    expect(text).not.toMatch(/\r|\t|\uFEFF/);
    expect(text.endsWith('\n')).toBe(true);
  });
});

describe('the orchestration skill', () => {
  const named = new Set(textOf('pi-session-orchestration').match(/[a-z]+(?:_[a-z]+)+/g));
  const tools = new Set<string>(TOOLS.map((tool) => tool.name));
  const codes = new Set(Object.keys(MESSAGES));

  it('names no tool and no code that the server does not have', () => {
    const unknown = [...named].filter((word) => !tools.has(word) && !codes.has(word));
    expect(unknown).toEqual(['turn_failed']);
  });

  it('names every tool that a run needs', () => {
    // The state of a session adds nothing to that of its turn.
    expect([...tools].filter((tool) => !named.has(tool))).toEqual(['pi_session_get']);
  });

  it('says what to do about every code that is not for the operator', () => {
    const operators =
      /^(unknown_(provider|model)|local_authentication_missing|.*_unavailable|execution_.*|external_mcp_.*|extension_.*|skill_.*)$/;
    expect([...codes].filter((code) => !named.has(code) && !operators.test(code))).toEqual([]);
  });
});
