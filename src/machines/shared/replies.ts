/** The one way out of the charts for an answer to a request. */
import type { ErrorCode } from '../../ports/error-code.ts';
import type { Failure, Reply } from '../../ports/session-service.ts';

/** One answer for one or more requests; the wiring hands it out once to each. */
export interface Answer {
  readonly requestIds: readonly string[];
  readonly reply: Reply;
}

export function answer(requestIds: readonly string[], code: ErrorCode): Answer {
  return { requestIds, reply: failure(code) };
}

function failure(code: ErrorCode): Failure {
  return { ok: false, code };
}

/** A request that reached a session; ids come from outside so that charts stay pure. */
export type SessionRequest =
  | { readonly type: 'PROMPT'; readonly requestId: string; readonly turnId: string; readonly prompt: string }
  | { readonly type: 'ABORT'; readonly requestId: string }
  | { readonly type: 'CLOSE'; readonly requestId: string };
