/** What is promised on all sessions together, whatever the chart looks like. */
import { type AnyEventObject, assign } from 'xstate';
import { type RegistryContext, registryMachine } from '../../../src/machines/session/registry.machine.ts';
import { errorEvent } from '../../kit/domain.ts';
import { effectsOf } from '../../kit/effects.ts';
import { drop } from '../../kit/mutate.ts';
import { branchOn, edit, type Requirement, requirementSuite, unique } from '../../kit/requirement-suite.ts';
import { describeState, isTimer, Reachable, statusOf } from '../../kit/requirements.ts';
import { replyLabel } from '../../kit/world.ts';
import { model } from './domain.ts';

type Registry = typeof registryMachine;

const REGISTRY_MS = 12_000;

const explore = (machine: Registry) => new Reachable(model(machine));
const over = (state: unknown) => statusOf(state) === 'done';
const start = (id: string): AnyEventObject => ({
  type: 'START',
  requestId: 'S',
  session: { id, workspace: 'here', executionProfile: 'reader', profile: 'read-only' },
});

const actorsOf = ({ open }: RegistryContext) => open.map(({ actorId }) => actorId).join();

const requirements: Requirement<Registry>[] = [
  {
    says: 'STOP is heard, reaches every open session, and ends the registry by its deadline at the latest',
    findings: (chart) =>
      unique([
        ...chart
          .avoiding(over, isTimer)
          .filter((state) => state.matches('draining'))
          .map((state) => `${describeState(state)} may last`),
        ...chart
          .active()
          .filter((state) => state.matches('accepting'))
          .flatMap((state) => {
            const { state: next, sent, deadlines } = effectsOf(state, { type: 'STOP' });
            const told = sent.filter(({ event }) => event.type === 'STOP').map(({ to }) => to);
            const isBounded = over(next) || deadlines.some(({ delayMs }) => delayMs === REGISTRY_MS);
            return [
              ...(told.join() === actorsOf(state.context)
                ? []
                : [`of ${actorsOf(state.context)} only ${told} are told`]),
              ...(isBounded && !next.matches('accepting') ? [] : [`${describeState(next)} has no deadline`]),
            ];
          }),
      ]),
    brokenBy: {
      'there is no deadline': edit((at) => drop(at('draining'), 'after')),
      'the deadline is not the last word': edit((at) => {
        at('draining').after = { registryTimeout: 'accepting' };
      }),
      'no session is told': edit((at) => drop(at('draining'), 'entry')),
      'STOP is not heard': edit((at) => drop(at('accepting').on, 'STOP')),
    },
  },
  {
    says: 'once it drains it is done as soon as no session is left and not before, and never accepts again',
    findings: (chart) =>
      unique([
        ...chart.triples
          .filter(({ event, nextState }) => over(nextState) && !isTimer({ event }) && nextState.context.open.length > 0)
          .map(({ nextState }) => `${actorsOf(nextState.context)} is left behind`),
        ...chart
          .active()
          .filter((state) => state.matches('draining') && state.context.open.length === 0)
          .map(describeState),
        ...chart
          .active()
          .filter((state) => state.matches('draining') && chart.canReach(state, (next) => next.matches('accepting')))
          .map((state) => `${describeState(state)} may accept again`),
      ]),
    brokenBy: {
      'it waits for nobody': edit((at) => {
        at('draining').always = 'stopped';
      }),
      'it waits for the deadline': edit((at) => drop(at('draining'), 'always')),
      'it accepts again': edit((at) => {
        at('draining').always = { guard: 'noneOpen', target: 'accepting' };
      }),
    },
  },
  {
    says: 'new starts answer server_stopping once it drains, and start nothing',
    findings: (chart) => {
      const draining = chart.active().filter((state) => state.matches('draining'));
      return unique(
        draining.flatMap((state) => {
          const { state: next, answers, spawned } = effectsOf(state, start('late'));
          const told = answers.map(({ requestId, reply }) => `${requestId} ${replyLabel(reply)}`).join();
          const isSame = JSON.stringify(next.context) === JSON.stringify(state.context);
          return told === 'S server_stopping' && spawned.length === 0 && isSame
            ? []
            : [`${describeState(state)}: ${told}`];
        }),
      );
    },
    brokenBy: {
      'a start is ignored': edit((at) => drop(at('draining').on, 'START')),
      'a start is accepted': edit((at) => {
        at('draining').on = { ...at('draining').on, START: at('accepting').on?.['START'] };
      }),
      'a start has the wrong answer': edit((at) => {
        at('draining').on = {
          ...at('draining').on,
          START: {
            actions: { type: 'reply', params: [{ requestIds: ['S'], reply: { ok: false, code: 'internal_error' } }] },
          },
        };
      }),
    },
  },
  {
    says: 'the open sessions are exactly those with an actor, in the order of their start',
    findings: (chart) =>
      unique(
        [
          ...chart.states.filter((state) => !over(state)),
          ...chart.triples.map(({ nextState }) => nextState).filter((state) => !over(state)),
        ]
          .filter(({ context, children }) => actorsOf(context) !== Object.keys(children).join())
          .map(({ context, children }) => `open ${actorsOf(context)}, actors ${Object.keys(children)}`),
      ),
    brokenBy: {
      'an ended actor is kept': edit((at) => {
        const done = branchOn(at(), 'xstate.done.actor.*');
        done.actions.pop();
      }),
      'an ended session stays open': edit((at) => {
        const done = branchOn(at(), 'xstate.done.actor.*');
        done.actions = done.actions.slice(-1);
        // What is sent to an actor that is gone breaks a chart at once; this is about the quiet case.
        at().on = { 'xstate.done.actor.*': done };
        drop(at('draining'), 'entry');
      }),
      'a started one is not remembered': edit((at) => {
        const begin = branchOn(at('accepting'), 'START');
        begin.actions.pop();
      }),
      'the newest comes first': (machine) =>
        machine.provide({
          actions: {
            remember: assign({
              open: ({ context }, { id }) => [
                { sessionId: id, actorId: `session-${context.open.length}` },
                ...context.open,
              ],
            }),
          },
        }) as Registry,
    },
  },
  {
    says: 'a session whose chart broke is reported, and the registry accepts no more',
    findings: (chart) =>
      unique(
        chart.active().flatMap((state) =>
          state.context.open
            .filter(({ actorId }) => {
              const { state: next, actions } = effectsOf(state, errorEvent(actorId));
              return next.matches('accepting') || !actions.includes('reportDefect') || actorId in next.children;
            })
            .map(({ sessionId }) => `${describeState(state)} does not mind that ${sessionId} broke`),
        ),
      ),
    brokenBy: {
      'it is not reported while it drains': edit((at) => {
        branchOn(at('draining'), 'xstate.error.actor.*').actions.pop();
      }),
      'it is not noticed': edit((at) => drop(at('draining').on, 'xstate.error.actor.*')),
      'it goes on': edit((at) => {
        drop(branchOn(at('accepting'), 'xstate.error.actor.*'), 'target');
      }),
    },
  },
];

requirementSuite(registryMachine, explore, requirements);
