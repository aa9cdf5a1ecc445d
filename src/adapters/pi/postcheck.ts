/** Reads back what the created session really is; any difference fails the start. */
import type { ExecutionProfile } from '../../config/configuration.ts';
import type { StartFailure, VerifiedSelection } from '../../ports/agent.ts';
import type { AgentSession, Skill } from './sdk.ts';
import { startFailure } from './selection.ts';
import { sameSkills, skillFailure } from './skills.ts';

const READ_ONLY = ['read', 'grep', 'find', 'ls'] as const;
const CODING = [...READ_ONLY, 'bash', 'edit', 'write'] as const;

export function toolsOf(profile: ExecutionProfile): string[] {
  return profile.permissionProfile === 'coding' ? [...CODING] : [...READ_ONLY];
}

function isExactly(actual: readonly string[], expected: readonly string[]): boolean {
  return actual.length === expected.length && expected.every((name) => actual.includes(name));
}

function isBare(session: AgentSession): boolean {
  const loader = session.resourceLoader;
  return (
    loader.getPrompts().prompts.length === 0 &&
    loader.getThemes().themes.length === 0 &&
    loader.getExtensions().extensions.length === 0
  );
}

export function verifySession(
  session: AgentSession,
  profile: ExecutionProfile,
  skills: readonly Skill[],
): { readonly ok: true; readonly selection: VerifiedSelection } | StartFailure {
  const { model, thinkingLevel } = session;
  if (model?.provider !== profile.provider || model.id !== profile.model) {
    return startFailure('execution_selection_mismatch', 'postcheck');
  }
  // The SDK clamps a level that the model does not have.
  if (thinkingLevel !== profile.thinkingLevel) return startFailure('thinking_level_unavailable', 'postcheck');
  const expected = toolsOf(profile);
  const toolsMatch =
    isExactly(session.getActiveToolNames(), expected) && isExactly(session.getCallableToolNames(), expected);
  if (!toolsMatch) return startFailure('execution_selection_mismatch', 'postcheck');
  if (!sameSkills(session.resourceLoader.getSkills().skills, skills)) return skillFailure('postcheck');
  if (!isBare(session)) return startFailure('pi_session_creation_failed', 'postcheck');
  return { ok: true, selection: { provider: model.provider, model: model.id, thinkingLevel } };
}
