/** What is promised of the care for a running writer's credentials. */
import { credentialsMachine } from '../../../src/machines/writers/credentials.machine.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { breaches, edit, type Requirement, requirementSuite, unheard, unique } from '../../kit/requirement-suite.ts';
import { describeState, isTimer, Reachable, statusOf } from '../../kit/requirements.ts';
import { type Credentials, credentialsModel, OUTCOMES } from './domain.ts';

const EVERY_MS = 60_000;

const explore = (machine: Credentials) => new Reachable(credentialsModel(machine));
const isRenewing = (state: unknown) => 'renew' in (state as { children: object }).children;

const requirements: Requirement<Credentials>[] = [
  {
    says: 'a renewal begins 60,000 ms after the one before has ended, and never beside it',
    findings: (chart) =>
      unique([
        ...breaches(
          chart.triples.filter(({ nextState }) => isRenewing(nextState)),
          (triple) => !isTimer(triple) || isRenewing(triple.state),
        ),
        ...breaches(
          chart.triples.filter(({ state }) => isRenewing(state)),
          ({ state, event }) => effectsOf(state, event).deadlines.every(({ delayMs }) => delayMs !== EVERY_MS),
        ),
        ...chart.states.slice(0, 1).filter(isRenewing).map(describeState),
      ]),
    brokenBy: {
      'one follows the other at once': edit((at) => {
        invocation(at('renewing'), 'renew').onDone = { target: 'renewing', reenter: true };
      }),
      'it does not wait for the first minute': edit((at) => {
        at().initial = 'renewing';
      }),
      'a slow one is overtaken': edit((at) => {
        at('renewing').after = { renewalInterval: { target: 'renewing', reenter: true } };
      }),
    },
  },
  {
    says: 'it goes on, whatever a renewal comes to',
    findings: (chart) =>
      unique([
        ...unheard(chart, { renew: OUTCOMES.renew }),
        ...chart.stuck(isRenewing).map(describeState),
        ...(chart.states.some(isRenewing) ? [] : ['nothing is renewed']),
        ...chart.states.filter((state) => statusOf(state) !== 'active').map(describeState),
      ]),
    brokenBy: {
      'one that breaks is the last': edit((at) => drop(invocation(at('renewing'), 'renew'), 'onError')),
      'one is enough': edit((at) => drop(at('resting'), 'after')),
    },
  },
];

requirementSuite(credentialsMachine, explore, requirements);
