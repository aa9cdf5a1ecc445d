/** What is promised on a guarded command, whatever the chart looks like. */

import { expect, test } from 'vitest';
import { initialTransition } from 'xstate';
import { commandMachine } from '../../../src/machines/setup/command.machine.ts';
import { newCommand } from '../../../src/machines/setup/command.setup.ts';
import type { Triple } from '../../kit/chart-model.ts';
import { doneEvent } from '../../kit/domain.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation, type StateDraft } from '../../kit/mutate.ts';
import {
  branchesOn,
  branchOn,
  breaches,
  edit,
  type Requirement,
  requirementSuite,
  unheard,
  unique,
} from '../../kit/requirement-suite.ts';
import { describeState, describeTriple, isTimer, Reachable, statusOf } from '../../kit/requirements.ts';
import { type Command, model, SCANS, type State } from './domain.ts';
import { TIMEOUT_MS } from './world.ts';

const GUARDED = 'guarded';
const ENDING = `${GUARDED}.ending`;
const LIVE = `${GUARDED}.live`;
const RETAINED = `${GUARDED}.retained`;

const explore = (machine: Command) => new Reachable(model(machine));
const over = (state: unknown) => statusOf(state) === 'done';
const isRetained = (state: State) => state.matches({ guarded: 'retained' });
const isLive = (state: State) => state.matches({ guarded: 'live' });
const told = (state: State) => over(state) || isRetained(state);
const asked = (state: State, event: { readonly type: string }) => effectsOf(state, event).spawned.map(({ id }) => id);
const tells = (state: State, event: { readonly type: string }) =>
  effectsOf(state, event).actions.filter((action) => action === 'tell').length;
const sawClear = ({ event }: { readonly event: { readonly type: string; readonly [key: string]: unknown } }) =>
  event.type === 'xstate.done.actor.scan' && event['output'] === 'clear';

/** Is the reason, or the exit status, other than what it should be? */
function changesReason({ state, event, nextState }: Triple<Command>): boolean {
  const { end, code } = nextState.context;
  if (isLive(state) && event.type === 'EXITED') return end !== 'exited' || code !== event['code'];
  if (isLive(state) && event.type === 'STOP') return end !== 'interrupted';
  if (isLive(state) && event.type === 'OVERFLOW') return end !== 'output_too_large';
  if (isLive(state) && event.type.includes('commandTimeout')) return end !== 'timed_out';
  if (event.type === 'xstate.done.actor.spawn' && event['output'] === 'not_found') return end !== 'not_found';
  const isWorse = state.context.end === 'exited' && event.type === 'OVERFLOW' && !isRetained(state);
  return !isWorse && (end !== state.context.end || code !== state.context.code);
}

/** The last resort of each look: where a look leads that did not show that all is clear. */
const scanIn = (state: StateDraft) => invocation(state, 'scan') as { onDone: { guard?: unknown; target: string }[] };

