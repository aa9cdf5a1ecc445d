/** A chart as a Mermaid state diagram, drawn from its resolved nodes. */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { guardLabel } from './chart-parts.ts';
import { eventLabel, lineage, nodesOf, transitionsOf } from './nodes.ts';

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly labels: string[];
}

/** `stateDiagram-v2` source. Reactions that stay in place are left to the page's table. */
export function toMermaid(machine: AnyStateMachine): string {
  const edges = collectEdges(machine);
  const anywhere = new Set(edges.map(({ from }) => from).filter((id) => id.endsWith(ANYWHERE)));
  return [
    'stateDiagram-v2',
    ...drawInside(machine.root, anywhere, '  '),
    ...edges.map(({ from, to, labels }) => `  ${from} --> ${to} : ${labels.join('<br/>')}`),
    '',
  ].join('\n');
}

/** `EVENT [guard]`, in the characters that Mermaid takes in a label. */
export function transitionLabel({ eventType, guard }: AnyTransitionDefinition): string {
  return plain(eventLabel(eventType) + (guard === undefined ? '' : ` [${guardLabel(guard)}]`));
}

/** A transition from a composite to a state inside itself cannot be drawn (the layout fails), so it starts at a
 * state of its own: "in whatever state". */
const ANYWHERE = '__anywhere';

const idOf = (node: AnyStateNode) => node.id.replace(/\W/g, '_');
const childrenOf = (node: AnyStateNode): AnyStateNode[] => Object.values(node.states);
const plain = (text: string) =>
  text
    .replace(/["{};#<>]/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/:/g, '∶')
    .trim();

function drawInside(node: AnyStateNode, anywhere: ReadonlySet<string>, indent: string): string[] {
  const lines: string[] = [];
  const children = childrenOf(node);
  for (const [index, child] of children.entries()) {
    lines.push(...drawNode(child, anywhere, indent));
    if (node.type === 'parallel' && index < children.length - 1) lines.push(`${indent}--`);
  }
  if (anywhere.has(idOf(node) + ANYWHERE)) {
    lines.push(`${indent}state "in any state" as ${idOf(node)}${ANYWHERE}`);
  }
  // After the declarations: an id that an arrow mentions first loses its label.
  const [initial] = node.type === 'compound' ? (node.initial.target ?? []) : [];
  if (initial) lines.push(`${indent}[*] --> ${idOf(initial)}`);
  for (const child of children) if (child.type === 'final') lines.push(`${indent}${idOf(child)} --> [*]`);
  return lines;
}

function drawNode(node: AnyStateNode, anywhere: ReadonlySet<string>, indent: string): string[] {
  const invoked = node.invoke.map(({ id }) => id).join(', ');
  if (childrenOf(node).length > 0) {
    const title = invoked ? `${node.key} (invokes ${plain(invoked)})` : node.key;
    return [`${indent}state "${title}" as ${idOf(node)} {`, ...drawInside(node, anywhere, `${indent}  `), `${indent}}`];
  }
  const title = node.type === 'history' ? `${node.key} (history)` : node.key;
  const lines = [`${indent}state "${title}" as ${idOf(node)}`];
  if (invoked) lines.push(`${indent}${idOf(node)} : invokes ${plain(invoked)}`);
  return lines;
}

/** One arrow for each pair of states, with all that leads from the one to the other. */
function collectEdges(machine: AnyStateMachine): Edge[] {
  const edges = new Map<string, Edge>();
  for (const node of nodesOf(machine)) {
    for (const transition of transitionsOf(node)) {
      for (const target of transition.target ?? []) {
        const inside = target !== node && lineage(target).includes(node);
        const ownLoop = target === node && childrenOf(node).length > 0;
        const from = inside || ownLoop ? idOf(node) + ANYWHERE : idOf(node);
        const key = `${from} ${idOf(target)}`;
        const edge = edges.get(key) ?? { from, to: idOf(target), labels: [] };
        edge.labels.push(transitionLabel(transition));
        edges.set(key, edge);
      }
    }
  }
  return [...edges.values()];
}
