/** House rules for charts (docs/architecture.md), checked on the resolved nodes. A test asserts `[]`. */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { flattenGuards, type Implementations, implementationsOf, nameOf, spawnsChild } from './chart-parts.ts';
import { lineage, metaOf, nodesOf, transitionsOf } from './nodes.ts';

const MAX_ITERATIONS = 1_000;
/** Longer delays overflow Node's timers and fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Everything about the chart that breaks a house rule, as sentences. */
export function lintChart(machine: AnyStateMachine): string[] {
  const implementations = implementationsOf(machine);
  const findings = [
    ...lintMachine(machine, implementations),
    ...nodesOf(machine).flatMap((node) => lintNode(node, implementations)),
    ...lintSpawnedErrors(machine, implementations),
    ...lintGuarantees(machine),
  ];
  return [...new Set(findings)];
}

function lintMachine(machine: AnyStateMachine, implementations: Implementations): string[] {
  const { actions, guards, delays } = implementations;
  const bound = machine.options?.maxIterations;
  const findings: string[] = [];
  if (bound === undefined || !(bound <= MAX_ITERATIONS)) {
    findings.push(`${machine.id}: options.maxIterations is not bounded: a cycle of always or raise would never end`);
  }
  for (const [name, delay] of Object.entries(delays)) {
    if (typeof delay !== 'number' || (delay > 0 && delay <= MAX_DELAY_MS)) continue;
    findings.push(`${machine.id}: delay "${name}" of ${delay} ms fires at once`);
  }
  for (const [name, action] of Object.entries(actions)) {
    // A plain function is the declaration itself; only the built-in ones have something to check.
    if (nameOf(action)) findings.push(...lintAction(action, `${machine.id}, action "${name}"`, implementations));
  }
  for (const [name, guard] of Object.entries(guards)) {
    const parts = flattenGuards(guard).slice(1);
    findings.push(...parts.flatMap((part) => lintGuard(part, `${machine.id}, guard "${name}"`, implementations)));
  }
  return findings;
}

/** Its page tells readers what they can rely on before it shows them how. */
function lintGuarantees({ id, root }: AnyStateMachine): string[] {
  const { guarantees = [] } = metaOf(root);
  if (guarantees.length === 0) return [`${id}: meta.guarantees of the root says nothing`];
  return guarantees
    .filter((sentence) => !/^\S.{10,}\.$/.test(sentence))
    .map((sentence) => `${id}: meta.guarantees has "${sentence}", which is no sentence`);
}

function lintNode(node: AnyStateNode, implementations: Implementations): string[] {
  const actions = [...node.entry, ...node.exit].filter((action) => nameOf(action) !== 'xstate.cancel');
  return [
    ...lintShape(node),
    ...lintDeadline(node, implementations),
    ...node.invoke.flatMap((invoke) => lintInvoke(node, invoke, implementations)),
    ...transitionsOf(node).flatMap((transition) => lintTransition(node, transition, implementations)),
    ...actions.flatMap((action) => lintAction(action, node.id, implementations)),
  ];
}

function lintShape(node: AnyStateNode): string[] {
  const findings: string[] = [];
  if (!node.description) findings.push(`${node.id}: no description`);
  for (const child of metaOf(node).escalates ?? []) {
    if (!node.invoke.some(({ id }) => id === child))
      findings.push(`${node.id}: escalates "${child}", which it does not invoke`);
  }
  const { initial } = node.config as { readonly initial?: string };
  if (node.type === 'compound' && !(initial !== undefined && initial in node.states)) {
    findings.push(`${node.id}: initial state "${initial}" does not exist`);
  }
  return findings;
}

function lintDeadline(node: AnyStateNode, { delays }: Implementations): string[] {
  const findings: string[] = [];
  for (const delay of Object.keys((node.config.after as object | undefined) ?? {})) {
    if (!(delay in delays))
      findings.push(`${node.id}: delay "${delay}" is not declared by name and would fire at once`);
  }
  if (node.type !== 'atomic') return findings;
  const line = lineage(node);
  const passesThrough = node.always?.some(({ guard }) => guard === undefined) ?? false;
  const hasDeadline = line.some(({ after }) => after.length > 0);
  // A reason on the root would excuse every state at once.
  const mayRest = line.some((each) => each.parent && metaOf(each).rests);
  if (!passesThrough && !hasDeadline && !mayRest) {
    findings.push(`${node.id}: may last for ever; give it a deadline, or a reason in meta.rests`);
  }
  return findings;
}

