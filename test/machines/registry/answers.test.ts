/** What is promised on requests and tombstones, whatever the chart looks like. */
import { type AnyEventObject, assign, initialTransition } from 'xstate';
import { registryMachine } from '../../../src/machines/session/registry.machine.ts';
import { doneEvent, errorEvent } from '../../kit/domain.ts';
import { effectsOf } from '../../kit/effects.ts';
import { begin, extensions, imbalance, step, type Walk } from '../../kit/ledger.ts';
import {
  branchesOn,
  branchOn,
  breaches,
  edit,
  firstOf,
  type Requirement,
  requirementSuite,
  unique,
} from '../../kit/requirement-suite.ts';
import { Reachable } from '../../kit/requirements.ts';
import { replyLabel } from '../../kit/world.ts';
import { model } from './domain.ts';

type Registry = typeof registryMachine;
type Context = Reachable<Registry>['states'][number]['context'];

const TOMBSTONES = 100;
const WALK_LENGTH = 4;

const explore = (machine: Registry) => new Reachable(model(machine));
const start = (id: string): AnyEventObject => ({
  type: 'START',
  requestId: 'S',
  session: { id, workspace: 'here', executionProfile: 'reader', profile: 'read-only' },
});
const closed = (sessionId: string, actorId = 'session-0') => ({
  ...doneEvent(actorId, { kind: 'closed', session: { id: sessionId, state: 'closed' } }),
  sessionId,
});
const requestsFor = (sessionId: string): AnyEventObject[] => [
  { type: 'PROMPT', requestId: 'P', sessionId, turnId: 't1', prompt: 'x' },
  { type: 'ABORT', requestId: 'A', sessionId },
  { type: 'CLOSE', requestId: 'C', sessionId },
];
const initial = (machine: Registry) => begin(initialTransition(machine)[0]);

function eventsOf({ state, asked }: Walk): AnyEventObject[] {
  const { open, tombstones } = state.context as Context;
  const known = [
    ...open.slice(0, 1).map(({ sessionId }) => sessionId),
    ...tombstones.slice(0, 1).map(({ id }) => id),
    'nobody',
  ];
  return [
    start(`s${asked.length}`),
    ...known.flatMap(requestsFor),
    { type: 'STOP' },
    ...open
      .slice(0, 1)
      .flatMap(({ sessionId, actorId }) => [
        closed(sessionId, actorId),
        doneEvent(actorId, { kind: 'discarded' }),
        errorEvent(actorId),
      ]),
  ];
}

/** What each request has to be answered where no session can: by where its session is. */
const ANSWERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  PROMPT: { closed: 'prompt_rejected', unknown: 'unknown_session' },
  ABORT: { closed: 'closed', unknown: 'unknown_session' },
  CLOSE: { closed: 'closed', unknown: 'unknown_session' },
};

