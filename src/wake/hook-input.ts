/** What a client's hook gets on stdin, as far as waking needs it (docs/turn-events.md). Pure; believes nothing. */
import type { WakeTarget } from '../ports/events.ts';

export interface HookCall {
  /** The turn that the call of the prompt tool has begun. */
  readonly target: WakeTarget;
  /** The client's own conversation; Codex wants to be told which. */
  readonly conversation: string;
}

/** A prompt has at most 100,000 characters, and the input carries it; this leaves room for every escape. */
export const MAX_HOOK_INPUT_BYTES = 4 * 1_024 * 1_024;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** `mcp__<server>__pi_session_prompt`; a server that came with a plugin carries the plugin's name, too. */
const PROMPT_TOOL = /^mcp__[A-Za-z0-9_-]{1,120}__pi_session_prompt$/;

type Fields = Readonly<Record<string, unknown>>;

/** @returns nothing when the input is not about a prompt that has begun a turn. */
export function readHookInput(text: string): HookCall | undefined {
  const input = fieldsOf(parse(text));
  if (input?.['hook_event_name'] !== 'PostToolUse' || !PROMPT_TOOL.test(String(input['tool_name']))) return undefined;
  const conversation = String(input['session_id']);
  const target = turnOf(resultOf(input['tool_response']));
  return target && UUID.test(conversation) ? { target, conversation } : undefined;
}

/** @returns nothing unless both are the ids that the server makes. */
export function wakeTarget(sessionId: unknown, turnId: unknown): WakeTarget | undefined {
  if (typeof sessionId !== 'string' || typeof turnId !== 'string') return undefined;
  return UUID.test(sessionId) && UUID.test(turnId) ? { sessionId, turnId } : undefined;
}

export function isConversation(id: unknown): id is string {
  return typeof id === 'string' && UUID.test(id);
}

/** Claude Code gives the JSON text of the structured result, Codex the whole result. */
function resultOf(response: unknown): Fields | undefined {
  if (typeof response === 'string') return fieldsOf(parse(response));
  return fieldsOf(fieldsOf(response)?.['structuredContent']);
}

function turnOf(result: Fields | undefined): WakeTarget | undefined {
  const turn = fieldsOf(result?.['turn']);
  return result?.['ok'] === true ? wakeTarget(turn?.['sessionId'], turn?.['turnId']) : undefined;
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null ? (value as Fields) : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
