/** What is promised of every operation on a writer: fenced, never lossy by accident, always let go of. */
import type { AnyMachineSnapshot } from 'xstate';
import { writerMachine } from '../../../src/machines/writers/writer.machine.ts';
import type { WriterInput } from '../../../src/ports/writers/lifecycle.ts';
import { doneEvent } from '../../kit/domain.ts';
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
import { describeState, Reachable, statusOf } from '../../kit/requirements.ts';
import { INPUTS, type Writer, writerModel } from './domain.ts';

/** All ways to ask at once: the contexts differ, so the states do. */
class Everything extends Reachable<Writer> {
  constructor(machine: Writer) {
    const models = INPUTS.map((input) => writerModel(input, machine));
    const [first] = models;
    super({
      key: (state: never) => `${JSON.stringify((state as AnyMachineSnapshot).context)} ${first?.key(state)}`,
      reachable: () => models.flatMap((model) => model.reachable()),
    } as never);
  }
}

const childOf = (state: unknown) => Object.keys((state as AnyMachineSnapshot).children).join();
const inputOf = (state: unknown) => (state as AnyMachineSnapshot).context as WriterInput;
const IN_USE = ['read', 'inspect', 'consult', 'register', 'provision', 'finish', 'removal'];
const over = (state: unknown) => statusOf(state) === 'done';
const isEvent = (type: string, output?: unknown) => {
  const expected = JSON.stringify(doneEvent(type, output));
  return ({ event }: { readonly event: object }) => JSON.stringify(event) === expected;
};

