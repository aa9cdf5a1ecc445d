/** Reads back what the created session really is; any difference fails the start. */
import type { ExecutionProfile } from '../../config/configuration.ts';
import type { StartFailure, VerifiedSelection } from '../../ports/agent.ts';
import type { LoadedExtensions } from './extension-set.ts';
import { verifyExtendedTools } from './extension-tools.ts';
import { grantedToolNames, verifyGrants } from './granted-tools.ts';
import type { AgentSession, Skill } from './sdk.ts';
import { startFailure } from './selection.ts';
import { sameSkills, skillFailure } from './skills.ts';

const READ_ONLY = ['read', 'grep', 'find', 'ls'] as const;
const CODING = [...READ_ONLY, 'bash', 'edit', 'write'] as const;

/** Pi's own tools and those that are granted from outside; what extensions bring comes on top. */
export function toolsOf(profile: ExecutionProfile): string[] {
  return [...(profile.permissionProfile === 'coding' ? CODING : READ_ONLY), ...grantedToolNames(profile)];
}

function isExactly(actual: readonly string[], expected: readonly string[]): boolean {
  return actual.length === expected.length && expected.every((name) => actual.includes(name));
}

function isBare(session: AgentSession, extensions: LoadedExtensions | undefined): boolean {
  const loader = session.resourceLoader;
  return (
    loader.getPrompts().prompts.length === 0 &&
    loader.getThemes().themes.length === 0 &&
    loader.getExtensions().extensions.length === (extensions?.result.extensions.length ?? 0)
  );
}

function verifyTools(session: AgentSession, expected: readonly string[]): StartFailure | undefined {
  const match =
    isExactly(session.getActiveToolNames(), expected) && isExactly(session.getCallableToolNames(), expected);
  return match ? undefined : startFailure('execution_selection_mismatch', 'postcheck');
}

export function verifySession(
  session: AgentSession,
  profile: ExecutionProfile,
  skills: readonly Skill[],
  extensions: LoadedExtensions | undefined,
): { readonly ok: true; readonly selection: VerifiedSelection } | StartFailure {
  const { model, thinkingLevel } = session;
  if (model?.provider !== profile.provider || model.id !== profile.model) {
    return startFailure('execution_selection_mismatch', 'postcheck');
  }
  // The SDK clamps a level that the model does not have.
  if (thinkingLevel !== profile.thinkingLevel) return startFailure('thinking_level_unavailable', 'postcheck');
  const expected = toolsOf(profile);
  const toolProblem =
    verifyGrants(session, profile) ??
    (extensions ? verifyExtendedTools(session, profile, expected, extensions) : verifyTools(session, expected));
  if (toolProblem) return toolProblem;
  const sameSet = sameSkills(session.resourceLoader.getSkills().skills, skills);
  if (!sameSet) return skillFailure(extensions ? 'extension_bind' : 'postcheck');
  if (!isBare(session, extensions)) return startFailure('pi_session_creation_failed', 'postcheck');
  return { ok: true, selection: { provider: model.provider, model: model.id, thinkingLevel } };
}