const requirements: Requirement<Registry>[] = [
  {
    says: 'only a closed session leaves a tombstone; a discarded or broken one is unknown',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ event }) => event['actorId'] !== undefined),
        ({ event, nextState }) => {
          const isClosed = (event['output'] as { kind?: string } | undefined)?.kind === 'closed';
          const { tombstones, open } = nextState.context;
          const isIt = (id: string) => id === event['sessionId'];
          return tombstones.some(({ id }) => isIt(id)) !== isClosed || open.some(({ sessionId }) => isIt(sessionId));
        },
      ),
    brokenBy: {
      'nothing is kept': (machine) => machine.provide({ actions: { bury: assign({}) } }) as Registry,
      'discarded ones are kept': (machine) =>
        machine.provide({
          actions: {
            bury: assign({
              tombstones: ({ context, event }) => [
                ...context.tombstones,
                { id: (event as unknown as { sessionId: string }).sessionId } as never,
              ],
            }),
          },
        }) as Registry,
    },
  },
  {
    says: 'at most 100 tombstones, the oldest out first; an evicted session is unknown',
    findings: (_, machine) => {
      let walk = initial(machine);
      for (let count = 1; count <= TOMBSTONES + 2; count += 1) {
        walk = step(step(walk, start(`s${count}`)).walk, closed(`s${count}`)).walk;
      }
      const kept = (walk.state.context as Context).tombstones.map(({ id }) => id);
      const expected = Array.from({ length: TOMBSTONES }, (_each, index) => `s${index + 3}`);
      const label = (id: string, index: number) => {
        const [answer] = effectsOf(walk.state, requestsFor(id)[index] ?? { type: '' }).answers;
        return answer ? replyLabel(answer.reply) : 'nothing';
      };
      return [
        ...(kept.join() === expected.join() ? [] : [`${kept.length} kept, from ${kept[0]} to ${kept.at(-1)}`]),
        ...[0, 1, 2]
          .filter((index) => label('s2', index) !== 'unknown_session')
          .map((index) => `evicted: ${label('s2', index)}`),
        ...[1, 2].filter((index) => label('s3', index) !== 'closed').map((index) => `kept: ${label('s3', index)}`),
      ];
    },
    brokenBy: {
      'all are kept': (machine) =>
        machine.provide({
          actions: {
            bury: assign({
              tombstones: ({ context }, output) =>
                output.kind === 'closed' ? [...context.tombstones, output.session] : context.tombstones,
            }),
          },
        }) as Registry,
      'the newest goes first': (machine) =>
        machine.provide({
          actions: {
            bury: assign({
              tombstones: ({ context }, output) =>
                output.kind === 'closed'
                  ? [...context.tombstones, output.session].slice(0, TOMBSTONES)
                  : context.tombstones,
            }),
          },
        }) as Registry,
    },
  },
  {
    says: 'every request is answered exactly once, or handed on to exactly one session that owes the answer',
    findings: (_, machine) =>
      firstOf(
        (function* () {
          for (const walk of extensions(initial(machine), WALK_LENGTH, eventsOf)) {
            if (walk.state.status === 'active') yield* imbalance(walk, []);
          }
        })(),
      ),
    brokenBy: {
      'an unknown prompt is ignored': edit((at) => branchesOn(at(), 'PROMPT').pop()),
      'a second close is ignored': edit((at) => branchesOn(at(), 'CLOSE').pop()),
      'an abort is answered beside its session': edit((at) => {
        const [open, closed] = branchesOn(at(), 'ABORT');
        open?.actions.push(...(closed?.actions ?? []));
      }),
      'a start is answered and handed on': edit((at) => {
        const begin = branchOn(at('accepting'), 'START');
        begin.actions.push({
          type: 'reply',
          params: ({ event }: { event: AnyEventObject }) => [
            { requestIds: [event['requestId']], reply: { ok: false, code: 'internal_error' } },
          ],
        });
      }),
    },
  },
  {
    says: 'requests for closed and unknown sessions have the answers of the contract and change nothing',
    findings: (chart) =>
      unique(
        chart.active().flatMap((state) =>
          [
            ...state.context.tombstones.map(({ id }) => ({ id, where: 'closed' })),
            { id: 'nobody', where: 'unknown' },
          ].flatMap(({ id, where }) =>
            requestsFor(id).flatMap((event) => {
              const { answers, state: next } = effectsOf(state, event);
              const told = answers.map(({ reply }) => replyLabel(reply)).join();
              const isSame =
                JSON.stringify([next.value, next.context]) === JSON.stringify([state.value, state.context]);
              return told === ANSWERS[event.type]?.[where] && isSame
                ? []
                : [`${event.type} on a session that is ${where}: ${told}`];
            }),
          ),
        ),
      ),
    brokenBy: {
      'a prompt to a closed session is unknown': edit((at) => branchesOn(at(), 'PROMPT').splice(1, 1)),
      'closing twice is an error': edit((at) => {
        const unknown = branchesOn(at(), 'PROMPT').at(-1);
        at().on = { ...at().on, CLOSE: [branchOn(at(), 'CLOSE'), unknown] };
      }),
    },
  },
  {
    says: 'a request for an open session goes to that session as it is, and nobody else answers it',
    findings: (chart) =>
      unique(
        chart.active().flatMap((state) =>
          state.context.open.flatMap(({ sessionId: id, actorId }) =>
            requestsFor(id)
              .filter((event) => {
                const { answers, sent } = effectsOf(state, event);
                const isSent = JSON.stringify(sent) === JSON.stringify([{ to: actorId, event }]);
                return answers.length > 0 || !isSent;
              })
              .map(({ type }) => `${type} for ${id} in ${JSON.stringify(state.value)}`),
          ),
        ),
      ),
    brokenBy: {
      'a prompt does not get there': edit((at) => branchesOn(at(), 'PROMPT').shift()),
      'an abort does not': edit((at) => branchesOn(at(), 'ABORT').shift()),
      'a close does not': edit((at) => branchesOn(at(), 'CLOSE').shift()),
    },
  },
];

requirementSuite(registryMachine, explore, requirements);
