/** What setup and its guardian say to each other, as JSON lines. One answer to each `run` and `adopt`. */
import type { ClientCommand, CommandResult } from '../../ports/setup/command.ts';
import type { Root } from './scope-members.ts';

/** How the processes of one command are found. */
export interface CommandTrace {
  /** The value of the variable in their environments. */
  readonly mark: string;
  /** The command's own process, once it was started. */
  readonly root?: Root;
}

export type GuardianRequest =
  | { readonly type: 'run'; readonly command: ClientCommand; readonly mark: string }
  /** Ends what an earlier guardian has left; the answer is `interrupted` when nothing of it lives. */
  | { readonly type: 'adopt'; readonly trace: CommandTrace }
  | { readonly type: 'stop' };

/** `started` comes before the result: what to look for if this guardian vanishes. */
export type GuardianAnswer = CommandResult | { readonly kind: 'started'; readonly root: Root };

/** Both ends are of this package, so the tags are enough to tell a message from noise. */
export function isGuardianRequest(value: unknown): value is GuardianRequest {
  return ['run', 'adopt', 'stop'].includes(String((Object(value) as { readonly type?: unknown }).type));
}

const KINDS: readonly string[] = [
  'started',
  'exited',
  'not_found',
  'timed_out',
  'output_too_large',
  'interrupted',
  'retained',
] satisfies GuardianAnswer['kind'][];

export function isGuardianAnswer(value: unknown): value is GuardianAnswer {
  return KINDS.includes(String((Object(value) as { readonly kind?: unknown }).kind));
}
