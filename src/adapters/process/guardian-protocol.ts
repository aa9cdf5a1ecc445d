/** What setup writes to its guardian; the answers are `CommandResult`s, one for each `run`. */
import type { ClientCommand, CommandResult } from '../../ports/setup/command.ts';

export type GuardianRequest = { readonly type: 'run'; readonly command: ClientCommand } | { readonly type: 'stop' };

/** Both ends are of this package, so the tag is enough to tell a request from noise. */
export function isGuardianRequest(value: unknown): value is GuardianRequest {
  const { type, command } = Object(value) as { readonly type?: unknown; readonly command?: unknown };
  return type === 'stop' || (type === 'run' && typeof command === 'object' && command !== null);
}

const KINDS: readonly unknown[] = [
  'exited',
  'not_found',
  'timed_out',
  'output_too_large',
  'interrupted',
  'retained',
] satisfies CommandResult['kind'][];

export function isCommandResult(value: unknown): value is CommandResult {
  return KINDS.includes((Object(value) as { readonly kind?: unknown }).kind);
}
