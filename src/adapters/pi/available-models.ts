/** What the local Pi can use right now, for somebody who has to choose. Offline. */
import type { ThinkingLevel } from '../../config/configuration.ts';
import { openRuntime } from './model-runtime.ts';
import { loadSdk, type Model } from './sdk.ts';

export interface UsableModel {
  readonly provider: string;
  readonly model: string;
  /** Every level that the server's own check of a session would let pass; at least one. */
  readonly thinkingLevels: readonly ThinkingLevel[];
}

const LEVELS: readonly ThinkingLevel[] = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/**
 * Every model whose provider has a credential, sorted by provider and model.
 * @returns `undefined` when Pi's own files cannot be read. Never rejects.
 */
export async function listUsableModels(): Promise<readonly UsableModel[] | undefined> {
  try {
    const sdk = await loadSdk();
    const { models } = await openRuntime(sdk, sdk.getAgentDir());
    if (models.getError() !== undefined) return undefined;
    const found = await models.getAvailable();
    return found
      .map((model) => ({ provider: model.provider, model: model.id, thinkingLevels: levelsOf(model) }))
      .sort((one, other) => compare(one.provider, other.provider) || compare(one.model, other.model));
  } catch {
    return undefined;
  }
}

/** As Pi itself decides it; a level that it would lower fails a session's start. */
function levelsOf(model: Model): readonly ThinkingLevel[] {
  if (!model.reasoning) return ['off'];
  return LEVELS.filter((level) => {
    const mapped = model.thinkingLevelMap?.[level];
    // The two highest are there only where a model names them.
    return mapped !== null && (mapped !== undefined || (level !== 'xhigh' && level !== 'max'));
  });
}

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
