/** What must hold when one worker was aborted while its neighbour ran. */
import type { Evidence } from '../evidence.ts';
import { FIXTURES } from '../fixtures.ts';
import { WAIT_SECONDS } from '../tasks.ts';
import { type Checks, fixtureHolds } from './common.ts';
import { answersOf, turnsOf } from './results.ts';

export function abortChecks(evidence: Evidence): Checks {
  const [wait, range] = turnsOf(evidence);
  const aborts = answersOf(evidence, 'pi_session_abort');
  const ofWait = ({ args }: { readonly args: Readonly<Record<string, unknown>> }) =>
    args['sessionId'] === wait?.sessionId;
  const firstAbort = aborts.find((abort) => ofWait(abort) && abort.result.ok)?.at ?? Number.NaN;
  const seenAborted = answersOf(evidence, 'pi_turn_get').find(
    ({ result: { turn } }) => turn?.turnId === wait?.turnId && turn?.state === 'aborted',
  );
  const seenAt = seenAborted?.at ?? Number.NaN;
  const closedAt = answersOf(evidence, 'pi_session_close').find(ofWait)?.at ?? Number.NaN;
  const sleeps = ({ command }: { readonly command: string }) => command === `sleep ${WAIT_SECONDS}`;
  return {
    'the first turns are of two workspaces': wait !== undefined && range?.workspace !== wait.workspace,
    'there is an abort, and every abort is ok': aborts.length > 0 && aborts.every(({ result }) => result.ok === true),
    'aborted is seen after the abort and before the close': firstAbort < seenAt && seenAt < closedAt,
    'the abort lies within the running time of the neighbour':
      wait !== undefined && range !== undefined && range.from < wait.to && wait.to < range.to,
    'the neighbour completes': range?.state === 'completed',
    'the waiting command was seen': evidence.processes.seen.some((one) => one.inside && sleeps(one)),
    'no waiting command is left': !evidence.processes.left.some(sleeps),
    'the late file never comes': !evidence.lateFile,
    ...fixtureHolds(evidence, 'wait', FIXTURES.wait),
    ...fixtureHolds(evidence, 'range', FIXTURES.range),
  };
}
