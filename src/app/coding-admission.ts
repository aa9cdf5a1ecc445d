/** In a writer: one session that writes at a time, and only where its work can be told from what was there. */
import type { ActorRefFrom } from 'xstate';
import type { registryMachine } from '../machines/session/registry.machine.ts';
import type { Failure, SessionReply } from '../ports/session-service.ts';
import type { CodingAdmission } from '../ports/writers/admission.ts';
import { isCodingOpen } from './views.ts';

const CODING_OPEN: Failure = { ok: false, code: 'workspace_coding_session_open' };
const NOT_AT_BASELINE: Failure = { ok: false, code: 'workspace_not_at_baseline' };

type Begin = () => Promise<SessionReply>;

/** What stands before the start of a session that may write; nothing, outside of a writer. */
export function wireAdmission(
  admission: CodingAdmission | undefined,
  registry: ActorRefFrom<typeof registryMachine>,
): (begin: Begin) => Promise<SessionReply> {
  if (admission === undefined) return (begin) => begin();
  registry.subscribe({
    next: () => {
      if (!isCodingOpen(registry)) admission.leave();
    },
    error: () => admission.leave(),
    complete: () => admission.leave(),
  });
  return async (begin) => {
    if (isCodingOpen(registry)) return CODING_OPEN;
    if (!(await admission.isAtBaseline())) return NOT_AT_BASELINE;
    // In one step with the start: another one may have come first meanwhile.
    if (isCodingOpen(registry)) return CODING_OPEN;
    return admission.enter() ? begin() : NOT_AT_BASELINE;
  };
}
