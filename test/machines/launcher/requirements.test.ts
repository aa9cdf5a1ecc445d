/** What is promised of a launcher, whatever its chart looks like. */
import type { AnyEventObject } from 'xstate';
import { launcherMachine } from '../../../src/machines/writers/launcher.machine.ts';
import type { Triple } from '../../kit/chart-model.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import {
  branchOn,
  breaches,
  edit,
  type Requirement,
  requirementSuite,
  unheard,
  unique,
} from '../../kit/requirement-suite.ts';
import { describeState, describeTriple, isTimer, Reachable, statusOf } from '../../kit/requirements.ts';
import { actorOf, type Launcher, model, OUTCOMES, SIGINT, SIGTERM, type State, successOf } from './domain.ts';
import { type LauncherStep, STEPS } from './world.ts';

const GRACE_MS = 20_000;
const PATIENCE_MS = 5_000;

const explore = (machine: Launcher) => new Reachable(model(machine));
const over = (state: unknown) => statusOf(state) === 'done';
const children = (state: unknown) => Object.keys((state as { children: object }).children);
const has = (state: unknown, child: string) => children(state).includes(child);
const hasBox = (state: unknown) => has(state, 'box');
const after = (state: State, event: AnyEventObject) => effectsOf(state, event).state as unknown as State;
const starts = (state: State, event: AnyEventObject, child = 'start') =>
  effectsOf(state, event).spawned.some(({ id }) => id === child);
const isSignal = ({ event }: { readonly event: AnyEventObject }) => event.type === 'SIGNAL';
const isSettlementOf = (step: LauncherStep, event: AnyEventObject) => event.type.endsWith(`.actor.${actorOf(step)}`);
const went = (step: LauncherStep, event: AnyEventObject): boolean =>
  event.type === `xstate.done.actor.${actorOf(step)}` &&
  JSON.stringify(event['output']) === JSON.stringify(successOf(step));
const does = (state: State, event: AnyEventObject, action: string) =>
  effectsOf(state, event).actions.filter((each) => each === action).length;

/** What lets a start go on: the step has gone well, or it is the renewal, of which there is a copy, and its time is over. */
const isEnough = (step: LauncherStep, triple: Triple<Launcher>): boolean =>
  went(step, triple.event) || (step === 'renew' && has(triple.state, step) && isTimer(triple));

const BEFORE_THE_BOX = STEPS.slice(0, STEPS.indexOf('start'));

