/** What must hold when two workers have run at once and one got a follow-up. */
import type { Evidence } from '../evidence.ts';
import { FIXTURES } from '../fixtures.ts';
import { type Checks, fixtureHolds } from './common.ts';
import { answersOf, turnsOf } from './results.ts';

export function parallelChecks(evidence: Evidence): Checks {
  const { made, worker, fixtures } = evidence;
  const [slug, stats, followUp, ...more] = turnsOf(evidence);
  const firstLook = answersOf(evidence, 'pi_turn_get')[0]?.at ?? -1;
  const prompts = answersOf(evidence, 'pi_session_prompt');
  const written = fixtures.slug?.written['HANDSHAKE.txt'] ?? Number.NaN;
  const completed = (turn: typeof slug) => turn?.state === 'completed';
  return {
    'both first turns are started before the first look': (prompts[1]?.at ?? Number.NaN) < firstLook,
    'the first turns are of two workspaces': slug?.workspace !== stats?.workspace && stats !== undefined,
    'the first turns complete': completed(slug) && completed(stats),
    'the first turns overlap':
      slug !== undefined && stats !== undefined && slug.from < stats.to && stats.from < slug.to,
    'one follow-up, in the first session, completes':
      completed(followUp) && followUp?.sessionId === slug?.sessionId && more.length === 0,
    'the worker reads the override skill that holds the token': worker.reads.includes(made.handshakeSkill),
    'the handshake file holds the token': fixtures.slug?.handshake?.trim() === made.token,
    'the handshake file was written in the follow-up':
      followUp !== undefined && written >= followUp.from && written <= followUp.to,
    ...fixtureHolds(evidence, 'slug', FIXTURES.slug),
    ...fixtureHolds(evidence, 'stats', FIXTURES.stats),
  };
}
