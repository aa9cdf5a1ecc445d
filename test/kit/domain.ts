/** Which concrete events a chart can meet: for each descriptor, one case per kind of payload that matters. */
import type { AnyEventObject, AnyMachineSnapshot, AnyStateMachine, EventFromLogic, SnapshotFrom } from 'xstate';
import { descriptorsOf } from './nodes.ts';

export interface InternalEvent extends AnyEventObject {
  type: `xstate.${string}`;
}

/** Fixed cases, or cases that depend on where the chart is (ids of its children, say). */
export type Cases<M extends AnyStateMachine, E> = readonly E[] | ((snapshot: SnapshotFrom<M>) => readonly E[]);

/**
 * Descriptor → cases. Public events are typed by the chart. Internal ones are
 * listed by their descriptor, partial wildcards (`xstate.done.actor.*`) included.
 * An empty list means: never from outside, the chart raises it itself. Timers
 * need no entry.
 */
export type Domain<M extends AnyStateMachine> = {
  readonly [D in Exclude<EventFromLogic<M>['type'], `xstate.${string}`>]?: Cases<
    M,
    Extract<EventFromLogic<M>, { type: D }>
  >;
} & { readonly [internal: `xstate.${string}`]: Cases<M, InternalEvent> };

/** A domain as the kit sees it, the chart's types forgotten. */
export type AnyDomain = Readonly<Record<string, AnyCases>>;
type AnyCases = readonly AnyEventObject[] | ((snapshot: AnyMachineSnapshot) => readonly AnyEventObject[]);

export function doneEvent(actorId: string, output?: unknown): InternalEvent {
  return { type: `xstate.done.actor.${actorId}`, output, actorId };
}

/** The error is plain data: cases are told apart by their JSON, and two Errors look the same there. */
export function errorEvent(actorId: string, error: unknown = { message: 'rejected' }): InternalEvent {
  return { type: `xstate.error.actor.${actorId}`, error, actorId };
}

export function afterEvent(delay: string, stateId: string): InternalEvent {
  return { type: `xstate.after.${delay}.${stateId}` };
}

// Raised by xstate within the same macrostep; as an outside event it would be a lie.
const isRaisedByXState = (descriptor: string) => descriptor.startsWith('xstate.done.state.');
const isTimer = (descriptor: string) => descriptor.startsWith('xstate.after.');

// Not xstate's own list: it leaves out transitions that only say that an event is ignored on purpose.
function descriptorsIn(snapshot: AnyMachineSnapshot): string[] {
  return [...new Set(snapshot._nodes.flatMap((node) => [...node.transitions.keys()]))];
}

function resolve(cases: AnyCases, snapshot: AnyMachineSnapshot): readonly AnyEventObject[] {
  return typeof cases === 'function' ? cases(snapshot) : cases;
}

/** The concrete events that the active states of a snapshot have transitions for. */
export function ownEvents(domain: AnyDomain, snapshot: AnyMachineSnapshot): AnyEventObject[] {
  return descriptorsIn(snapshot).flatMap((descriptor) => {
    const cases = domain[descriptor];
    if (cases) return resolve(cases, snapshot);
    if (isTimer(descriptor)) return [{ type: descriptor }];
    if (isRaisedByXState(descriptor)) return [];
    throw new Error(missingCases(snapshot, descriptor));
  });
}

/** Those of them that take a transition now, guards considered. */
export function enabledEvents(domain: AnyDomain, snapshot: AnyMachineSnapshot): AnyEventObject[] {
  // Not `snapshot.can`, for the reason at `descriptorsIn`.
  return ownEvents(domain, snapshot).filter(
    (event) => snapshot.machine.getTransitionData(snapshot, event as never).length > 0,
  );
}

/** Every concrete event of the domain, also where the chart ignores it: for the negative space. */
export function allEvents(domain: AnyDomain, snapshot: AnyMachineSnapshot): AnyEventObject[] {
  // An actor that is gone settles nothing: xstate does not even deliver it.
  const isPossible = ({ type, actorId }: AnyEventObject) =>
    !/^xstate\.(done|error)\.actor\./.test(type) || actorId in snapshot.children;
  const listed = Object.values(domain).flatMap((cases) => resolve(cases, snapshot).filter(isPossible));
  return [
    ...listed,
    ...descriptorsIn(snapshot)
      .filter(isTimer)
      .map((type) => ({ type })),
  ];
}

/** Descriptors in the domain that the chart has no transition for: mostly typing errors. */
export function strangers(machine: AnyStateMachine, domain: object): string[] {
  const known = descriptorsOf(machine);
  return Object.keys(domain).filter((descriptor) => !known.has(descriptor));
}

function missingCases({ machine, value }: AnyMachineSnapshot, descriptor: string): string {
  const hint = descriptor.includes('*') ? 'concrete events, or a function of the snapshot' : 'its payload cases';
  return (
    `chart "${machine.id}" reacts to "${descriptor}" in ${JSON.stringify(value)}, but the domain has no cases for it. ` +
    `Add '${descriptor}': […] with ${hint}; use [] if only the chart itself raises it.`
  );
}