const requirements: Requirement<Writer>[] = [
  {
    says: 'nothing of a writer is read or touched before everybody else is kept off it',
    findings: (chart) => {
      const held = isEvent('fence', 'held');
      const starts = chart.states.filter((state) => state.matches('idle'));
      return unique(
        starts
          .flatMap((each) => chart.follow(each, (triple) => !held(triple)))
          .filter((state) => IN_USE.includes(childOf(state)))
          .map(describeState),
      );
    },
    brokenBy: {
      'a busy writer is read': edit((at) => {
        (invocation(at('working.fencing'), 'fence').onDone as { target: string }[])[1] = { target: 'reading' } as never;
      }),
      'it begins with reading': edit((at) => {
        at('working').initial = 'reading';
      }),
      'a fence that fails is none': edit((at) => {
        invocation(at('working.fencing'), 'fence').onError = 'reading';
      }),
    },
  },
  {
    says: 'whatever happens, the writer is let go of in the end, once nothing of the run is left',
    findings: (chart) =>
      unique([
        ...breaches(
          chart.triples.filter(({ nextState }) => over(nextState)),
          ({ state }) => childOf(state) !== 'release',
        ),
        ...chart.stuck(over).map(describeState),
      ]),
    brokenBy: {
      'an unreadable journal ends it at once': edit((at) => {
        invocation(at('working.reading'), 'read').onError = '#writer.ended';
      }),
    },
  },
  {
    says: 'an interruption is heard during all the work, and nothing goes on before the step has ended',
    findings: (chart) =>
      unique(
        chart
          .active()
          .filter((state) => state.matches('working'))
          .flatMap((state) => {
            const { state: next } = effectsOf(state, { type: 'INTERRUPT' });
            return childOf(next) === 'quiesce' && next.context.code === 'interrupted' ? [] : [describeState(state)];
          }),
      ),
    brokenBy: {
      'nobody hears it': edit((at) => drop(at('working').on, 'INTERRUPT')),
      'the writer is let go of at once': edit((at) => {
        branchOn(at('working'), 'INTERRUPT').target = 'releasing';
      }),
      'a finished run is told as good': edit((at) => {
        branchOn(at('working'), 'INTERRUPT').actions = [];
      }),
    },
  },
  {
    says: 'what was let go of is not touched again, and a second interruption changes nothing',
    findings: (chart) =>
      unique(
        chart
          .active()
          .filter((state) => state.matches('interrupting') || state.matches('releasing'))
          .flatMap((state) => [
            ...chart
              .follow(state)
              .filter((next) => IN_USE.includes(childOf(next)))
              .map((next) => `${describeState(state)} leads to ${describeState(next)}`),
            ...(effectsOf(state, { type: 'INTERRUPT' }).spawned.length === 0 ? [] : [describeState(state)]),
          ]),
      ),
    brokenBy: {
      'an interrupted run starts again': edit((at) => {
        invocation(at('interrupting'), 'quiesce').onDone = 'working';
      }),
      'the release is begun anew': edit((at) => {
        at('releasing').on = { INTERRUPT: { target: 'releasing', reenter: true } };
      }),
    },
  },
  {
    says: 'work in the clone, or a clone that nobody can look into, stays unless the operator gives it up',
    findings: (chart) =>
      unique(
        chart.triples
          .filter(({ state, nextState }) => {
            const isLossy = ['finish', 'removal'].includes(childOf(nextState)) && childOf(state) !== childOf(nextState);
            const { plan } = nextState.context;
            return isLossy && plan.kind !== 'collect' && childOf(state) === 'inspect';
          })
          .filter((triple) => !isEvent('inspect', 'clean')(triple) || inputOf(triple.state).discard)
          .map(({ state }) => describeState(state)),
      ),
    brokenBy: {
      'work is taken for none': edit((at) => {
        (invocation(at('working.inspecting'), 'inspect').onDone as object[])[1] = {
          guard: { type: 'hasWork', params: ({ event }: { event: { output: unknown } }) => event.output },
          target: 'deciding',
          actions: 'planUnhindered',
        };
      }),
      'a look that fails is taken for none': edit((at) => {
        invocation(at('working.inspecting'), 'inspect').onError = { target: 'deciding', actions: 'planUnhindered' };
      }),
    },
  },
  {
    says: 'a made writer is registered again exactly when its client has lost it, and nothing else is done to it',
    findings: (chart) =>
      unique([
        ...breaches(
          chart.triples.filter(({ nextState }) => childOf(nextState) === 'register'),
          ({ state, event }) => childOf(state) !== 'register' && !isEvent('consult', 'absent')({ event }),
        ),
        ...breaches(
          chart.triples.filter(isEvent('consult', 'absent')),
          ({ nextState }) => childOf(nextState) !== 'register',
        ),
        ...breaches(
          chart.triples.filter(({ event }) => /done.actor.(consult|register)/.test(event.type)),
          ({ nextState }) => ['provision', 'finish', 'removal'].includes(childOf(nextState)),
        ),
      ]),
    brokenBy: {
      'another entry of the name is taken for none': edit((at) => {
        (invocation(at('working.consulting'), 'consult').onDone as object[])[2] = { target: 'registering' };
      }),
      'a client that cannot be asked is taken to have lost it': edit((at) => {
        invocation(at('working.consulting'), 'consult').onError = 'registering';
      }),
      'what is lost is taken for there': edit((at) => {
        (invocation(at('working.consulting'), 'consult').onDone as { target: string }[])[1] = {
          target: '#writer.releasing',
        };
      }),
      'it is made from the start': edit((at) => {
        (invocation(at('working.registering'), 'register').onDone as { target: string }[])[0] = {
          target: 'provisioning',
        };
      }),
    },
  },
  {
    says: 'whatever a step comes to is heard',
    findings: (chart) =>
      unheard(chart, {
        fence: ['held', 'busy', 'unavailable'],
        read: [{ ok: true, phase: 'ready' }, { ok: false }],
        inspect: ['clean', 'work', 'unknown'],
        consult: ['present', 'absent', 'unknown'],
        register: [{ ok: true }, { ok: false }],
        provision: [{ result: 'done' }],
        finish: [{ result: 'done' }, { result: 'incomplete' }],
        removal: [{ result: 'failed', step: 'dispose' }],
        quiesce: [undefined],
        release: [undefined],
      }),
    brokenBy: {
      'a release that fails is waited for': edit((at) => {
        invocation(at('releasing'), 'release').onError = { actions: [] };
      }),
      'a child that breaks is waited for': edit((at) => drop(invocation(at('working.finishing'), 'finish'), 'onError')),
      'work is no answer': edit((at) => {
        (invocation(at('working.inspecting'), 'inspect').onDone as object[]).splice(1);
      }),
    },
  },
  {
    says: 'no deadline cuts a durable step short',
    findings: (chart) =>
      unique(chart.active().flatMap((state) => effectsOf(state, { type: 'START' }).deadlines.map(({ type }) => type))),
    brokenBy: {
      'the work has one': (machine) =>
        edit<Writer>((at) => {
          at('working').after = { 1000: 'releasing' };
        })(machine),
    },
  },
];

requirementSuite(writerMachine, (machine) => new Everything(machine), requirements);
