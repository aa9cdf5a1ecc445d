/** What an extension adds to a session's resources must not reach it: the selection is the operator's. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as sdk from '@earendil-works/pi-coding-agent';
import { expect, it, onTestFinished } from 'vitest';
import { SCRIPTED_MODEL, SCRIPTED_PROVIDER } from '../../../demo/scripted-model.ts';
import { closedCatalogues, loadSelectedSkills } from '../../../src/adapters/pi/skills.ts';
import { extended, HOOKS, openExtensionLab } from './extension-lab.ts';
import { type Lab, openLab, REPOSITORY } from './lab.ts';
import { listedSkills, openShelf, type Shelf, skillText } from './skill-shelf.ts';

const THEME = 'node_modules/@earendil-works/pi-coding-agent/dist/modes/interactive/theme/dark.json';

type Catalogues = Partial<ReturnType<typeof closedCatalogues>>;

/** Adds a skill, a prompt template and a theme the way extensions do it, once the session is there. */
function addingExtension(shelf: Shelf): sdk.ExtensionFactory {
  const added = dirname(dirname(shelf.put('added', skillText('added')).path));
  const prompt = join(added, 'added-prompt.md');
  writeFileSync(prompt, 'HOSTILE TEMPLATE');
  const theme = join(added, 'added-theme.json');
  const text = readFileSync(join(REPOSITORY, THEME), 'utf8').replace(/"name": *"dark"/, '"name": "added"');
  writeFileSync(theme, text);
  return (pi) => {
    pi.on('resources_discover', () => ({
      skillPaths: [join(added, 'added/SKILL.md')],
      promptPaths: [prompt],
      themePaths: [theme],
    }));
  };
}

/** A session of the SDK with that extension and these loader options, and what its loader holds in the end. */
async function catalogueOf(lab: Lab, shelf: Shelf, catalogues: Catalogues) {
  const { agentDir, workspace: cwd } = lab;
  const settingsManager = sdk.SettingsManager.inMemory({}, { projectTrusted: false });
  const extensionFactories = [addingExtension(shelf)];
  const basis = { cwd, agentDir, settingsManager, extensionFactories, noContextFiles: true };
  const resourceLoader = new sdk.DefaultResourceLoader({ ...basis, ...catalogues });
  await resourceLoader.reload();
  const modelRuntime = await sdk.ModelRuntime.create({
    modelsPath: join(agentDir, 'models.json'),
    authPath: join(agentDir, 'auth.json'),
    refreshOnCreate: false,
  });
  const model = modelRuntime.getModel(SCRIPTED_PROVIDER, SCRIPTED_MODEL);
  if (!model) throw new Error('no model');
  const sessionManager = sdk.SessionManager.inMemory(cwd);
  const { session } = await sdk.createAgentSession({ ...basis, modelRuntime, model, resourceLoader, sessionManager });
  onTestFinished(() => session.dispose());
  await session.bindExtensions({});
  return {
    skills: resourceLoader.getSkills().skills.map(({ name }) => name),
    prompts: resourceLoader.getPrompts().prompts.length,
    themes: resourceLoader.getThemes().themes.length,
    systemPrompt: session.systemPrompt,
  };
}

async function setUp() {
  const lab = await openLab();
  onTestFinished(() => lab.close());
  const shelf = openShelf();
  const skills = [shelf.put('chosen', skillText('chosen'))];
  const source = { opened: { sdk, agentDir: lab.agentDir }, profile: { skills }, directory: lab.workspace };
  const selected = loadSelectedSkills({ ...source, diagnostics: { report: () => {} } });
  if (!selected.ok) throw new Error('not loaded');
  return { lab, shelf, skills: selected.skills };
}

it('leaves exactly the selected skills, and no prompt or theme', async () => {
  const { lab, shelf, skills } = await setUp();
  const found = await catalogueOf(lab, shelf, closedCatalogues(skills));
  expect(found).toMatchObject({ skills: ['chosen'], prompts: 0, themes: 0 });
  expect(found.systemPrompt).toContain('<name>chosen</name>');
  expect(found.systemPrompt).not.toContain('<name>added</name>');
});

it('leaves nothing in a profile without skills', async () => {
  const { lab, shelf } = await setUp();
  const found = await catalogueOf(lab, shelf, closedCatalogues([]));
  expect(found).toMatchObject({ skills: [], prompts: 0, themes: 0 });
  expect(found.systemPrompt).not.toContain('available_skills');
});

it('(control) would get all three in with the switches alone', async () => {
  const { lab, shelf } = await setUp();
  const found = await catalogueOf(lab, shelf, { noSkills: true, noPromptTemplates: true, noThemes: true });
  expect(found).toMatchObject({ skills: ['added'], prompts: 1, themes: 1 });
  expect(found.systemPrompt).toContain('<name>added</name>');
});

it("tells the model of a session with an extension of the operator's skills alone", async () => {
  const shelf = openShelf();
  const skills = [shelf.put('chosen', skillText('chosen'))];
  const lab = await openExtensionLab({ profiles: [extended('hooked', [HOOKS], { skills })] });
  onTestFinished(() => lab.close());
  const { sessionId, ...outcome } = await lab.start('hooked');
  expect(outcome).toEqual({ ok: true });
  await lab.run(sessionId, 'go');
  const expected = { name: 'chosen', description: 'about chosen', location: shelf.at('chosen') };
  expect(listedSkills(lab.model.requests[0])).toEqual([expected]);
});
