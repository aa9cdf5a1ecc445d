/**
 * Charts name the actors that they need; the wiring provides the real ones.
 * These stand-ins make a missing one fail loudly instead of doing nothing.
 */
import { type EventObject, fromCallback, fromPromise } from 'xstate';

export function unprovidedPromise<TOutput, TInput>(name: string) {
  return fromPromise<TOutput, TInput>(() => Promise.reject(new Error(`actor not provided: ${name}`)));
}

export function unprovidedCallback<TEvent extends EventObject, TInput>(name: string) {
  return fromCallback<TEvent, TInput>(() => {
    throw new Error(`actor not provided: ${name}`);
  });
}

/** For a child chart that is loaded later than its parent. */
export function unprovidedChart<TMachine>(name: string): TMachine {
  return unprovidedCallback(name) as unknown as TMachine;
}
