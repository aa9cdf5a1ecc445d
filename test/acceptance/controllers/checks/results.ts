/** Reads what the server answered from the controller's calls. */

import type { McpCall } from '../../kit/driving/transcript.ts';
import type { Evidence } from '../evidence.ts';

export interface Result {
  readonly ok?: boolean;
  readonly error?: { readonly code: string };
  readonly server?: { readonly version: string };
  readonly configuration?: { readonly fingerprint: string };
  readonly executionProfiles?: readonly { readonly alias: string; readonly skills: readonly string[] }[];
  readonly session?: {
    readonly id: string;
    readonly workspace: string;
    readonly executionProfile: string;
    readonly state: string;
  };
  readonly turn?: {
    readonly turnId: string;
    readonly sessionId: string;
    readonly state: string;
    readonly startedAt: string;
    readonly completedAt?: string;
  };
}

/** One call with its place in the order of calls. */
export interface Answered {
  readonly at: number;
  readonly tool: string;
  readonly args: McpCall['args'];
  readonly result: Result;
}

export interface Turn {
  readonly turnId: string;
  readonly sessionId: string;
  readonly workspace: string;
  readonly state: string;
  /** Milliseconds since 1970, by the server's clock; `to` is NaN for a turn that was never seen to end. */
  readonly from: number;
  readonly to: number;
}

function parsed(text: string | undefined): Result {
  try {
    return JSON.parse(text ?? '{}') as Result;
  } catch {
    // What is not ours answers nothing; the scan tells of it.
    return {};
  }
}

export function answersOf(evidence: Evidence, tool?: string): readonly Answered[] {
  const calls = evidence.controller.calls.flatMap((call, at) => (call.kind === 'mcp' ? [{ call, at }] : []));
  const wanted = calls.filter(({ call }) => tool === undefined || call.tool === tool);
  return wanted.map(({ call, at }) => ({ at, tool: call.tool, args: call.args, result: parsed(call.results[0]) }));
}

/** Alias of the workspace → id of the session that was started there. */
export function sessionsOf(evidence: Evidence): ReadonlyMap<string, string> {
  const started = answersOf(evidence, 'pi_session_start').flatMap(({ result }) => result.session ?? []);
  return new Map(started.map(({ id, workspace }) => [workspace, id]));
}

/** The turns in the order of their prompts, each as last seen. */
export function turnsOf(evidence: Evidence): readonly Turn[] {
  const seen = answersOf(evidence, 'pi_turn_get').flatMap(({ result }) => result.turn ?? []);
  const workspaces = new Map([...sessionsOf(evidence)].map(([workspace, id]) => [id, workspace]));
  return answersOf(evidence, 'pi_session_prompt').flatMap(({ result }) => {
    const { turn } = result;
    if (!turn) return [];
    const last = seen.findLast(({ turnId }) => turnId === turn.turnId) ?? turn;
    const { turnId, sessionId, state, startedAt, completedAt = '' } = last;
    const workspace = workspaces.get(sessionId) ?? '';
    return [{ turnId, sessionId, workspace, state, from: Date.parse(startedAt), to: Date.parse(completedAt) }];
  });
}
