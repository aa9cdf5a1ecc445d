/** The steps of a delegation, on our server and on the raw floor. */
import type { RpcProcess } from './rpc-process.ts';

/** Asks again at once until it has ended: a pause would hide in its steps what is to be measured. */
async function poll(ask: () => Promise<boolean>): Promise<void> {
  while (!(await ask()));
}

export async function startOurs(server: RpcProcess, profile?: string): Promise<string> {
  const asked = { workspace: 'work', ...(profile && { executionProfile: profile }) };
  const { session } = (await server.call('pi_session_start', asked)) as { session: { id: string } };
  return session.id;
}

/** A prompt and its turn, as far as a polling client can see. */
export async function turnOurs(server: RpcProcess, sessionId: string): Promise<void> {
  type Reply = { readonly turn: { readonly turnId: string; readonly state: string } };
  const { turn } = (await server.call('pi_session_prompt', { sessionId, prompt: 'Go.' })) as unknown as Reply;
  let state = turn.state;
  await poll(async () => {
    const reply = (await server.call('pi_turn_get', { sessionId, turnId: turn.turnId })) as unknown as Reply;
    state = reply.turn.state;
    return state !== 'running';
  });
  if (state !== 'completed') throw new Error(`the turn ended as ${state}`);
}

export function closeOurs(server: RpcProcess, sessionId: string): Promise<unknown> {
  return server.call('pi_session_close', { sessionId });
}

export async function startRaw(server: RpcProcess): Promise<string> {
  return String((await server.call('start'))['id']);
}

export async function turnRaw(server: RpcProcess, id: string): Promise<void> {
  await server.call('prompt', { id, prompt: 'Go.' });
  await poll(async () => (await server.call('poll', { id }))['done'] === true);
}

export function closeRaw(server: RpcProcess, id: string): Promise<unknown> {
  return server.call('close', { id });
}
