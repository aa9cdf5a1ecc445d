/** Codex: a hook holds its client up for as long as it runs, so a waiter of its own goes on behind it. */
import { execFile, spawn } from 'node:child_process';
import type { SpoolOutcome, WakeTarget } from '../ports/events.ts';
import type { CodexProcess } from './client-process.ts';
import { childEnvironment } from './environment.ts';
import { isConversation, wakeTarget } from './hook-input.ts';
import { markedNotice } from './notice.ts';

/** All that a waiter has to know; ids, a pid and a program. */
export interface CodexWait {
  readonly target: WakeTarget;
  readonly conversation: string;
  readonly client: CodexProcess;
}

export const CODEX_WAITER = 'codex-wait';

const QUEUE_TIMEOUT_MS = 20_000;

/** In a session of its own: the client ends the hook's process group with the hook. */
export function startWaiter(wait: CodexWait, script: string): void {
  const child = spawn(process.execPath, [script, CODEX_WAITER, JSON.stringify(wait)], {
    cwd: '/',
    env: childEnvironment(process.env),
    detached: true,
    stdio: 'ignore',
  });
  child.on('error', () => {});
  child.unref();
}

/** Reads what `startWaiter` has written. */
export function readWait(text: string | undefined): CodexWait | undefined {
  try {
    const { target, conversation, client } = JSON.parse(text ?? '') as CodexWait;
    const checked = wakeTarget(target.sessionId, target.turnId);
    if (!checked || !isConversation(conversation) || !Number.isSafeInteger(client.pid)) return undefined;
    return { target: checked, conversation, client };
  } catch {
    return undefined;
  }
}

/** Puts the notice into the conversation's queue; an idle client takes it from there. */
export function queueNotice({ target, conversation, client }: CodexWait): Promise<SpoolOutcome> {
  const args = ['queue', '--thread', conversation, '--message', markedNotice(target)];
  const options = { cwd: '/', env: childEnvironment(process.env), timeout: QUEUE_TIMEOUT_MS, maxBuffer: 65_536 };
  return new Promise((resolve) => {
    execFile(client.program, args, options, (error) => resolve({ ok: error === null }));
  });
}
