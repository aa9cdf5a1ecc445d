/** What a connection to one external server remembers, and the pure views of it. */
import type { CallReply, GrantCall, ListedTool, PageOutcome } from '../../ports/grants.ts';
import { discover, type Grant, MAX_PAGES, MAX_TOOLS, type OpenReply, UNAVAILABLE } from './discovery.ts';

export interface ConnectionInput {
  /** What the operator grants of this server, in configured order. */
  readonly grants: readonly Grant[];
}

export interface PendingCall {
  readonly requestId: string;
  /** What a cancellation names it by. */
  readonly callId: string;
  readonly call: GrantCall;
}

export interface ConnectionContext extends ConnectionInput {
  /** The request that waits for the connection. */
  readonly opener: string | null;
  /** Pages that have been read, what was on them, and where the next one is. */
  readonly pages: number;
  readonly listed: readonly ListedTool[];
  readonly cursor: string | null;
  /** The call that the server works on; the others wait for it, in order. */
  readonly current: PendingCall | null;
  readonly waiting: readonly PendingCall[];
}

/** One answer for each of the requests; the wiring hands it out. */
export interface GrantAnswer {
  readonly requestIds: readonly string[];
  readonly reply: OpenReply | CallReply;
}

type Reason = Extract<CallReply, { readonly ok: false }>['reason'];

export function newConnection({ grants }: ConnectionInput): ConnectionContext {
  return { grants, opener: null, pages: 0, listed: [], cursor: null, current: null, waiting: [] };
}

export function refuseCall(requestId: string, reason: Reason): GrantAnswer {
  return { requestIds: [requestId], reply: { ok: false, reason } };
}

/** What a cancellation is answered with; only asked for when such a call waits. */
export function cancelledWaiter(
  { waiting }: ConnectionContext,
  { callId }: { readonly callId: string },
): readonly GrantAnswer[] {
  return waiting.filter((call) => call.callId === callId).map(({ requestId }) => refuseCall(requestId, 'cancelled'));
}

export function answerCurrent({ current }: ConnectionContext, reply: CallReply): readonly GrantAnswer[] {
  return current === null ? [] : [{ requestIds: [current.requestId], reply }];
}

export function answerOpener({ opener }: ConnectionContext, reply: OpenReply): readonly GrantAnswer[] {
  return opener === null ? [] : [{ requestIds: [opener], reply }];
}

/** Everybody who still waits learns that there is nothing to wait for. */
export function answerAll(context: ConnectionContext, reason: Reason): readonly GrantAnswer[] {
  const calls = context.current === null ? context.waiting : [context.current, ...context.waiting];
  const answers = calls.map(({ requestId }) => refuseCall(requestId, reason));
  return [...answerOpener(context, UNAVAILABLE), ...answers];
}

/** The next page is worth asking for, or the list is complete and this comes of it. */
export type PageVerdict = { readonly more: true } | { readonly more: false; readonly reply: OpenReply };

export function judgePage({ grants, pages, listed }: ConnectionContext, page: PageOutcome): PageVerdict {
  if (!page.ok || listed.length + page.tools.length > MAX_TOOLS) return { more: false, reply: UNAVAILABLE };
  if (page.nextCursor === null) return { more: false, reply: discover(grants, [...listed, ...page.tools]) };
  return pages + 1 < MAX_PAGES ? { more: true } : { more: false, reply: UNAVAILABLE };
}

/** A page that leads on is never answered; the fallback only satisfies the types. */
export function openReply(verdict: PageVerdict): OpenReply {
  return verdict.more ? UNAVAILABLE : verdict.reply;
}
