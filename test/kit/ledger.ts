/** Bookkeeping along a walk over a chart: who asked, who has been answered, and who still has to be. */
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import { type Effects, effectsOf, requestIdsOf } from './effects.ts';
import { eventLabel } from './nodes.ts';
import { replyLabel } from './world.ts';

export interface Walk {
  readonly state: AnyMachineSnapshot;
  readonly trail: readonly string[];
  readonly asked: readonly string[];
  /** `id: label`, in the order of the answers. */
  readonly answered: readonly { readonly requestId: string; readonly label: string }[];
  /** Handed on to a child, which owes the answer until it hands them back with its output. */
  readonly passedOn: readonly string[];
  /** How often each kind of actor was started. */
  readonly spawned: Readonly<Record<string, number>>;
}

export function begin(state: unknown, asked: readonly string[] = []): Walk {
  return { state: state as AnyMachineSnapshot, trail: [], asked, answered: [], passedOn: [], spawned: {} };
}

/** The walk one event longer; the event's request ids are made unique along the walk. */
export function step(walk: Walk, plain: AnyEventObject): { readonly walk: Walk; readonly effects: Effects } {
  const event = renamed(plain, walk.asked.length);
  const effects = effectsOf(walk.state, event);
  const spawned: Record<string, number> = { ...walk.spawned };
  for (const { src } of effects.spawned) spawned[src] = (spawned[src] ?? 0) + 1;
  return {
    effects,
    walk: {
      state: effects.state,
      trail: [...walk.trail, eventLabel(event.type)],
      asked: isQuestion(event) ? [...walk.asked, ...requestIdsOf(event)] : walk.asked,
      answered: [
        ...walk.answered,
        ...effects.answers.map(({ requestId, reply }) => ({ requestId, label: replyLabel(reply) })),
      ],
      passedOn: [
        ...walk.passedOn.filter((id) => !handedBack(event).includes(id)),
        ...effects.sent.flatMap((each) => requestIdsOf(each.event)),
        ...effects.spawned.flatMap(({ input }) => startRequestOf(input)),
      ],
      spawned,
    },
  };
}

/**
 * Each request is in exactly one place: answered once, handed on to a child, or
 * remembered by the chart. @param remembered What the chart still means to answer.
 */
export function imbalance(walk: Walk, remembered: readonly string[]): string[] {
  const places = new Map<string, string[]>(walk.asked.map((id) => [id, []]));
  const put = (id: string, place: string) => places.set(id, [...(places.get(id) ?? ['never asked']), place]);
  for (const { requestId, label } of walk.answered) put(requestId, `answered ${label}`);
  for (const id of walk.passedOn) put(id, 'handed on');
  for (const id of remembered) put(id, 'remembered');
  return [...places]
    .filter(([, where]) => where.length !== 1)
    .map(([id, where]) => `${walk.trail.join(' → ')}: ${id} is ${where.join(' and ') || 'forgotten'}`);
}

/** All walks of a given length from here, the walk itself and every shorter one included. */
export function* extensions(
  walk: Walk,
  length: number,
  events: (walk: Walk) => readonly AnyEventObject[],
): Generator<Walk> {
  yield walk;
  if (length === 0 || walk.state.status !== 'active') return;
  for (const event of events(walk)) yield* extensions(step(walk, event).walk, length - 1, events);
}

function handedBack(event: AnyEventObject): readonly string[] {
  return (event['output'] as { callers?: readonly string[] } | undefined)?.callers ?? [];
}

function startRequestOf(input: unknown): string[] {
  const { startRequestId } = (input ?? {}) as { startRequestId?: string };
  return startRequestId === undefined ? [] : [startRequestId];
}

/** An event that brings requests in; a deadline only names one. */
function isQuestion({ type }: AnyEventObject): boolean {
  return type !== 'ABORT_DEADLINE' && !type.startsWith('xstate.');
}

function renamed(event: AnyEventObject, number: number): AnyEventObject {
  if (!isQuestion(event)) return event;
  if (typeof event['requestId'] === 'string') return { ...event, requestId: `${event['requestId']}${number}` };
  if (event['requestIds'] === undefined) return event;
  const ids = event['requestIds'] as readonly string[];
  return { ...event, requestIds: ids.map((id, index) => `${id.charAt(0)}${number + index}`) };
}
