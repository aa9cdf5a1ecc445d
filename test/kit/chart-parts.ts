/** Names and shapes of what hangs on a chart's transitions: actions, guards, implementations. */
import type { AnyStateMachine } from 'xstate';

export type Implementations = Readonly<Record<'actions' | 'guards' | 'actors' | 'delays', Record<string, unknown>>>;

export function implementationsOf(machine: AnyStateMachine): Implementations {
  const { actions = {}, guards = {}, actors = {}, delays = {} } = machine.implementations as Partial<Implementations>;
  return { actions, guards, actors, delays };
}

/** The name an action or guard goes by; built-in ones begin with `xstate.`, inline functions have none. */
export function nameOf(part: unknown): string | undefined {
  if (typeof part === 'string') return part;
  if (part === null || (typeof part !== 'object' && typeof part !== 'function')) return undefined;
  const { type, check } = part as { readonly type?: unknown; readonly check?: unknown };
  if (typeof type === 'string') return type;
  return typeof check === 'function' ? `xstate.${(part as { readonly name?: string }).name}` : undefined;
}

/** A guard and those that it is combined from (`and`, `or`, `not`). */
export function flattenGuards(guard: unknown): unknown[] {
  if (guard === undefined) return [];
  const { guards } = Object(guard) as { readonly guards?: readonly unknown[] };
  return [guard, ...(guards ?? []).flatMap(flattenGuards)];
}

/** A guard in words: `not(ending)`. */
export function guardLabel(guard: unknown): string {
  const { guards } = Object(guard) as { readonly guards?: readonly unknown[] };
  const name = nameOf(guard) ?? 'inline';
  const { stateValue } = Object(guard) as { readonly stateValue?: unknown };
  if (stateValue !== undefined) return `in ${typeof stateValue === 'string' ? stateValue : JSON.stringify(stateValue)}`;
  return guards ? `${name.slice('xstate.'.length)}(${guards.map(guardLabel).join(', ')})` : name;
}

/** Does the action start a child? Inside enqueueActions only its text can tell. */
export function spawnsChild(action: unknown): boolean {
  const { collect } = Object(action) as { readonly collect?: unknown };
  return nameOf(action) === 'xstate.spawnChild' || /\.spawnChild\(/.test(String(collect ?? ''));
}
