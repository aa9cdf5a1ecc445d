/** The connection chart's events, and what makes each of them happen in the real assembly. */
import type { AnyEventObject, SnapshotFrom } from 'xstate';
import { connectionMachine } from '../../../src/machines/grants/connection.machine.ts';
import type { DeadlineName } from '../../../src/machines/shared/deadlines.ts';
import type { ListedTool, PageOutcome } from '../../../src/ports/grants.ts';
import { chartModel } from '../../kit/chart-model.ts';
import { type Domain, doneEvent, errorEvent } from '../../kit/domain.ts';
import { GRANTS, type GrantWorld } from '../../kit/grant-world.ts';
import { LISTED, type ServerOperation, SUCCESS } from '../../kit/scripted-server.ts';
import { TEST_DEADLINES } from '../../kit/world.ts';

export type Connection = typeof connectionMachine;
export type State = SnapshotFrom<Connection>;

const [WORK, OTHER] = LISTED;
const many = (count: number): ListedTool[] =>
  Array.from({ length: count }, (_, index) => ({ name: `tool-${index}`, description: '', inputSchema: null }));
const page = (tools: readonly ListedTool[], nextCursor: string | null = null): PageOutcome => ({
  ok: true,
  tools,
  nextCursor,
});

/** Each kind of page: complete or not, good or in one of the ways in which it can be wrong. */
export const PAGES: Readonly<Record<string, PageOutcome>> = {
  good: page([OTHER, WORK, ...many(3)]),
  empty: page([]),
  'empty, more to come': page([], 'next'),
  'as much as there may be, more to come': page(many(512), 'next'),
  'too much': page(many(513)),
  'one granted tool is missing': page([WORK]),
  'a name twice': page([WORK, OTHER, WORK]),
  'a granted tool without a usable schema': page([{ ...WORK, inputSchema: null }, OTHER]),
  refused: { ok: false },
};

/** Live calls at once: one at work, two that wait. */
const CALLS = ['C1', 'C2', 'C3'];
export const callEvent = (callId: string) =>
  ({ type: 'CALL', requestId: callId, callId, call: { name: 'work', args: {} } }) as const;
export const liveCalls = ({ context: { current, waiting } }: State) =>
  [...(current ? [current] : []), ...waiting].map(({ callId }) => callId);

const domain: Domain<Connection> = {
  OPEN: [{ type: 'OPEN', requestId: 'O' }],
  CALL: (snapshot: State) => {
    const next = CALLS.find((id) => !liveCalls(snapshot).includes(id));
    return next ? [callEvent(next)] : [];
  },
  CANCEL: (snapshot: State) =>
    [...liveCalls(snapshot), 'unknown'].map((callId) => ({ type: 'CANCEL', callId }) as const),
  CLOSE: [{ type: 'CLOSE' }],
  LOST: [{ type: 'LOST' }],
  // It can only fail when it begins.
  'xstate.error.actor.watch': (snapshot: State) =>
    snapshot.matches({ live: { opening: 'connecting' } }) ? [errorEvent('watch')] : [],
  'xstate.done.actor.connect': [doneEvent('connect', { ok: true }), doneEvent('connect', { ok: false })],
  'xstate.error.actor.connect': [errorEvent('connect')],
  'xstate.done.actor.listPage': Object.values(PAGES).map((outcome) => doneEvent('listPage', outcome)),
  'xstate.error.actor.listPage': [errorEvent('listPage')],
  'xstate.done.actor.call': [
    doneEvent('call', SUCCESS.call),
    doneEvent('call', { ok: false, reason: 'failed' }),
    doneEvent('call', { ok: false, reason: 'result_too_large' }),
  ],
  'xstate.error.actor.call': [errorEvent('call')],
  'xstate.done.actor.ending': [doneEvent('ending')],
};

export const model = (machine: Connection = connectionMachine) =>
  chartModel(machine, {
    domain,
    input: { grants: GRANTS },
    project: ({ opener, pages, listed, cursor, current, waiting }) => ({
      opener,
      // Once the list is complete, nothing depends on how long it was.
      pages: cursor === null ? null : pages,
      listed: listed.length,
      current: current?.callId,
      waiting: waiting.map(({ callId }) => callId),
    }),
  });

const ENDS: readonly ServerOperation[] = ['endInput', 'terminate', 'kill'];

/** @param event Of the connection chart, or of the ending chart below it. */
export async function applyConnectionEvent(world: GrantWorld, event: AnyEventObject): Promise<void> {
  const [, kind = '', , name = ''] = event.type.split('.');
  const { server } = world;
  if (event.type === 'OPEN') world.open();
  else if (event.type === 'CALL') world.call(event['callId'] as string);
  else if (event.type === 'CANCEL') world.cancel(event['callId'] as string);
  else if (event.type === 'CLOSE') world.close();
  else if (event.type === 'LOST') server.lose();
  else if (event.type === 'xstate.done.actor.ending') {
    // Whichever way the child is being ended just now.
    const [way] = server.live.filter(({ operation }) => ENDS.includes(operation)).slice(-1);
    if (way) server.settle(way, undefined);
  } else if (kind === 'done') server.settle(server.find(name as ServerOperation), event['output']);
  else if (kind === 'after') world.clock.fire(TEST_DEADLINES[event.type.split('.')[2] as DeadlineName]);
  // See `watchFails` in the path's preparation.
  else if (name !== 'watch') server.fail(server.find(name as ServerOperation));
  await world.flush();
}
