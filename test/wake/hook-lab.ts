/** The hook as a client starts it: a process with a call on stdin, and a client to watch. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { SESSION, TURN } from '../adapters/fs/event-spool-lab.ts';
import { within } from '../e2e/kit/until.ts';

const HOOK = fileURLToPath(new URL('../../src/wake/main.ts', import.meta.url));
export const CONVERSATION = '01a22c86-4aa5-7911-a0f4-82ac65677fe4';

export interface HookRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

export function promptCall(fields: object = {}): string {
  const turn = { turnId: TURN, sessionId: SESSION, state: 'running' };
  return JSON.stringify({
    session_id: CONVERSATION,
    hook_event_name: 'PostToolUse',
    tool_name: 'mcp__pi__pi_session_prompt',
    tool_response: JSON.stringify({ ok: true, session: { id: SESSION }, turn }),
    ...fields,
  });
}

/** A process that waits to be ended; it ends with the test at the latest. */
export async function startClient(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6); console.log()'], { stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

export function attended(client: ChildProcess): Record<string, string> {
  return { CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_CODE_SESSION_ATTENDED: '1', CLAUDE_PID: String(client.pid) };
}

export interface StartedHook {
  readonly child: ChildProcess;
  readonly ended: Promise<HookRun>;
}

export function startHook(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  input: string | undefined,
): StartedHook {
  const began = performance.now();
  const child = spawn(process.execPath, [HOOK, ...args], { env: { ...env }, stdio: 'pipe', cwd: '/' });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // A hook that wants to know nothing may be gone before it is told.
  child.stdin.on('error', () => {});
  if (input !== undefined) child.stdin.end(input);
  const closed = once(child, 'close').then(([code]) => ({ code, stdout, stderr, ms: performance.now() - began }));
  return { child, ended: within('the end of the hook', closed) };
}
