import { describe, expect, test } from 'vitest';
import {
  type AnyStateMachine,
  and,
  assign,
  createMachine,
  enqueueActions,
  fromPromise,
  log,
  raise,
  sendTo,
  spawnChild,
} from 'xstate';
import { lintChart } from './chart-lint.ts';
import { invocation, mutant } from './mutate.ts';
import { jobMachine, poolMachine } from './toy.ts';

const GUARANTEES = { guarantees: ['It is one of two.'] };
type Part = Record<string, unknown>;

/** A chart without fault but for the part given. */
function chart({
  state = {},
  root = {},
  implementations = {},
}: Record<'state' | 'root' | 'implementations', Part> | Part) {
  const resting = { description: 'x', meta: { rests: 'x' } };
  const config = {
    id: 'bad',
    description: 'x',
    meta: GUARANTEES,
    options: { maxIterations: 100 },
    initial: 'a',
    states: { a: { ...resting, ...(state as Part) }, b: { ...resting } },
    ...(root as Part),
  };
  return createMachine(config as never, implementations as never) as unknown as AnyStateMachine;
}

test('charts in order have no findings', () => {
  expect(lintChart(jobMachine)).toEqual([]);
  expect(lintChart(poolMachine)).toEqual([]);
  expect(lintChart(chart({}))).toEqual([]);
});

test('a child may break its chart on purpose, and says so', () => {
  const escalating = mutant(jobMachine, (at) => {
    delete invocation(at('working'), 'work').onError;
    at('working').meta = { escalates: ['work'] };
  });
  expect(lintChart(escalating)).toEqual([]);
});

const actor = fromPromise(async () => 1);
const broken: [string, AnyStateMachine, RegExp][] = [
  ['unbounded iterations', chart({ root: { options: {} } }), /maxIterations/],
  ['infinite iterations', chart({ root: { options: { maxIterations: Infinity } } }), /maxIterations/],
  ['state without description', chart({ state: { description: undefined } }), /no description/],
  ['nothing is guaranteed', chart({ root: { meta: {} } }), /guarantees of the root says nothing/],
  ['a guarantee that is a word', chart({ root: { meta: { guarantees: ['safe'] } } }), /"safe", which is no sentence/],
  ['initial state that is not there', chart({ root: { initial: 'zz' } }), /initial state "zz"/],
  ['no deadline, no reason', chart({ state: { meta: {} } }), /bad\.a: may last for ever/],
  [
    'a reason on the root alone',
    chart({ state: { meta: {} }, root: { meta: { ...GUARANTEES, rests: 'x' } } }),
    /may last for ever/,
  ],
  ['undeclared delay', chart({ state: { after: { zz: 'b' } } }), /delay "zz" is not declared/],
  ['numeric delay', chart({ state: { after: { 500: 'b' } } }), /delay "500" is not declared/],
  ['endless delay', chart({ implementations: { delays: { d: Infinity } } }), /"d" of Infinity ms/],
  ['unnamed delay of raise', chart({ state: { entry: raise({ type: 'X' }, { delay: 5 }) } }), /unnamed delay of 5/],
  [
    'undeclared delay of raise',
    chart({ state: { entry: raise({ type: 'X' }, { delay: 'zz' as never }) } }),
    /"zz" is not/,
  ],
  ['inline actor', chart({ state: { invoke: { id: 'i', src: actor, onError: 'b' } } }), /inline actor/],
  ['undeclared actor', chart({ state: { invoke: { id: 'i', src: 'zz', onError: 'b' } } }), /actor "zz"/],
  ['bare wildcard', chart({ state: { on: { '*': 'b' } } }), /bare \*/],
  ['inline guard', chart({ state: { on: { X: { guard: () => true, target: 'b' } } } }), /inline guard/],
  ['inline guard inside and()', chart({ state: { on: { X: { guard: and([() => true]), target: 'b' } } } }), /inline/],
  ['undeclared guard', chart({ state: { always: { guard: 'zz', target: 'b' } } }), /guard "zz"/],
  ['undeclared guard inside a declared one', chart({ implementations: { guards: { g: and(['zz']) } } }), /guard "zz"/],
  ['undeclared action', chart({ state: { exit: { type: 'zz' } } }), /action "zz"/],
  ['inline action', chart({ state: { on: { X: { actions: () => {} } } } }), /inline action/],
  ['log', chart({ state: { entry: log('x') } }), /stdout/],
  ['sendTo by literal', chart({ state: { entry: sendTo('ghost', { type: 'X' }) } }), /sendTo\("ghost"\)/],
  [
    'sendTo by literal in a declared action',
    chart({ implementations: { actions: { tell: sendTo('ghost', { type: 'X' }) } } }),
    /action "tell": sendTo/,
  ],
  [
    'sendTo by literal in enqueueActions',
    chart({ state: { entry: enqueueActions(({ enqueue }) => enqueue.sendTo('ghost', { type: 'X' })) } }),
    /literal id inside enqueueActions/,
  ],
  ['systemId on a child', chart({ state: { entry: spawnChild('s', { id: 'x', systemId: 'y' }) } }), /systemId/],
  ['child without id', chart({ state: { entry: spawnChild('s') } }), /spawnChild without/],
  [
    'child without id in enqueueActions',
    chart({ state: { entry: enqueueActions(({ enqueue }) => enqueue.spawnChild('s')) } }),
    /spawnChild without/,
  ],
  ['spawn in assign', chart({ state: { entry: assign({ x: ({ spawn }) => spawn('s') }) } }), /spawn\(\) in assign/],
  ['failing child', chart({ state: { entry: spawnChild('s', { id: 'x' }) } }), /handles xstate\.error\.actor\.\*/],
  ['finished child', chart({ state: { entry: spawnChild('s', { id: 'x' }) } }), /handles xstate\.done\.actor\.\*/],
  [
    'invoke without onError',
    mutant(jobMachine, (at) => {
      delete invocation(at('working'), 'work').onError;
    }),
    /"work" has no onError/,
  ],
  ['escalates a stranger', chart({ state: { meta: { rests: 'x', escalates: ['zz'] } } }), /escalates "zz", which it/],
  [
    'onError and escalates',
    mutant(jobMachine, (at) => {
      at('working').meta = { escalates: ['work'] };
    }),
    /has onError, yet escalates/,
  ],
  [
    'invoke without id',
    mutant(jobMachine, (at) => {
      delete invocation(at('working'), 'work').id;
    }),
    /without an explicit id/,
  ],
  [
    'systemId on an invocation',
    mutant(jobMachine, (at) => {
      Object.assign(invocation(at('working'), 'work'), { systemId: 's' });
    }),
    /systemId/,
  ],
];

describe('each rule fires', () => {
  test.each(broken)('%s', (_name, machine, finding) => {
    expect(lintChart(machine).join('\n')).toMatch(finding);
  });
});
