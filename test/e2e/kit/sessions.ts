/** The steps that most tests take with a session. */
import { expect } from 'vitest';
import type { ScriptedStep } from '../../../demo/scripted-model.ts';
import type { Body, Server } from './server.ts';
import { CANARY } from './stage.ts';
import { until } from './until.ts';

export interface TurnIds {
  readonly sessionId: string;
  readonly turnId: string;
}

/** Starts a session that has to succeed; returns its id. */
export async function startSession(server: Server, executionProfile = 'reader', workspace = 'app'): Promise<string> {
  const body = await server.call('pi_session_start', { workspace, executionProfile });
  expect(body).toMatchObject({ ok: true });
  return body['session'].id as string;
}

/** Sends a prompt, with the canary, that has to be accepted. */
export async function prompt(server: Server, sessionId: string, text = 'go'): Promise<TurnIds> {
  const body = await server.call('pi_session_prompt', { sessionId, prompt: `${text} ${CANARY.prompt}` });
  expect(body).toMatchObject({ ok: true });
  return { sessionId, turnId: body['turn'].turnId as string };
}

/** Polls until the turn is over. */
export function turnEnd(server: Server, ids: TurnIds): Promise<Body> {
  return until('the end of the turn', async () => {
    const body = await server.call('pi_turn_get', ids);
    expect(body).toMatchObject({ ok: true });
    return body['turn'].state === 'running' ? undefined : (body['turn'] as Body);
  });
}

/** A whole turn. */
export async function run(server: Server, sessionId: string, text?: string): Promise<Body> {
  return turnEnd(server, await prompt(server, sessionId, text));
}

/** A step in which the model calls Pi's bash tool. */
export function bash(command: string): ScriptedStep {
  return { tools: [{ name: 'bash', args: { command } }] };
}
