/** The scenarios. A new one is a row here: its repositories, its controller, its checks. */
import { until } from '../../e2e/kit/until.ts';
import type { Program } from '../kit/driving/endpoint.ts';
import { abortChecks } from './checks/abort.ts';
import type { Checks } from './checks/common.ts';
import { parallelChecks } from './checks/parallel.ts';
import type { Evidence } from './evidence.ts';
import type { FixtureName } from './fixtures.ts';
import { abort } from './programs/abort.ts';
import { parallel } from './programs/parallel.ts';
import type { Signals } from './signals.ts';
import type { Stage } from './stage.ts';
import { WAIT_SECONDS } from './tasks.ts';
import type { Watch } from './watch.ts';

export interface Acting {
  readonly stage: Stage;
  readonly signals: Signals;
  readonly watch: Watch;
}

export interface Scenario {
  readonly name: string;
  readonly fixtures: readonly FixtureName[];
  /** What the controller's model does. What the workers' does is in worker.ts, by task. */
  readonly controller: (acting: Acting) => Program;
  /** On top of those that hold for all. */
  readonly checks: (evidence: Evidence) => Checks;
}

/** Resolves once the command of the worker that is to be aborted runs. */
async function waiting(watch: Watch): Promise<void> {
  await until('the waiting command runs', () => watch.seen.some(({ command }) => command === `sleep ${WAIT_SECONDS}`));
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'parallel',
    fixtures: ['slug', 'stats'],
    controller: ({ stage }) => parallel(stage),
    checks: parallelChecks,
  },
  {
    name: 'abort',
    fixtures: ['wait', 'range'],
    controller: ({ stage, signals, watch }) =>
      abort(stage, { waiting: () => waiting(watch), tellAborted: signals.tellAborted }),
    checks: abortChecks,
  },
];
