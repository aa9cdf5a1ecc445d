/** The moves from which controller programs are made. Whatever they send comes from earlier results. */
import { setTimeout as pause } from 'node:timers/promises';
import type { FixtureName } from '../fixtures.ts';
import type { Stage } from '../stage.ts';
import { TASKS, type TaskName } from '../tasks.ts';
import type { Step } from '../wire/wire.ts';

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

/** The skill first, and what the skill says first. */
export async function* prepare(): Moves<void> {
  const skill = yield { kind: 'skill', name: 'pi-session-orchestration' };
  if (!skill.includes('# Running Pi workers')) throw new Error('the controller skill could not be read');
  const { executionProfiles } = yield* call('pi_capabilities_get');
  if (!executionProfiles?.some(({ alias }) => alias === 'accept-code')) throw new Error('no coding profile');
}

export async function* startSession(stage: Stage, name: FixtureName): Moves<string> {
  const clean = yield { kind: 'shell', command: `git -C ${stage.fixture(name)} status --short` };
  if (clean.includes('.js')) throw new Error('a fixture is not clean');
  const args = { workspace: stage.alias(name), executionProfile: 'accept-code' };
  const { session } = yield* call('pi_session_start', args);
  return session?.id ?? 'missing';
}

export async function* prompt(sessionId: string, task: TaskName): Moves<TurnIds> {
  const { turn } = yield* call('pi_session_prompt', { sessionId, prompt: TASKS[task] });
  return { sessionId, turnId: turn?.turnId ?? 'missing' };
}

/** Polls until the turn is over; returns how it ended. */
export async function* settle(ids: TurnIds): Moves<string> {
  for (;;) {
    await pause(POLL_MS);
    const { turn } = yield* call('pi_turn_get', ids);
    if (turn && turn.state !== 'running') return turn.state;
  }
}

/** The controller's own check of a worker's claim. */
export async function* verify(stage: Stage, name: FixtureName): Moves<void> {
  const file = stage.fixture(name, `${name}.test.js`);
  const output = yield { kind: 'shell', command: `node --test --test-reporter=tap ${file}` };
  if (!/^# fail 0$/m.test(output)) throw new Error('tests fail after a worker has reported success');
  yield { kind: 'shell', command: `git -C ${stage.fixture(name)} status --short` };
}

export async function* close(sessionId: string): Moves<void> {
  const { session } = yield* call('pi_session_close', { sessionId });
  if (session?.state !== 'closed') throw new Error('a session was not closed');
}
