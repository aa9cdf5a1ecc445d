/** Requirements as rows: what is promised, how it shows that it is broken, and wrong charts that break it. */
import { describe, expect, test } from 'vitest';
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { Triple } from './chart-model.ts';
import { doneEvent, errorEvent } from './domain.ts';
import { effectsOf } from './effects.ts';
import { mutant, type StateAt, type StateDraft } from './mutate.ts';
import { describeState, describeTriple, type Reachable } from './requirements.ts';

export interface Requirement<M extends AnyStateMachine> {
  /** In the words of the contract. */
  readonly says: string;
  /** Every way in which a chart breaks it. */
  readonly findings: (chart: Reachable<M>, machine: M) => readonly string[];
  /** Wrong charts, each named by what is wrong about it; the requirement has to see every one. */
  readonly brokenBy: Readonly<Record<string, (machine: M) => M>>;
}

/** A wrong chart by editing its configuration. */
export function edit<M extends AnyStateMachine>(change: (at: StateAt) => void): (machine: M) => M {
  return (machine) => mutant(machine, change);
}

export function requirementSuite<M extends AnyStateMachine>(
  machine: M,
  explore: (machine: M) => Reachable<M>,
  requirements: readonly Requirement<M>[],
): void {
  describe.each(requirements.map((requirement) => [requirement.says, requirement] as const))('%s', (_, requirement) => {
    test(`holds on the ${machine.id} chart`, () => {
      expect(requirement.findings(explore(machine), machine)).toEqual([]);
    });
    test.each(Object.entries(requirement.brokenBy))('is broken when %s', (_name, breakIt) => {
      const wrong = breakIt(machine);
      expect(requirement.findings(explore(wrong), wrong)).not.toEqual([]);
    });
  });
}

export interface TransitionDraft {
  target?: string;
  guard?: unknown;
  actions: unknown[];
}

/** What a state of a draft does on an event, in order, to be edited in place. */
export function branchesOn(state: StateDraft, event: string): TransitionDraft[] {
  const branches = state.on?.[event];
  if (branches === undefined) throw new Error(`nothing happens on "${event}"`);
  const drafts = [branches].flat() as TransitionDraft[];
  for (const draft of drafts) draft.actions = [draft.actions ?? []].flat();
  if (Array.isArray(branches)) return branches as TransitionDraft[];
  return drafts;
}

/** The first of them; most events have just one. */
export function branchOn(state: StateDraft, event: string): TransitionDraft {
  const [first] = branchesOn(state, event);
  if (!first) throw new Error(`nothing happens on "${event}"`);
  return first;
}

/** Those of the triples in question that break a rule; a rule about nothing is broken, too. */
export function breaches<M extends AnyStateMachine>(
  inQuestion: readonly Triple<M>[],
  isBroken: (triple: Triple<M>) => boolean,
): string[] {
  return inQuestion.length === 0 ? ['nothing to judge'] : unique(inQuestion.filter(isBroken).map(describeTriple));
}

/**
 * Where what a child comes to goes unheard: its actor would be over, and the chart
 * would wait for it. @param outcomes By child; a rejection is always tried, too.
 */
export function unheard<M extends AnyStateMachine>(
  chart: Reachable<M>,
  outcomes: Readonly<Record<string, readonly unknown[]>>,
): string[] {
  return unique(
    chart.active().flatMap((state) => {
      const { children } = state as unknown as AnyMachineSnapshot;
      const heard = Object.keys(children).filter((id) => id in outcomes);
      return heard.flatMap((id) =>
        [...(outcomes[id] ?? []).map((outcome) => doneEvent(id, outcome)), errorEvent(id)]
          .filter((event) => {
            const { state: next, spawned } = effectsOf(state, event);
            const isWaitedFor =
              next.status === 'active' && id in next.children && spawned.every((each) => each.id !== id);
            // A rejection that nobody handles breaks the chart.
            return isWaitedFor || next.status === 'error';
          })
          .map(({ type }) => `${describeState(state)} does not hear ${type}`),
      );
    }),
  );
}

/** The first few: wrong charts have thousands. */
export function firstOf(findings: Iterable<string>, most = 3): string[] {
  const found: string[] = [];
  for (const finding of findings) if (found.push(finding) === most) break;
  return found;
}

/** Findings without repetition, in order. */
export function unique(findings: Iterable<string>): string[] {
  return [...new Set(findings)].sort();
}
