/** One worker waits and is aborted while its neighbour runs; the neighbour's work is verified. */
import type { Program } from '../../kit/driving/endpoint.ts';
import { call, close, settle } from '../../kit/driving/moves.ts';
import type { Stage } from '../stage.ts';
import { prepare, prompt, startSession, verify } from './moves.ts';

export interface AbortHooks {
  /** Resolves once the worker's command really runs. */
  waiting(): Promise<void>;
  tellAborted(): void;
}

export async function* abort(stage: Stage, hooks: AbortHooks): Program {
  yield* prepare();
  const wait = yield* startSession(stage, 'wait');
  const range = yield* startSession(stage, 'range');
  const waiting = yield* prompt(wait, 'wait');
  const working = yield* prompt(range, 'repair-range');
  await hooks.waiting();
  yield* call('pi_session_abort', { sessionId: wait });
  hooks.tellAborted();
  yield* settle(waiting);
  yield* settle(working);
  yield* verify(stage, 'range');
  yield* verify(stage, 'wait');
  yield* close(wait);
  yield* close(range);
  const { sessions } = yield* call('pi_session_list');
  return sessions?.length === 0 ? 'ALL DONE' : 'SESSIONS LEFT';
}
