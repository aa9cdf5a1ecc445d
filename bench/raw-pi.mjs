/** Raw Pi sessions with the resources and tools that ours have, and none of our rules. */
import { join } from 'node:path';

/** Imports the SDK and opens the model runtime. */
export async function openPi(agentDir) {
  const sdk = await import('@earendil-works/pi-coding-agent');
  const models = await sdk.ModelRuntime.create({
    authPath: join(agentDir, 'auth.json'),
    modelsPath: join(agentDir, 'models.json'),
    modelsStorePath: join(agentDir, 'models-store.json'),
    refreshOnCreate: false,
    allowModelNetwork: false,
  });
  return { sdk, models, agentDir };
}

export async function createSession({ sdk, models, agentDir }, cwd) {
  const settingsManager = sdk.SettingsManager.inMemory({}, { projectTrusted: false });
  const resourceLoader = new sdk.DefaultResourceLoader({
    cwd,
    agentDir,
    settingsManager,
    noExtensions: true,
    noSkills: true,
    noPromptTemplates: true,
    noThemes: true,
  });
  await resourceLoader.reload();
  const { session } = await sdk.createAgentSession({
    cwd,
    agentDir,
    modelRuntime: models,
    model: models.getModel('scripted', 'scripted-1'),
    thinkingLevel: 'off',
    tools: ['read', 'grep', 'find', 'ls'],
    resourceLoader,
    sessionManager: sdk.SessionManager.inMemory(cwd),
    settingsManager,
  });
  return session;
}
