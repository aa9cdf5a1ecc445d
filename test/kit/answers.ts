/** What a chart says it answers on one event, read from the actions of a pure transition. */
import { type AnyEventObject, type AnyMachineSnapshot, type AnyStateMachine, transition } from 'xstate';
import type { Answer } from '../../src/machines/shared/replies.ts';
import { type RequestKind, replyLabel, type TrackedRequest } from './world.ts';

/** Request ids of a domain start with the letter of their kind. */
const KINDS: Readonly<Record<string, RequestKind>> = { S: 'START', P: 'PROMPT', A: 'ABORT', C: 'CLOSE' };

/** `KIND: label` for each answer, sorted; ids are left out, since both sides number them differently. */
export function promisedAnswers(machine: AnyStateMachine, before: unknown, event: AnyEventObject): string[] {
  const [, actions] = transition(machine, before as AnyMachineSnapshot, event);
  return actions
    .filter(({ type }) => (type as string) === 'reply')
    .flatMap(({ params }) => params as unknown as readonly Answer[])
    .flatMap(({ requestIds, reply }) => requestIds.map((id) => `${KINDS[id.charAt(0)]}: ${replyLabel(reply)}`))
    .sort();
}

/** The same for requests that a real assembly has answered. */
export function givenAnswers(requests: readonly TrackedRequest[]): string[] {
  return requests.flatMap(({ kind, reply }) => (reply ? [`${kind}: ${replyLabel(reply)}`] : [])).sort();
}
