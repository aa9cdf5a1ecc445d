/** From the final assistant message of a turn to the turn's result. */
import type { TurnResult } from '../../ports/agent.ts';
import type { AssistantMessage, StopReason } from './sdk.ts';

const MAX_TEXT_BYTES = 65_536;
/** With the `u` flag a surrogate that is half of a pair does not match. */
const LONE_SURROGATE = /[\uD800-\uDFFF]/gu;

function endOf(reason: StopReason): TurnResult['state'] {
  switch (reason) {
    case 'stop':
    case 'length':
    case 'toolUse':
      return 'completed';
    case 'aborted':
      return 'aborted';
    case 'error':
    case 'pending':
    case 'deferred':
      return 'failed';
    default:
      // A value that the SDK adds breaks the type check here; at run time it is a failure.
      reason satisfies never;
      return 'failed';
  }
}

function boundText(text: string): { readonly assistantText: string; readonly truncated: boolean } {
  // No character takes more than three bytes per UTF-16 unit.
  if (text.length * 3 <= MAX_TEXT_BYTES) return { assistantText: text, truncated: false };
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_TEXT_BYTES));
  // A slice of a long string keeps all of it in memory; a copy does not.
  if (read < text.length) return { assistantText: Buffer.from(text.slice(0, read)).toString(), truncated: true };
  return { assistantText: text, truncated: false };
}

function textOf(message: AssistantMessage): string {
  const text = message.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  // JSON would carry a lone surrogate as an escape that strict parsers refuse, message and all.
  return text.replace(LONE_SURROGATE, '\uFFFD').trim();
}

/** `undefined`: the turn produced no assistant message, which is a failure. */
export function turnResultOf(message: AssistantMessage | undefined): TurnResult {
  const state = message ? endOf(message.stopReason) : 'failed';
  if (!message || state !== 'completed') return { state: state === 'aborted' ? 'aborted' : 'failed' };
  return { state, ...boundText(textOf(message)) };
}
