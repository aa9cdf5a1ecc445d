/** What is promised on an override: the table of codes, and that nothing of the operator's is written over. */
import { expect, test } from 'vitest';
import { initialTransition, type SnapshotFrom, transition } from 'xstate';
import { customizationMachine } from '../../../src/machines/setup/customization.machine.ts';
import { doneEvent } from '../../kit/domain.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { breaches, edit, type Requirement, requirementSuite, unheard, unique } from '../../kit/requirement-suite.ts';
import { describeState, isSettlement, Reachable, statusOf } from '../../kit/requirements.ts';
import { remembered } from '../setup-run/paths.ts';
import { OLD_SKILL, SKILL } from '../setup-run/world.ts';
import { ANSWERS, allModels, type CustomizationChart, OPERATIONS, STEPS } from './domain.ts';

type State = SnapshotFrom<CustomizationChart>;
type Triple = Reachable<CustomizationChart>['triples'][number];

const explore = remembered((machine: CustomizationChart) => new Reachable(allModels(machine)));
const over = (state: unknown) => statusOf(state) === 'done';
const children = (state: unknown) => Object.keys((state as State).children);
const spawned = ({ state, event }: Triple) => effectsOf(state, event).spawned.map(({ src }) => src);
const changes = (triple: Triple) => spawned(triple).some((src) => STEPS.some((step) => step === src));

interface Branch {
  guard?: unknown;
  target?: string;
}
const branches = (invoke: { onDone?: unknown }) => invoke.onDone as Branch[];

const requirements: Requirement<CustomizationChart>[] = [
  {
    says: 'an interruption is heard everywhere: a look is given up, a step is awaited',
    findings: (chart) =>
      unique(
        chart.active().flatMap((state) => {
          const next = effectsOf(state, { type: 'INTERRUPT' }).state as unknown as State;
          const [child = ''] = children(state);
          const isRight = STEPS.some((step) => step === child) ? children(next).includes(child) : over(next);
          return isRight && next.context.verdict?.code === 'operation_interrupted' ? [] : [describeState(state)];
        }),
      ),
    brokenBy: { 'a step is left alone': edit((at) => drop(at('copying'), 'on')) },
  },
  {
    says: 'once it is interrupted nothing more is begun',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ state }) => state.context.verdict !== null),
        (triple) => spawned(triple).length > 0,
      ),
    brokenBy: {
      'it goes on': edit((at) => {
        const [first] = branches(invocation(at('copying.staging'), 'stage'));
        delete first?.guard;
      }),
    },
  },
  {
    says: 'an override that is there is never written over',
    findings: (chart) =>
      breaches(
        chart.triples.filter(
          ({ event }) => event.type === 'xstate.done.actor.readOverride' && event['output'] !== 'absent',
        ),
        (triple) => spawned(triple).some((src) => src !== 'recordBase'),
      ),
    brokenBy: {
      'it is copied again': edit((at) => {
        const [first] = branches(invocation(at('looking.readingOverride'), 'readOverride'));
        delete first?.guard;
      }),
    },
  },
  {
    says: 'a dry-run changes nothing',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ state }) => state.context.operation === 'dry-run'),
        changes,
      ),
    brokenBy: {
      'it copies': edit((at) => {
        const [first] = branches(invocation(at('looking.readingOverride'), 'readOverride'));
        delete first?.guard;
      }),
    },
  },
  {
    says: 'every run ends, and whatever a port comes to is heard',
    findings: (chart) => [...chart.avoiding(over, isSettlement).map(describeState), ...unheard(chart, ANSWERS)],
    brokenBy: {
      'it copies for ever': edit((at) => {
        const [first] = branches(invocation(at('copying.staging'), 'stage'));
        if (first) first.target = 'recovering';
      }),
      'a rejection breaks the chart': edit((at) => drop(invocation(at('moving'), 'recordBase'), 'onError')),
    },
  },
];

requirementSuite(customizationMachine, explore, requirements);

const SHIPPED = { ok: true, fingerprint: SKILL };
const NONE = { kind: 'none' };
const BASE = { kind: 'base', fingerprint: SKILL };
const OLDER = { kind: 'base', fingerprint: OLD_SKILL };
const OK = { ok: true };

/** Columns: answers of the ports, then dry-run, then apply. */
test.each([
  ['nothing shipped', [{ ok: false }], 'failed skill_not_shipped', 'failed skill_not_shipped'],
  ['corrupt bases', [SHIPPED, { kind: 'corrupt' }], 'failed skill_bases_corrupt', 'failed skill_bases_corrupt'],
  ['no override', [SHIPPED, NONE, 'absent', OK, OK, OK, OK], 'planned skill_customize_planned', 'ok skill_customized'],
  ['a base alone', [SHIPPED, BASE, 'absent', OK, OK, OK, OK], 'planned skill_customize_planned', 'ok skill_customized'],
  ['current', [SHIPPED, BASE, 'present'], 'unchanged skill_override_current', 'unchanged skill_override_current'],
  ['outdated', [SHIPPED, OLDER, 'present', OK], 'planned skill_override_outdated', 'ok skill_base_updated'],
  ['no base', [SHIPPED, NONE, 'present', OK], 'planned skill_override_outdated', 'ok skill_base_updated'],
  ['invalid', [SHIPPED, OLDER, 'invalid'], 'failed skill_override_invalid', 'failed skill_override_invalid'],
] as const)('%s', (_, answers, ...expected) => {
  const verdicts = OPERATIONS.map((operation) => {
    let [state] = initialTransition(customizationMachine, { operation }) as unknown as [State, unknown];
    for (const answer of answers) {
      const [child] = children(state);
      if (child) [state] = transition(customizationMachine, state, doneEvent(child, answer) as never) as [State, never];
    }
    return `${state.output?.status} ${state.output?.code}`;
  });
  expect(verdicts).toEqual(expected);
});
