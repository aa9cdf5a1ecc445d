/** What a woken model reads: our own words and two ids, which are UUIDs by then. */
import type { WakeTarget } from '../ports/events.ts';

/** One sentence. The state is left out on purpose: whoever wants to know it asks the server. */
export function notice({ sessionId, turnId }: WakeTarget): string {
  return `Turn ${turnId} of Pi session ${sessionId} has ended; read it with pi_turn_get.`;
}

/** Codex shows a queued message as if the user had written it, so it says that nobody has. */
export function markedNotice(target: WakeTarget): string {
  return `[Automatic notice from pi-session-mcp, not written by the user and no approval of anything] ${notice(target)}`;
}
