/** What is promised: what is answered, when, and with what; and which tools a server's list comes to. */
import type { AnyEventObject } from 'xstate';
import { connectionMachine } from '../../../src/machines/grants/connection.machine.ts';
import type { OpenReply } from '../../../src/machines/grants/discovery.ts';
import type { CallReply, PageOutcome } from '../../../src/ports/grants.ts';
import { effectsOf, requestIdsOf } from '../../kit/effects.ts';
import { GRANTS, grantLabel } from '../../kit/grant-world.ts';
import { drop, invocation } from '../../kit/mutate.ts';
import { breaches, edit, type Requirement, requirementSuite, unique } from '../../kit/requirement-suite.ts';
import { describeState, describeTriple, isTimer, Reachable } from '../../kit/requirements.ts';
import { type Connection, callEvent, model, type State } from './domain.ts';

/** Every event everywhere: what is not handled is what would be forgotten. */
const explore = (machine: Connection) => new Reachable(model(machine), { everywhere: true });
const answersOf = (state: State, event: AnyEventObject) =>
  effectsOf(state, event).answers.map(({ requestId, reply }) => ({
    requestId,
    reply: reply as unknown as OpenReply | CallReply,
  }));

/** Who waits for an answer. */
function owed({ context: { opener, current, waiting } }: State): string[] {
  const calls = [...(current ? [current] : []), ...waiting].map(({ requestId }) => requestId);
  return opener === null ? calls : [opener, ...calls];
}

/** The contract's words on a complete list: what it comes to. */
function verdictOn(listed: readonly { readonly name: string; readonly inputSchema: unknown }[]): string {
  const names = listed.map(({ name }) => name);
  if (names.length === 0) return 'external_mcp_no_tools';
  if (new Set(names).size < names.length) return 'external_mcp_unavailable';
  for (const { alias, name } of GRANTS) {
    const found = listed.find((tool) => tool.name === name);
    if (!found) return `external_mcp_grant_tool_missing ${alias}`;
    if (!found.inputSchema) return `external_mcp_unavailable ${alias}`;
  }
  return 'ok';
}

const settlesCall = ({ event }: { readonly event: AnyEventObject }) => /actor\.call$/.test(event.type);