const requirements: Requirement<Launcher>[] = [
  {
    says: 'no box is started before every step went well',
    findings: (chart) => {
      const [first] = chart.states;
      if (!first) return ['nothing to judge'];
      return BEFORE_THE_BOX.flatMap((step) =>
        chart
          .follow(first, (triple) => !isEnough(step, triple))
          .filter((state) => has(state, 'start') || hasBox(state))
          .map((state) => `${describeState(state)} without ${step}`)
          .slice(0, 1),
      );
    },
    brokenBy: {
      'a busy writer is taken': edit((at) => {
        (invocation(at('preparing.admitting.claim.claiming'), 'claim').onDone as { target: string }[])[1] = {
          target: 'claimed',
        };
      }),
      'nobody asks for the lock': edit((at) => {
        at('preparing.admitting.claim').initial = 'claimed';
      }),
      'a writer that is not ready is started': edit((at) => {
        invocation(at('preparing.admitting.check.checking'), 'check').onDone = 'checked';
      }),
      'abandoned boxes are left alone': edit((at) => {
        invocation(at('preparing.reaping'), 'reap').onDone = 'renewing';
      }),
      'a lock that takes long is not waited for': edit((at) => {
        at('preparing.admitting.claim.claiming').after = { renewalPatience: 'claimed' };
      }),
      'abandoned boxes that take long are left alone': edit((at) => {
        at('preparing.reaping').after = { renewalPatience: 'renewing' };
      }),
      'old credentials do': edit((at) => {
        invocation(at('preparing.renewing'), 'renew').onError = 'planning';
      }),
      'credentials that could not be copied do': edit((at) => {
        (invocation(at('preparing.renewing'), 'renew').onDone as { target: string }[])[1] = { target: 'planning' };
      }),
      'nobody asks for credentials': edit((at) => {
        (invocation(at('preparing.reaping'), 'reap').onDone as { target: string }[])[0] = { target: 'planning' };
      }),
    },
  },
  {
    says: 'a provider that does not answer does not hold the start',
    findings: (chart) =>
      unique([
        ...breaches(
          chart.triples.filter(({ state, event }) => starts(state, event, 'renew')),
          ({ state, event }) => !effectsOf(state, event).deadlines.some(({ delayMs }) => delayMs === PATIENCE_MS),
        ),
        // No longer than once, and on to the next step: nobody is refused for it.
        ...breaches(
          chart.triples.filter((triple) => has(triple.state, 'renew') && isTimer(triple)),
          ({ state, event, nextState }) => has(nextState, 'renew') || !starts(state, event, 'plan'),
        ),
        ...chart
          .active()
          .filter((state) => has(state, 'renew'))
          .filter((state) => !chart.canReach(state, hasBox, ({ event }) => !isSettlementOf('renew', event)))
          .map((state) => `${describeState(state)} waits for the provider`),
      ]),
    brokenBy: {
      'it is waited for': edit((at) => drop(at('preparing.renewing'), 'after')),
      'it is waited for as long as a box': edit((at) => {
        at('preparing.renewing').after = { graceTimeout: 'planning' };
      }),
      'nobody may start without it': edit((at) => {
        at('preparing.renewing').after = { renewalPatience: '#launcher.refused' };
      }),
      'it is asked again': edit((at) => {
        at('preparing.renewing').after = { renewalPatience: { target: 'renewing', reenter: true } };
      }),
      'the look at the directories is left out': edit((at) => {
        at('preparing.renewing').after = { renewalPatience: '#launcher.starting' };
      }),
    },
  },
  {
    says: 'no box is started after a signal',
    findings: (chart) =>
      unique(
        chart.triples
          .filter(isSignal)
          .flatMap(({ state, nextState }) =>
            has(state, 'start') || hasBox(state)
              ? []
              : chart.follow(nextState).filter((next) => has(next, 'start') || hasBox(next)),
          )
          .map(describeState),
      ),
    brokenBy: {
      'a signal is only noted': edit((at) => {
        drop(branchOn(at('preparing'), 'SIGNAL'), 'target');
      }),
    },
  },
  {
    says: 'a start that is under way is not cut off, and comes to its end after a signal',
    findings: (chart) => {
      const starting = chart.active().filter((state) => has(state, 'start'));
      return unique([
        ...(starting.length === 0 ? ['nothing to judge'] : []),
        ...chart.triples
          .filter(({ state, event }) => has(state, 'start') && !isSettlementOf('start', event))
          .filter(({ state, event, nextState }) => !has(nextState, 'start') || starts(state, event))
          .map(describeTriple),
        ...chart.triples
          .filter(({ state, event }) => has(state, 'start') && went('start', event))
          .filter(({ state, event }) => does(state, event, 'endInput') !== (state.context.signalled === null ? 0 : 1))
          .map(describeTriple),
      ]);
    },
    brokenBy: {
      'a signal cuts it off': edit((at) => {
        branchOn(at('starting'), 'SIGNAL').target = 'signalled';
      }),
      'it is begun anew': edit((at) => {
        at('starting').on = { SIGNAL: { target: 'starting', reenter: true } };
      }),
      'a signal is forgotten': edit((at) => {
        (invocation(at('starting'), 'start').onDone as object[]).shift();
      }),
    },
  },
  {
    says: 'the end of stdin, or a signal, ends the stdin of the box, once',
    findings: (chart) =>
      unique([
        ...chart
          .active()
          .filter((state) => has(state, 'watchInput'))
          .flatMap((state) =>
            [SIGINT, SIGTERM, { type: 'INPUT_ENDED' }]
              .filter((event) => does(state, event, 'endInput') !== 1 || !hasBox(after(state, event)))
              .map(({ type }) => `${describeState(state)} does not hear ${type}`),
          ),
        ...chart.triples
          .filter(({ state, event }) => does(state, event, 'endInput') > 0)
          .flatMap(({ nextState }) => chart.follow(nextState))
          .flatMap((state) => (has(state, 'watchInput') ? [`${describeState(state)} is revived`] : [])),
        ...chart.triples
          .filter(
            ({ state, event }) => hasBox(state) && !has(state, 'watchInput') && does(state, event, 'endInput') > 0,
          )
          .map((triple) => `${describeTriple(triple)} ends it again`),
      ]),
    brokenBy: {
      'nobody hears the end of stdin': edit((at) => drop(at('boxed.running').on, 'INPUT_ENDED')),
      'a signal is only noted': edit((at) => drop(at('boxed.running').on, 'SIGNAL')),
      'the box is not told': edit((at) => drop(at('boxed.ending'), 'entry')),
      'each signal ends it again, and its grace begins anew': edit((at) => {
        at('boxed.ending').on = { SIGNAL: { target: 'ending', reenter: true } };
      }),
      'it runs on after its grace': edit((at) => {
        at('boxed.ending').after = { graceTimeout: 'running' };
      }),
    },
  },
  {
    says: 'a box whose stdin has ended has 20,000 ms; then it is removed, and never twice',
    findings: (chart) =>
      unique([
        ...chart.triples
          .filter(({ state, event }) => does(state, event, 'endInput') > 0)
          .filter(({ state, event }) => !effectsOf(state, event).deadlines.some(({ delayMs }) => delayMs === GRACE_MS))
          .map((triple) => `${describeTriple(triple)} has no deadline`),
        ...chart.triples
          .filter(({ state, event }) => does(state, event, 'endInput') > 0)
          .filter(
            ({ nextState }) =>
              !chart
                .follow(nextState, (triple) => isTimer(triple))
                .some((state) => hasBox(state) && chart.follow(state, isTimer).length === 1),
          )
          .map(describeTriple),
        ...breaches(
          chart.triples.filter(({ state, event }) => does(state, event, 'removeBox') > 0),
          (triple) =>
            !isTimer(triple) ||
            !hasBox(triple.nextState) ||
            chart
              .follow(triple.nextState)
              .some((state) =>
                chart.triples.some((next) => next.state === state && does(state, next.event, 'removeBox')),
              ),
        ),
      ]),
    brokenBy: {
      'it has all the time of the world': edit((at) => drop(at('boxed.ending'), 'after')),
      'a signal removes it': edit((at) => {
        at('boxed.running').on = { ...at('boxed.running').on, SIGNAL: 'removing' };
      }),
      'each signal removes it again': edit((at) => {
        at('boxed.removing').on = { SIGNAL: { target: 'removing', reenter: true } };
      }),
      'its grace begins anew': edit((at) => {
        at('boxed.ending').after = { graceTimeout: { target: 'ending', reenter: true } };
      }),
      'it is not removed': edit((at) => drop(at('boxed.removing'), 'entry')),
    },
  },
  {
    says: 'with a box there is no end but that of the box, and one that is left is told of',
    findings: (chart) =>
      unique([
        ...breaches(
          chart.triples.filter(({ state, nextState }) => hasBox(state) && over(nextState)),
          ({ event }) => !isSettlementOf('ended', event),
        ),
        ...breaches(
          chart.triples.filter(({ nextState }) => over(nextState)),
          ({ state, event, nextState }) => {
            const isKnown =
              (event['output'] as { kind?: string } | undefined)?.kind !== 'retained' &&
              event.type.startsWith('xstate.done.');
            const mayBeLeft = (hasBox(state) || has(state, 'start')) && !isKnown;
            return (nextState.output?.code === 'box_left') !== mayBeLeft;
          },
        ),
      ]),
    brokenBy: {
      'a signal ends it without its box': edit((at) => {
        at('boxed').on = { SIGNAL: 'signalled' };
        drop(at('boxed.running').on, 'SIGNAL');
      }),
      'the grace ends it without its box': edit((at) => {
        at('boxed.ending').after = { graceTimeout: '#launcher.signalled' };
      }),
      'a signal hides that a box is left': edit((at) => {
        const ends = invocation(at('boxed'), 'box').onDone as object[];
        invocation(at('boxed'), 'box').onDone = [ends[1], ends[0], ...ends.slice(2)];
      }),
      'a start that breaks is taken for none': edit((at) => {
        invocation(at('starting'), 'start').onError = 'signalled';
      }),
    },
  },
  {
    says: 'the first signal decides the status; without one the box does, and a refusal is 1 with its code',
    findings: (chart) =>
      unique([
        ...chart.triples
          .filter((triple) => isSignal(triple) && statusOf(triple.state) === 'active')
          .filter(
            ({ state, event, nextState }) =>
              nextState.context.signalled !== (state.context.signalled ?? event['status']),
          )
          .map((triple) => `${describeTriple(triple)} decides again, or not`),
        ...chart
          .active()
          .filter((state) => state.context.signalled === null && after(state, SIGINT).context.signalled !== 130)
          .map((state) => `${describeState(state)} hears no signal`),
        ...breaches(
          chart.triples.filter(({ nextState }) => over(nextState)),
          ({ event, nextState: { context, output } }) => {
            const { code } = (event['output'] ?? {}) as { code?: number | string | null };
            if (output?.code === 'box_left') return output.status !== 1;
            if (context.signalled !== null) return output?.status !== context.signalled || output.code !== null;
            if (output?.code !== null)
              return output?.status !== 1 || (typeof code === 'string' && output.code !== code);
            return output.status !== (code ?? 137);
          },
        ),
      ]),
    brokenBy: {
      'one that comes while the box ends is not noted': (machine) =>
        edit<Launcher>((at) => {
          at('boxed').on = { SIGNAL: { actions: [] } };
        })(machine),
      'a start hears none': edit((at) => drop(at('starting'), 'on')),
      'the status of the box is forgotten': edit((at) => {
        drop((invocation(at('boxed'), 'box').onDone as object[])[3], 'actions');
      }),
      'it is never told': edit((at) => drop(at(), 'output')),
      'what is wrong with the layout is not told': edit((at) => {
        (invocation(at('preparing.planning'), 'plan').onDone as object[])[1] = {
          target: '#launcher.refused',
          actions: { type: 'refuse', params: { code: 'layout_unreadable' } },
        };
      }),
    },
  },
  {
    says: 'credentials are looked after as long as the box runs, and no longer',
    findings: (chart) =>
      unique(
        chart
          .active()
          .filter((state) => has(state, 'credentials') !== has(state, 'watchInput'))
          .map(describeState),
      ),
    brokenBy: {
      'nobody looks': edit((at) => {
        at('boxed.running').invoke = [invocation(at('boxed.running'), 'watchInput')];
      }),
      'they are looked after to the end': edit((at) => {
        const watch = invocation(at('boxed.running'), 'credentials');
        at('boxed.running').invoke = [invocation(at('boxed.running'), 'watchInput')];
        at('boxed').invoke = [invocation(at('boxed'), 'box'), watch];
      }),
    },
  },
  {
    says: 'whatever a step or the box comes to is heard',
    findings: (chart) => unheard(chart, Object.fromEntries(STEPS.map((step) => [actorOf(step), OUTCOMES[step]]))),
    brokenBy: {
      'a lock that breaks is waited for': edit((at) => {
        drop(invocation(at('preparing.admitting.claim.claiming'), 'claim'), 'onError');
      }),
      'a box that was killed is waited for': edit((at) => {
        (invocation(at('boxed'), 'box').onDone as object[]).pop();
      }),
    },
  },
];

requirementSuite(launcherMachine, explore, requirements);
