/** How the kit reads a chart: its nodes, its transitions, and names for both that survive `provide()`. */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { getStateNodes } from 'xstate/graph';

/** What a chart may say about a state beside its `description`. */
export interface StateMeta {
  /** On the root alone: what the chart as a whole guarantees, in sentences that its requirements prove. */
  readonly guarantees?: readonly string[];
  /** Why this state may last for ever: exempts it from needing a deadline. */
  readonly rests?: string;
  /** Invoked children whose errors are meant to break this chart too: no onError wanted. */
  readonly escalates?: readonly string[];
  /** Sentences or section numbers of the contract that this state carries out. */
  readonly requirements?: readonly string[];
}

export function nodesOf(machine: AnyStateMachine): AnyStateNode[] {
  return [machine.root, ...getStateNodes(machine.root)];
}

export function transitionsOf(node: AnyStateNode): AnyTransitionDefinition[] {
  return [...[...node.transitions.values()].flat(), ...(node.always ?? [])];
}

export function metaOf(node: AnyStateNode): StateMeta {
  return (node.meta ?? {}) as StateMeta;
}

/** The node itself first, the root last. */
export function lineage(node: AnyStateNode): AnyStateNode[] {
  return node.parent ? [node, ...lineage(node.parent)] : [node];
}

/** Names a transition by where it stands. `provide()` clones nodes, so identity is of no use. */
export function transitionKey(transition: AnyTransitionDefinition): string {
  const { source, eventType, target } = transition as AnyTransitionDefinition & { source: AnyStateNode };
  const siblings = eventType === '' ? source.always : source.transitions.get(eventType);
  const targets = target?.map((node) => node.id).join(', ') ?? '(in place)';
  return `${source.id} | ${eventType || 'always'} | ${siblings?.indexOf(transition) ?? -1} | ${targets}`;
}

/** A short, readable name of an event type or descriptor: `done run`, `after grace`, `CLOSE`. */
export function eventLabel(eventType: string): string {
  if (eventType === '') return 'always';
  const [, kind, group, ...rest] = eventType.split('.');
  if (!eventType.startsWith('xstate.')) return eventType;
  if (kind === 'after') return `after ${group}`;
  if (kind === 'done' && group === 'state') return 'done';
  if (group === 'actor') return `${kind} ${rest.join('.')}`;
  return eventType.slice('xstate.'.length);
}

/** Every event descriptor that some node of the chart reacts to. */
export function descriptorsOf(machine: AnyStateMachine): Set<string> {
  return new Set(nodesOf(machine).flatMap((node) => [...node.transitions.keys()]));
}
