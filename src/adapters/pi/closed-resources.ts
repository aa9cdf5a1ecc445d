/**
 * The resources of a session, complete when it is created: the selected skills,
 * the pinned extensions and the context files, and nothing that is discovered.
 * Pi's own loader looks through packages and settings first, which takes nearly
 * as long as the rest of a start, and has to be told not to use what it finds.
 */
import type { LoadExtensionsResult, ResourceLoader, Sdk, Skill } from './sdk.ts';

export interface ClosedResources {
  readonly skills: readonly Skill[];
  readonly agentsFiles: ReturnType<Sdk['loadProjectContextFiles']>;
  /** None, if absent. */
  readonly extensions: LoadExtensionsResult | undefined;
}

/** What extensions add later (`extendResources`) is dropped, and a reload changes nothing. */
export function closedResources(sdk: Sdk, resources: ClosedResources): ResourceLoader {
  const extensions = resources.extensions ?? { extensions: [], errors: [], runtime: sdk.createExtensionRuntime() };
  const skills = { skills: [...resources.skills], diagnostics: [] };
  return {
    getExtensions: () => extensions,
    getSkills: () => skills,
    getPrompts: () => ({ prompts: [], diagnostics: [] }),
    getThemes: () => ({ themes: [], diagnostics: [] }),
    getAgentsFiles: () => ({ agentsFiles: resources.agentsFiles }),
    getSystemPrompt: () => undefined,
    getSystemPromptSource: () => undefined,
    getAppendSystemPrompt: () => [],
    getAppendSystemPromptSources: () => [],
    extendResources: () => {},
    reload: async () => {},
  };
}