const requirements: Requirement<Connection>[] = [
  {
    says: 'every request gets exactly one answer',
    findings: (chart) =>
      unique(
        chart.triples.flatMap((triple) => {
          const { state, event, nextState } = triple;
          // Its owner opens it once.
          if (event.type === 'OPEN' && !state.matches('idle')) return [];
          const asked = event.type === 'CALL' || event.type === 'OPEN' ? requestIdsOf(event) : [];
          const before = [...owed(state), ...asked].sort().join();
          const answered = answersOf(state, event).map(({ requestId }) => requestId);
          const now = [...answered, ...owed(nextState)].sort().join();
          return before === now ? [] : [`${describeTriple(triple)}: owed ${before}, now ${now}`];
        }),
      ),
    brokenBy: {
      'a close forgets those that wait': edit((at) => {
        at('live').on = { ...at('live').on, CLOSE: { target: 'closing', actions: 'forgetAll' } };
      }),
      'a late call is dropped': edit((at) => drop(at('failed').on, 'CALL')),
      'a call is answered and goes on': edit((at) => {
        const { externalCallTimeout } = at('live.calling').after as { externalCallTimeout: { actions: [object] } };
        at('live.calling').after = { externalCallTimeout: { actions: externalCallTimeout.actions[0] } };
      }),
      'a cancelled call that waits stays': edit((at) => {
        const { CANCEL } = at('live.calling').on as { CANCEL: [object, { actions: [object] }] };
        const [current, waiting] = CANCEL;
        at('live.calling').on = {
          ...at('live.calling').on,
          CANCEL: [current, { ...waiting, actions: waiting.actions[0] }],
        };
      }),
    },
  },
  {
    says: 'only the result of the live call is ever given as a result',
    findings: (chart) =>
      breaches(
        chart.triples.filter(({ state, event }) =>
          answersOf(state, event).some(({ reply }) => reply.ok && 'content' in reply),
        ),
        ({ state, event }) =>
          !settlesCall({ event }) ||
          answersOf(state, event).some(({ requestId }) => requestId !== state.context.current?.requestId),
      ),
    brokenBy: {
      'a deadline gives what there is': edit((at) => {
        at('live.calling').after = {
          externalCallTimeout: {
            target: 'ready',
            actions: [
              {
                type: 'reply',
                params: ({ context }: { context: State['context'] }) => [
                  { requestIds: [context.current?.requestId], reply: { ok: true, content: [] } },
                ],
              },
              'dropCurrent',
            ],
          },
        };
      }),
    },
  },
  {
    says: 'deadline, cancellation, close and loss each answer at once, each in its own words',
    findings: (chart) =>
      chart.active().flatMap((state) => {
        const { current, waiting } = state.context;
        const labels = (event: AnyEventObject) =>
          answersOf(state, event)
            .map(({ reply }) => grantLabel(reply))
            .join();
        const everyone = [current, ...waiting].filter(Boolean).map(() => 'unavailable');
        const opener = state.context.opener === null ? [] : ['external_mcp_unavailable'];
        const cases: [AnyEventObject, string][] = [
          [{ type: 'CLOSE' }, [...opener, ...everyone].join()],
          ...(state.matches('live')
            ? [[{ type: 'LOST' }, [...opener, ...everyone].join()] as [AnyEventObject, string]]
            : []),
          ...(current ? [[{ type: 'CANCEL', callId: current.callId }, 'cancelled'] as [AnyEventObject, string]] : []),
          ...waiting.map(({ callId }) => [{ type: 'CANCEL', callId }, 'cancelled'] as [AnyEventObject, string]),
          ...chart.triples
            .filter((triple) => triple.state === state && isTimer(triple))
            .map(({ event }) => [event, current ? 'timeout' : 'external_mcp_unavailable'] as [AnyEventObject, string]),
        ];
        return cases
          .filter(([event, expected]) => labels(event) !== expected)
          .map(([event, expected]) => `${event.type} in ${describeState(state)}: ${labels(event)} for ${expected}`);
      }),
    brokenBy: {
      'a deadline is called a failure': edit((at) => {
        at('live.calling').after = { externalCallTimeout: invocation(at('live.calling'), 'call').onError };
      }),
      'a lost server leaves its opener waiting': edit((at) => {
        at('live.opening').on = {
          ...at('live.opening').on,
          LOST: { target: '#connection.failed', actions: 'forgetAll' },
        };
      }),
    },
  },
  {
    says: 'a call that comes when nothing can be called is refused at once',
    findings: (chart) =>
      chart
        .active()
        .filter((state) => !state.matches({ live: 'ready' }) && !state.matches({ live: 'calling' }))
        .flatMap((state) => {
          const labels = answersOf(state, callEvent('C9')).map(({ reply }) => grantLabel(reply));
          const { spawned } = effectsOf(state, callEvent('C9'));
          return labels.join() === 'unavailable' && spawned.length === 0 ? [] : [describeState(state)];
        }),
    brokenBy: {
      'it waits for the opening': edit((at) => {
        at('live.opening').on = {
          CALL: { actions: { type: 'wait', params: ({ event }: { event: unknown }) => event } },
        };
      }),
    },
  },
  {
    says: 'a list comes to exactly the granted tools, or to what is wrong with it',
    findings: (chart) =>
      breaches(
        chart.triples.filter(
          ({ event }) => /actor\.listPage$/.test(event.type) && (event['output'] as PageOutcome)?.ok,
        ),
        ({ state, event, nextState }) => {
          const page = event['output'] as Extract<PageOutcome, { readonly ok: true }>;
          const listed = [...state.context.listed, ...page.tools];
          const [given] = answersOf(state, event).map(({ reply }) => reply);
          const isOverLimit = listed.length > 512 || (page.nextCursor !== null && state.context.pages >= 15);
          if (isOverLimit) return !given || grantLabel(given) !== 'external_mcp_unavailable';
          if (page.nextCursor !== null)
            return given !== undefined || nextState.context.pages !== state.context.pages + 1;
          const tools =
            given?.ok && 'tools' in given ? given.tools.map(({ alias, name }) => ({ alias, name })) : undefined;
          const expected = verdictOn(listed);
          if (nextState.matches({ live: 'ready' }) !== (expected === 'ok')) return true;
          return (
            !given ||
            grantLabel(given) !== expected ||
            (expected === 'ok' && JSON.stringify(tools) !== JSON.stringify(GRANTS))
          );
        },
      ),
    brokenBy: {
      'any list will do': edit((at) => {
        const list = invocation(at('live.opening.listing'), 'listPage') as { onDone: { guard?: unknown }[] };
        drop(list.onDone[1], 'guard');
      }),
      'only the last page counts': edit((at) => {
        const list = invocation(at('live.opening.listing'), 'listPage') as { onDone: { actions?: unknown }[] };
        if (list.onDone[0]) list.onDone[0].actions = 'forgetList';
      }),
      'the first page is asked for for ever': edit((at) => {
        const list = invocation(at('live.opening.listing'), 'listPage') as { onDone: { actions?: unknown }[] };
        drop(list.onDone[0], 'actions');
      }),
    },
  },
  {
    says: 'what was listed and asked is not kept longer than it is needed',
    findings: (chart) =>
      chart.states
        .filter((state) => !state.matches({ live: 'opening' }))
        .filter(({ context }) => context.listed.length > 0 || context.opener !== null || context.cursor !== null)
        .map(describeState),
    brokenBy: {
      'a ready one remembers the list': edit((at) => {
        const list = invocation(at('live.opening.listing'), 'listPage') as { onDone: { actions: unknown[] }[] };
        if (list.onDone[1]) list.onDone[1].actions = list.onDone[1].actions.slice(0, 1);
      }),
    },
  },
];

requirementSuite(connectionMachine, explore, requirements);
