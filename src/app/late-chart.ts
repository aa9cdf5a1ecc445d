/**
 * A chart that is built when an actor first needs it. Building the charts of a
 * session takes a tenth of the server's start, and a server that never opens a
 * session, or not yet, should not pay for it before it answers its client.
 */
import type { AnyStateMachine } from 'xstate';

/** @param chart Must be able to give the chart by the time an actor is made of it. */
export function lateChart<M extends AnyStateMachine>(chart: () => M): M {
  return new Proxy({} as M, {
    get: (_, property) => Reflect.get(chart(), property),
    has: (_, property) => Reflect.has(chart(), property),
  });
}
