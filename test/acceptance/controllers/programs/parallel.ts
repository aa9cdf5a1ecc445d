/** Two workers at once, a follow-up for one of them, everything verified and closed. */
import type { Program } from '../../kit/driving/endpoint.ts';
import { call, close, settle } from '../../kit/driving/moves.ts';
import type { Stage } from '../stage.ts';
import { prepare, prompt, startSession, verify } from './moves.ts';

export async function* parallel(stage: Stage): Program {
  yield* prepare();
  const slug = yield* startSession(stage, 'slug');
  const stats = yield* startSession(stage, 'stats');
  const turns = [yield* prompt(slug, 'repair-slug'), yield* prompt(stats, 'repair-stats')];
  for (const turn of turns) {
    const state = yield* settle(turn);
    if (state !== 'completed') throw new Error(`a first turn is ${state}`);
  }
  yield* verify(stage, 'slug');
  yield* verify(stage, 'stats');
  yield* settle(yield* prompt(slug, 'follow-up'));
  yield* verify(stage, 'slug');
  yield* close(slug);
  yield* close(stats);
  const { sessions } = yield* call('pi_session_list');
  return sessions?.length === 0 ? 'ALL DONE' : 'SESSIONS LEFT';
}
