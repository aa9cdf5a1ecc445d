/** Short calls of Podman itself: an exit code and stdout, never its own words. */
import { execFile } from 'node:child_process';
import type { Instance } from './instance.ts';

/** A Podman whose storage is locked by a stopped process would wait for ever. */
const CALL_TIMEOUT_MS = 20_000;
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

export interface CallResult {
  /** Undefined: not started, killed, or too much output. */
  readonly code: number | undefined;
  readonly stdout: string;
}

/** Never rejects. */
export function call(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { timeout = CALL_TIMEOUT_MS, signal }: { readonly timeout?: number; readonly signal?: AbortSignal } = {},
): Promise<CallResult> {
  const options = {
    ...(signal && { signal }),
    env,
    cwd: '/',
    timeout,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
  } as const;
  return new Promise((resolve) => {
    try {
      execFile(file, args, options, (error, stdout) => {
        const code = error === null ? 0 : error.code;
        resolve({ code: typeof code === 'number' ? code : undefined, stdout });
      });
    } catch {
      resolve({ code: undefined, stdout: '' });
    }
  });
}

export function callPodman(podman: string, instance: Instance, args: readonly string[]): Promise<CallResult> {
  return call(podman, args, instance.environment);
}