const requirements: Requirement<Command>[] = [
  {
    says: 'whatever the processes do, deadlines alone bring setup its answer',
    findings: (chart) =>
      chart
        .avoiding(told, isTimer)
        .filter((state) => !told(state))
        .map(describeState),
    brokenBy: {
      'the command has no deadline': edit((at) => drop(at(LIVE), 'after')),
      'SIGTERM is waited for': edit((at) => drop(at(`${ENDING}.terminating`), 'after')),
      'SIGKILL is waited for': edit((at) => drop(at(`${ENDING}.killing`), 'after')),
      'the last look is waited for': edit((at) => drop(at(`${ENDING}.scanning`), 'after')),
      'the first look is waited for': edit((at) => drop(at(`${ENDING}.checking`), 'after')),
      'it is killed again and again': edit((at) => {
        at(`${ENDING}.scanning`).after = { commandScanTimeout: 'killing' };
      }),
    },
  },
  {
    says: 'it counts as ended only when a look shows that nothing lives, or when it was never started',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ nextState }) => over(nextState)),
        (triple) =>
          !sawClear(triple) &&
          !(triple.event.type === 'xstate.done.actor.spawn' && triple.event['output'] === 'not_found'),
      ),
    brokenBy: {
      'an unreadable process table is good enough': edit((at) => {
        const [, otherwise] = scanIn(at(`${ENDING}.scanning`)).onDone;
        if (otherwise) otherwise.target = '#command.released';
      }),
      'its exit is good enough': edit((at) => {
        branchOn(at(LIVE), 'EXITED').target = '#command.released';
      }),
      'it is let go of after a while': edit((at) => {
        at(`${RETAINED}.scanning`).after = { commandScanTimeout: '#command.released' };
      }),
      'a broken spawn is taken for no spawn': edit((at) => {
        invocation(at(`${LIVE}.spawning`), 'spawn').onError = '#command.released';
      }),
    },
  },
  {
    says: 'setup is told once: when it is over, or when it is not and stays',
    findings: (chart) =>
      unique(
        chart.triples
          .filter(({ state }) => statusOf(state) === 'active')
          .filter(({ state, event, nextState }) => tells(state, event) !== (!told(state) && told(nextState) ? 1 : 0))
          .map(describeTriple),
      ),
    brokenBy: {
      'the end of a retained one is told again': edit((at) => {
        const [clear] = scanIn(at(`${RETAINED}.scanning`)).onDone;
        Object.assign(clear ?? {}, { actions: { type: 'tell', params: { kind: 'exited', code: 0 } } });
      }),
      'a retained one is not told about': edit((at) => {
        const [, otherwise] = scanIn(at(`${ENDING}.scanning`)).onDone;
        drop(otherwise, 'actions');
      }),
    },
  },
  {
    says: 'STOP, the deadline and too much output end a live command: SIGTERM first, SIGKILL only after its deadline',
    findings: (chart) =>
      unique([
        ...chart
          .active()
          .filter(isLive)
          .flatMap((state) =>
            ['STOP', 'OVERFLOW', 'xstate.after.commandTimeout.command.guarded.live']
              .filter((type) => asked(state, { type }).join() !== 'terminate')
              .map((type) => `${type} in ${describeState(state)}: ${asked(state, { type }).join()}`),
          ),
        ...chart.triples
          .filter(({ state, event }) => !isRetained(state) && asked(state, event).includes('kill'))
          .filter(
            ({ event }) => event.type !== 'xstate.after.commandTerminateTimeout.command.guarded.ending.terminating',
          )
          .map(describeTriple),
      ]),
    brokenBy: {
      'STOP is not heard while it is being started': edit((at) => {
        at(`${LIVE}.running`).on = { STOP: '#command.guarded.ending.terminating' };
        drop(at(LIVE).on, 'STOP');
      }),
      'STOP kills': edit((at) => {
        branchOn(at(LIVE), 'STOP').target = 'ending.killing';
      }),
      'it may print without end': edit((at) => drop(at(LIVE).on, 'OVERFLOW')),
      'what outlives its leader is killed at once': edit((at) => {
        const [, otherwise] = scanIn(at(`${ENDING}.checking`)).onDone;
        if (otherwise) otherwise.target = 'killing';
      }),
    },
  },
  {
    says: 'what a command leaves behind is asked, then killed, before anybody gives up on it',
    findings: (chart) => {
      const giveUps = chart.triples.filter(({ state, nextState }) => !isRetained(state) && isRetained(nextState));
      return unique([
        ...breaches(giveUps, ({ state }) => !state.matches({ guarded: { ending: 'scanning' } })),
        ...chart.triples
          .filter(({ nextState }) => nextState.matches({ guarded: { ending: 'scanning' } }))
          .filter(
            ({ state }) => !['killing', 'scanning'].some((at) => state.matches({ guarded: { ending: at as never } })),
          )
          .map(describeTriple),
        ...chart.triples
          .filter(
            ({ state, event }) => state.matches({ guarded: { ending: 'checking' } }) && event.type.includes('scan'),
          )
          .filter((triple) => !sawClear(triple) && asked(triple.state, triple.event).join() !== 'terminate')
          .map(describeTriple),
      ]);
    },
    brokenBy: {
      'SIGTERM that is ignored is given up on': edit((at) => {
        at(`${ENDING}.terminating`).after = { commandTerminateTimeout: 'scanning' };
      }),
      'what it leaves behind is nobody`s business': edit((at) => {
        const [, otherwise] = scanIn(at(`${ENDING}.checking`)).onDone;
        if (otherwise) otherwise.target = '#command.guarded.retained';
      }),
    },
  },
  {
    says: 'the first reason counts, only too much output is worse than an exit, and an exit keeps its code',
    findings: (chart) =>
      unique([
        ...chart
          .active()
          .filter((state) => state.context.end === 'exited' && !told(state))
          .filter((state) => effectsOf(state, { type: 'OVERFLOW' }).state.context.end !== 'output_too_large')
          .map((state) => `${describeState(state)} prints without end`),
        ...chart.triples.filter(changesReason).map(describeTriple),
      ]),
    brokenBy: {
      'a late exit hides the deadline': edit((at) => {
        const pausing = at(`${ENDING}.terminating.pausing`);
        pausing.on = { EXITED: { target: 'looking', actions: branchOn(at(LIVE), 'EXITED').actions } };
      }),
      'an interruption hides the exit': edit((at) => {
        at(ENDING).on = { ...at(ENDING).on, STOP: { actions: branchOn(at(LIVE), 'STOP').actions } };
      }),
      'the rest of the output may be any length': edit((at) => drop(at(ENDING).on, 'OVERFLOW')),
      'too much output hides the deadline': edit((at) => {
        for (const branch of branchesOn(at(ENDING), 'OVERFLOW')) delete branch.guard;
      }),
    },
  },
  {
    says: 'what could not be ended is tried again for ever, after a pause each time',
    findings: (chart) => {
      const isPause = (state: State) => state.matches({ guarded: { retained: 'pausing' } });
      const leavesPause = ({ state, event }: { state: State; event: { type: string } }) =>
        isPause(state) && event.type.includes('commandRetryDelay');
      return unique([
        ...chart
          .active()
          .filter(isRetained)
          .filter((state) => !chart.canReach(state, isPause))
          .map(describeState),
        ...chart.stuck(over).map((state) => `${describeState(state)} never ends`),
        ...chart.triples
          .filter(({ state }) => isPause(state))
          .filter((triple) => !leavesPause(triple) && !isPause(triple.nextState))
          .map(describeTriple),
        // Without the pauses, each round comes to its end.
        ...chart
          .avoiding(
            (state) => over(state) || isPause(state),
            ({ state }) => isRetained(state),
          )
          .filter((state) => isRetained(state) && !isPause(state))
          .map((state) => `${describeState(state)} goes round without a pause`),
        ...chart.triples
          .filter(({ state, nextState }) => isRetained(state) && !isRetained(nextState) && !over(nextState))
          .map(describeTriple),
      ]);
    },
    brokenBy: {
      'nobody tries again': edit((at) => {
        at(`${RETAINED}.pausing`).after = { commandRetryDelay: 'pausing' };
      }),
      'it is tried without a pause': edit((at) => {
        const [, otherwise] = scanIn(at(`${RETAINED}.scanning`)).onDone;
        if (otherwise) otherwise.target = 'killing';
      }),
    },
  },
  {
    says: 'what becomes of each step is heard, however it goes',
    findings: (chart) =>
      unheard(chart, { spawn: ['spawned', 'not_found'], terminate: [undefined], kill: [undefined], scan: SCANS }),
    brokenBy: {
      'a look that fails is the last one': edit((at) => {
        drop(invocation(at(`${RETAINED}.scanning`), 'scan'), 'onError');
      }),
      'a rejection breaks the chart': edit((at) => drop(invocation(at(`${ENDING}.killing`), 'kill'), 'onError')),
    },
  },
];

requirementSuite(commandMachine, explore, requirements);

test.each([
  [TIMEOUT_MS, TIMEOUT_MS],
  [0, 1],
  [-5, 1],
  [Number.NaN, 1],
  [Number.POSITIVE_INFINITY, 2 ** 31 - 1],
  [2 ** 31, 2 ** 31 - 1],
])('a deadline of %s ms is one of %s ms', (asked, given) => {
  expect(newCommand({ timeoutMs: asked }).timeoutMs).toBe(given);
  const [, actions] = initialTransition(commandMachine, { timeoutMs: asked });
  const delays = actions.flatMap(({ type, params }) =>
    type === 'xstate.raise' ? [(params as unknown as { delay: number }).delay] : [],
  );
  expect(delays).toEqual([given]);
});

test('a look that is settled late is not one that counts', () => {
  const [first] = explore(commandMachine).active().filter(isRetained);
  expect(first && asked(first, doneEvent('scan', 'clear'))).toEqual([]);
});
