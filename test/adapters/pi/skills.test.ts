import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  AgentSession,
  DefaultResourceLoader,
  type ResourceLoader,
  SettingsManager,
} from '@earendil-works/pi-coding-agent';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { capabilitiesView } from '../../../src/adapters/mcp/projection.ts';
import { loadSelectedSkills } from '../../../src/adapters/pi/skills.ts';
import { configurationOf, type Lab, openLab, profile } from './lab.ts';
import { CANARY, listedSkills, openShelf, openSkilledLab, skillText } from './skill-shelf.ts';

/** Every place where Pi, Claude Code or Codex would look on its own. */
async function plantEverywhere(lab: Lab): Promise<void> {
  const places = [
    ...['.pi/agent', '.pi', '.claude', '.agents', '.codex'].map((place) => join(lab.root, place)),
    ...['.pi', '.claude', '.agents', '.codex', ''].map((place) => join(lab.workspace, place)),
    lab.agentDir,
  ];
  for (const [at, place] of places.entries()) {
    const file = join(place, `skills/planted-${at}/SKILL.md`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, skillText(`planted-${at}`));
  }
}

async function firstRequest(lab: Lab, executionProfile: string) {
  const { sessionId, ...outcome } = await lab.start(executionProfile);
  expect(outcome).toEqual({ ok: true });
  await lab.run(sessionId, 'go');
  return lab.model.requests.at(-1);
}

describe('the model is told', () => {
  it.each(['skilled', 'skilled-coder'])('of exactly the selected skills (%s)', async (alias) => {
    const shelf = openShelf();
    const description = `Use for R&D, "quotes" and what's left`;
    const zebra = shelf.put('z-alias', skillText('zebra', description), 'zebra');
    const apple = shelf.put('a-alias', skillText('apple'), 'apple');
    shelf.put('unselected', skillText('unselected'));
    const lab = await openSkilledLab([zebra, apple]);
    await plantEverywhere(lab);
    const request = await firstRequest(lab, alias);
    expect(listedSkills(request)).toEqual([
      { name: 'zebra', description, location: zebra.path },
      { name: 'apple', description: 'about apple', location: apple.path },
    ]);
    const sent = JSON.stringify(request?.body);
    expect(sent).not.toMatch(/planted|unselected/);
    // Listed, not handed over: the model reads the file when it wants to.
    expect(sent).not.toContain('body of');
  });

  it('of none in a profile without skills, whatever is lying around', async () => {
    const lab = await openSkilledLab([]);
    await plantEverywhere(lab);
    for (const alias of ['reader', 'coder', 'skilled']) {
      const request = await firstRequest(lab, alias);
      expect(listedSkills(request)).toEqual([]);
      expect(JSON.stringify(request?.body)).not.toMatch(/planted|available_skills|canary/);
    }
  });

  it('(control) Pi itself would find what is planted', async () => {
    const lab = await openLab();
    await plantEverywhere(lab);
    const { workspace: cwd, agentDir } = lab;
    const settingsManager = SettingsManager.create(cwd, agentDir, { projectTrusted: true });
    const loader = new DefaultResourceLoader({ cwd, agentDir, settingsManager });
    await loader.reload();
    await lab.close();
    const found = loader.getSkills().skills.map(({ filePath }) => filePath);
    expect(found.some((path) => path.startsWith(agentDir))).toBe(true);
    expect(found.some((path) => path.startsWith(cwd))).toBe(true);
  });
});

it('lets a read-only session read a skill that it is told of', async () => {
  const shelf = openShelf();
  const lab = await openSkilledLab([shelf.put('notes', skillText('notes'))]);
  lab.model.push({ tools: [{ name: 'read', args: { path: shelf.at('notes') } }] }, { text: 'read' });
  const request = await firstRequest(lab, 'skilled');
  expect(JSON.stringify(request?.body)).toContain('body of notes');
});

it('keeps a prompt that looks like a skill command as it is', async () => {
  const shelf = openShelf();
  const lab = await openSkilledLab([shelf.put('notes', skillText('notes'))]);
  const { sessionId } = await lab.start('skilled');
  await lab.run(sessionId, '/skill:notes now');
  const sent = JSON.stringify(lab.model.requests[0]?.body);
  expect(sent).toContain('/skill:notes now');
  expect(sent).not.toContain('body of notes');
});

