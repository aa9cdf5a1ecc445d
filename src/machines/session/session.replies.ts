/** The answers that a session's transitions give; pure functions of its context. */
import type { ErrorCode } from '../../ports/error-code.ts';
import type { SessionState } from '../../ports/session-service.ts';
import { type Answer, answer } from '../shared/replies.ts';
import {
  activeTurn,
  idsOf,
  leadingAborts,
  restingState,
  type SessionContext,
  sessionRecord,
} from './session.context.ts';
import type { StartOutput } from './start.machine.ts';
import { newTurn, turnRecord } from './turn.machine.ts';

/** The session's view in the given state, for each of the requests. */
export function viewFor(requestIds: readonly string[], context: SessionContext, state: SessionState): Answer {
  return { requestIds, reply: { ok: true, session: sessionRecord(context, state) } };
}

export function startRefused(context: SessionContext, output: StartOutput): readonly Answer[] {
  return [answer([context.startRequestId], output.ok ? 'internal_error' : output.code)];
}

/** The admitted prompt gets its turn; prompts that waited come too late. */
export function admissionStarted(context: SessionContext): readonly Answer[] {
  const turn = turnRecord(newTurn(activeTurn(context)));
  return [
    { requestIds: admittedIds(context), reply: { ok: true, session: sessionRecord(context, 'running'), turn } },
    answer(idsOf(context.waiting, 'PROMPT'), 'session_running'),
  ];
}

/** Nothing became public; aborts that waited change nothing, the rest is tried next. */
export function admissionRefused(context: SessionContext): readonly Answer[] {
  return [
    answer(admittedIds(context), 'prompt_rejected'),
    viewFor(leadingAborts(context.waiting).aborts, context, restingState(context)),
  ];
}

export function admissionTimedOut(context: SessionContext): readonly Answer[] {
  return [
    answer(admittedIds(context), 'prompt_timeout'),
    answer(idsOf(context.waiting, 'PROMPT'), 'session_running'),
    viewFor(idsOf(context.waiting, 'ABORT'), context, restingState(context)),
  ];
}

export function admissionStopped(context: SessionContext): readonly Answer[] {
  return [answer(admittedIds(context), 'server_stopping'), ...waitingAtClose(context, 'server_stopping')];
}

/** What waits when the session closes, besides the close requests themselves. */
export function waitingAtClose(context: SessionContext, promptCode: ErrorCode = 'prompt_rejected'): readonly Answer[] {
  return [
    answer(idsOf(context.waiting, 'PROMPT'), promptCode),
    viewFor(idsOf(context.waiting, 'ABORT'), context, 'closing'),
  ];
}

function admittedIds(context: SessionContext): readonly string[] {
  return context.admission === null ? [] : [context.admission.requestId];
}