function lintInvoke(node: AnyStateNode, invoke: AnyStateNode['invoke'][number], { actors }: Implementations): string[] {
  const findings: string[] = [];
  const declared = [(node.config.invoke as { id?: string }[] | undefined) ?? []].flat();
  if (!declared.some(({ id }) => id === invoke.id)) findings.push(`${node.id}: invoke without an explicit id`);
  const src = String(invoke.src);
  if (src.startsWith('xstate.invoke.')) findings.push(`${node.id}: inline actor in invoke "${invoke.id}"`);
  else if (!(src in actors)) findings.push(`${node.id}: actor "${src}" is not declared`);
  // A chart may mean to break with its child; then it says so, and not both.
  const escalates = metaOf(node).escalates?.includes(invoke.id) ?? false;
  if (escalates === handles(node, `xstate.error.actor.${invoke.id}`)) {
    findings.push(`${node.id}: invoke "${invoke.id}" has ${escalates ? 'onError, yet escalates' : 'no onError'}`);
  }
  if (invoke.systemId) findings.push(`${node.id}: systemId breaks traversal and hides who talks to whom`);
  return findings;
}

function lintTransition(
  node: AnyStateNode,
  transition: AnyTransitionDefinition,
  implementations: Implementations,
): string[] {
  const event = transition.eventType || 'always';
  return [
    ...(event === '*' ? [`${node.id}: a bare * swallows errors of actors`] : []),
    ...flattenGuards(transition.guard).flatMap((guard) => lintGuard(guard, `${node.id} on ${event}`, implementations)),
    ...transition.actions.flatMap((action) => lintAction(action, node.id, implementations)),
  ];
}

function lintGuard(guard: unknown, where: string, { guards }: Implementations): string[] {
  const name = nameOf(guard);
  if (name === undefined) return [`${where}: inline guard; declare it in setup()`];
  return name.startsWith('xstate.') || name in guards ? [] : [`${where}: guard "${name}" is not declared`];
}

function lintAction(action: unknown, where: string, { actions, delays }: Implementations): string[] {
  const name = nameOf(action);
  if (name === undefined) return [`${where}: inline action; declare it in setup()`];
  if (!name.startsWith('xstate.')) return name in actions ? [] : [`${where}: action "${name}" is not declared`];
  const { to, delay, systemId, id } = action as Record<string, unknown>;
  const findings: string[] = [];
  if (name === 'xstate.log') findings.push(`${where}: log() writes to stdout, which belongs to the protocol`);
  if (name === 'xstate.sendTo' && typeof to === 'string' && !to.startsWith('#_')) {
    findings.push(`${where}: sendTo("${to}") kills the sender when the child is gone; look it up in a function`);
  }
  if (name === 'xstate.spawnChild' && id === undefined) findings.push(`${where}: spawnChild without an explicit id`);
  if (systemId) findings.push(`${where}: systemId breaks traversal and hides who talks to whom`);
  if (typeof delay === 'number') findings.push(`${where}: unnamed delay of ${delay} ms`);
  // Those that xstate derives from `after` carry the delay that lintDeadline looks at.
  const derived = String(id).startsWith('xstate.after.');
  if (typeof delay === 'string' && !derived && !(delay in delays)) {
    findings.push(`${where}: delay "${delay}" is not declared`);
  }
  return [...findings, ...lintBody(action, name, where)];
}

/** What only shows in the text of a function: enough to catch a slip, no defence against intent. */
function lintBody(action: unknown, name: string, where: string): string[] {
  const { collect, assignment } = action as { readonly collect?: unknown; readonly assignment?: unknown };
  const findings: string[] = [];
  const assigned = typeof assignment === 'function' ? [assignment] : Object.values(Object(assignment));
  if (name === 'xstate.assign' && assigned.some((part) => /\bspawn\(/.test(String(part)))) {
    findings.push(`${where}: spawn() in assign; use spawnChild, and keep ids in the context, never references`);
  }
  if (name !== 'xstate.enqueueActions') return findings;
  const text = String(collect);
  if (/\.sendTo\(\s*['"`]/.test(text)) findings.push(`${where}: sendTo with a literal id inside enqueueActions`);
  if (/\bdelay:\s*\d/.test(text)) findings.push(`${where}: unnamed delay inside enqueueActions`);
  if (/systemId/.test(text)) findings.push(`${where}: systemId inside enqueueActions`);
  if (/\.spawnChild\((?![^;]*\bid\b)/.test(text)) findings.push(`${where}: spawnChild without an explicit id`);
  return findings;
}

/** A spawned child may fail in any state, so each state that can be active has to cope with it. */
function lintSpawnedErrors(machine: AnyStateMachine, implementations: Implementations): string[] {
  const all = nodesOf(machine).flatMap((node) => [
    ...node.entry,
    ...node.exit,
    ...transitionsOf(node).flatMap(({ actions }) => actions),
  ]);
  if (![...all, ...Object.values(implementations.actions)].some(spawnsChild)) return [];
  return nodesOf(machine)
    .filter((node) => node.type === 'atomic')
    .flatMap((node) =>
      ['error', 'done']
        .filter((end) => !lineage(node).some((each) => handles(each, `xstate.${end}.actor.*`)))
        .map((end) => `${node.id}: nothing handles xstate.${end}.actor.* of spawned children`),
    );
}

function handles(node: AnyStateNode, descriptor: string): boolean {
  return node.transitions.has(descriptor) || node.transitions.has(descriptor.replace(/\.[^.]+$/, '.*'));
}
