/** Moves of any controller program: calls of our tools. Whatever they send comes from earlier results. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Step } from './wire/wire.ts';

/** A part of a program, with what it finds out. */
export type Moves<T> = AsyncGenerator<Step, T, string>;

export interface Body {
  readonly ok: boolean;
  readonly session?: { readonly id: string; readonly state: string };
  readonly turn?: { readonly turnId: string; readonly state: string };
  readonly sessions?: readonly unknown[];
  readonly executionProfiles?: readonly { readonly alias: string; readonly skills: readonly string[] }[];
  readonly error?: { readonly code: string };
}

export interface TurnIds {
  readonly sessionId: string;
  readonly turnId: string;
}

const POLL_MS = 400;

/** Our one-line answer in what a client shows its model, with whatever the client puts around it. */
function bodyIn(text: string): Body {
  const line = text.split('\n').find((candidate) => candidate.startsWith('{"ok":'));
  if (line === undefined) throw new Error('a tool answered with something that is not ours');
  return JSON.parse(line) as Body;
}

export async function* call(tool: string, args: object = {}): Moves<Body> {
  const body = bodyIn(yield { kind: 'mcp', tool, args });
  if (!body.ok) throw new Error(`${tool} failed: ${body.error?.code ?? 'no code'}`);
  return body;
}

/** Polls until the turn is over; returns how it ended. */
export async function* settle(ids: TurnIds): Moves<string> {
  for (;;) {
    await pause(POLL_MS);
    const { turn } = yield* call('pi_turn_get', ids);
    if (turn && turn.state !== 'running') return turn.state;
  }
}

export async function* close(sessionId: string): Moves<void> {
  const { session } = yield* call('pi_session_close', { sessionId });
  if (session?.state !== 'closed') throw new Error('a session was not closed');
}