it('loads a changed file with the next session and leaves the running one as it was', async () => {
  const shelf = openShelf();
  const selected = shelf.put('notes', skillText('notes', 'first'));
  const lab = await openSkilledLab([selected]);
  const { sessionId } = await lab.start('skilled');
  shelf.put('notes', skillText('notes', 'second'));
  await lab.run(sessionId, 'go');
  expect(listedSkills(lab.model.requests[0])).toMatchObject([{ description: 'first' }]);
  expect(listedSkills(await firstRequest(lab, 'skilled'))).toMatchObject([{ description: 'second' }]);
});

it('lets two profiles have different files under one name', async () => {
  const shelf = openShelf();
  const one = profile('one', { skills: [shelf.put('a', skillText('same', 'of a'))] });
  const two = profile('two', { skills: [shelf.put('b', skillText('same', 'of b'))] });
  const lab = await openLab({ profiles: [one, two] });
  expect(listedSkills(await firstRequest(lab, 'one'))).toMatchObject([{ description: 'of a' }]);
  expect(listedSkills(await firstRequest(lab, 'two'))).toMatchObject([{ description: 'of b' }]);
  await lab.close();
});

it('costs a profile without skills nothing', () => {
  const opened = new Proxy({} as Parameters<typeof loadSelectedSkills>[0]['opened'], {
    get: () => expect.unreachable('touched the SDK'),
  });
  const diagnostics = { report: () => expect.unreachable('reported') };
  const outcome = loadSelectedSkills({ opened, profile: profile('plain'), directory: '/', diagnostics });
  expect(outcome).toEqual({ ok: true, skills: [] });
});

it('shows the client aliases in configured order, whatever became of the files', () => {
  const skills = ['zebra', 'apple', 'mango'].map((alias) => ({ alias, path: `/${CANARY}/${alias}/SKILL.md` }));
  const view = capabilitiesView(configurationOf('/', {}, [profile('reader'), profile('skilled', { skills })]));
  expect(view.executionProfiles.map((one) => one.skills)).toEqual([[], ['zebra', 'apple', 'mango']]);
  expect(JSON.stringify(view)).not.toContain(CANARY);
});

describe('a session whose catalogues differ from the selection after its creation', () => {
  afterEach(() => vi.restoreAllMocks());

  const other = { filePath: '/elsewhere/SKILL.md' };
  type Skills = ReturnType<ResourceLoader['getSkills']>['skills'];
  /** What the created session says about its resources is not what it was given. */
  function afterCreation(change: (loader: ResourceLoader) => Partial<ResourceLoader>): void {
    const own = Object.getOwnPropertyDescriptor(AgentSession.prototype, 'resourceLoader');
    vi.spyOn(AgentSession.prototype, 'resourceLoader', 'get').mockImplementation(function (this: AgentSession) {
      const loader: ResourceLoader = own?.get?.call(this);
      return { ...loader, ...change(loader) };
    });
  }

  it.each<[string, (skills: Skills) => object[]]>([
    ['one more skill', (skills) => [...skills, { ...skills[0], name: 'more', ...other }]],
    ['one skill less', (skills) => skills.slice(1)],
    ['a skill from another file', ([first, ...rest]) => [{ ...first, ...other }, ...rest]],
    ['a skill under another name', ([first, ...rest]) => [{ ...first, name: 'renamed' }, ...rest]],
    ['a skill twice', ([first]) => [{ ...first }, { ...first }]],
  ])('is discarded: %s', async (_, change) => {
    const shelf = openShelf();
    const lab = await openSkilledLab([shelf.put('a', skillText('a')), shelf.put('b', skillText('b'))]);
    const dispose = vi.spyOn(AgentSession.prototype, 'dispose');
    afterCreation((loader) => {
      const { skills, diagnostics } = loader.getSkills();
      return { getSkills: () => ({ skills: change(skills) as Skills, diagnostics }) };
    });
    const { sessionId: _id, ...outcome } = await lab.start('skilled');
    expect(outcome).toEqual({ ok: false, code: 'skill_load_failed', stage: 'postcheck' });
    expect(dispose).toHaveBeenCalledTimes(1);
    vi.restoreAllMocks();
    expect((await lab.start('skilled')).ok).toBe(true);
  });

  it.each(['getPrompts', 'getThemes'] as const)('is discarded: something in %s', async (method) => {
    const shelf = openShelf();
    const lab = await openSkilledLab([shelf.put('a', skillText('a'))]);
    const filled = { prompts: [{}], themes: [{}], diagnostics: [] };
    afterCreation(() => ({ [method]: () => filled as never }));
    for (const alias of ['skilled', 'reader']) {
      expect(await lab.start(alias)).toMatchObject({ code: 'pi_session_creation_failed', stage: 'postcheck' });
    }
  });
});
