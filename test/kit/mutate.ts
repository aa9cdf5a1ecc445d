/** Deliberately wrong copies of a chart, to show that a requirement can fail. */
import { isDeepStrictEqual } from 'node:util';
import { type AnyStateMachine, createMachine } from 'xstate';
import type { StateMeta } from './nodes.ts';

/** A state of the copied configuration, to be edited in place. */
export interface StateDraft {
  initial?: string;
  type?: string;
  on?: Record<string, unknown>;
  after?: Record<string, unknown>;
  always?: unknown;
  onDone?: unknown;
  entry?: unknown;
  exit?: unknown;
  meta?: StateMeta;
  invoke?: InvokeDraft | InvokeDraft[];
  states?: Record<string, StateDraft>;
}

export interface InvokeDraft {
  id?: string;
  src: unknown;
  onDone?: unknown;
  onError?: unknown;
}

/** The state at a dotted path (`'closing.disposing'`, none: the root); complains when there is none. */
export type StateAt = (path?: string) => StateDraft;

/**
 * A copy of the chart with one thing changed; complains when the edit changes
 * nothing. `mutant(machine, (at) => drop(at('idle').on, 'CLOSE'))`
 */
export function mutant<M extends AnyStateMachine>(machine: M, edit: (at: StateAt) => void): M {
  const config = copy(machine.config) as StateDraft;
  edit((path = '') => stateAt(config, path));
  if (isDeepStrictEqual(config, machine.config)) throw new Error(`the edit left chart "${machine.id}" as it was`);
  return createMachine(config as never, machine.implementations as never) as unknown as M;
}

/** Deletes a key that must be there. */
export function drop(part: object | undefined, key: string): void {
  if (!part || !(key in part)) throw new Error(`nothing called "${key}" to drop`);
  delete (part as Record<string, unknown>)[key];
}

/** The invocation with this id in a state; complains when there is none. */
export function invocation(state: StateDraft, id: string): InvokeDraft {
  const found = [state.invoke ?? []].flat().find((invoke) => invoke.id === id);
  if (!found) throw new Error(`no invocation "${id}" to mutate`);
  return found;
}

function stateAt(config: StateDraft, path: string): StateDraft {
  let state: StateDraft | undefined = config;
  for (const key of path === '' ? [] : path.split('.')) state = state?.states?.[key];
  if (!state) throw new Error(`no state "${path}" to mutate`);
  return state;
}

// Only plain data is copied: functions and actor logic are implementations, not configuration.
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copy(part)]));
}
