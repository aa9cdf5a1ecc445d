/** What one transition of a chart does to the world, read from its actions without running any of them. */
import { type AnyEventObject, type AnyMachineSnapshot, transition } from 'xstate';
import type { Answer } from '../../src/machines/shared/replies.ts';
import type { Reply } from '../../src/ports/session-service.ts';

export interface Effects {
  readonly state: AnyMachineSnapshot;
  /** One entry per request, in order. */
  readonly answers: readonly { readonly requestId: string; readonly reply: Reply }[];
  /** Events that went to a child. */
  readonly sent: readonly { readonly to: string; readonly event: AnyEventObject }[];
  readonly spawned: readonly { readonly id: string; readonly src: string; readonly input: unknown }[];
  /** Deadlines that began, delay in milliseconds by event (`ABORT_DEADLINE`, `xstate.after.…`). */
  readonly deadlines: readonly { readonly type: string; readonly delayMs: number }[];
  /** Names of the chart's own actions, in order. */
  readonly actions: readonly string[];
}

type Params = Record<string, unknown>;

export function effectsOf(before: unknown, event: AnyEventObject): Effects {
  const from = before as AnyMachineSnapshot;
  const [state, all] = transition(from.machine, from, event);
  const of = (type: string) => all.filter((action) => action.type === type).map(({ params }) => params as unknown);
  const answers = of('reply').flatMap((params) => params as readonly Answer[]);
  return {
    state,
    answers: answers.flatMap(({ requestIds, reply }) => requestIds.map((requestId) => ({ requestId, reply }))),
    sent: (of('xstate.sendTo') as Params[]).map((params) => ({
      to: String(params['targetId'] ?? (params['to'] as { id: string }).id),
      event: params['event'] as AnyEventObject,
    })),
    spawned: (of('xstate.spawnChild') as Params[]).map(({ id, src, input }) => ({
      id: String(id),
      src: String(src),
      input,
    })),
    deadlines: (of('xstate.raise') as Params[])
      .filter(({ delay }) => delay !== undefined)
      .map((params) => ({ type: (params['event'] as AnyEventObject).type, delayMs: Number(params['delay']) })),
    actions: all.map(({ type }) => type as string).filter((type) => !type.startsWith('xstate.')),
  };
}

/** The request ids that an event carries, whichever way. */
export function requestIdsOf(event: AnyEventObject): readonly string[] {
  if (typeof event['requestId'] === 'string') return [event['requestId']];
  return (event['requestIds'] as readonly string[] | undefined) ?? [];
}
