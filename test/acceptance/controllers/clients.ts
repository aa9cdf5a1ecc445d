/** Starts the real clients headless, with what setup registered and nothing of our environment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { headless } from '../kit/driving/headless.ts';
import type { Stage } from './stage.ts';

/** As setup registers it. */
export const SERVER = 'pi-session-mcp';
const TIME_LIMIT_MS = 240_000;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly pid: number;
  readonly ended: Promise<Ended>;
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

function ended(child: ChildProcess): Promise<Ended> {
  const limit = setTimeout(() => child.kill('SIGKILL'), TIME_LIMIT_MS);
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(limit);
      resolve({ code, stdout: stdout(), stderr: stderr() });
    });
  });
}

/** Runs a command in the controller's directory. The first is found in the stage's PATH. */
export function start(stage: Stage, file: string, args: readonly string[], env: object = {}): Running {
  const child = spawn(file, args, {
    env: { ...stage.env, ...env },
    cwd: stage.project,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { pid: child.pid ?? 0, ended: ended(child) };
}

/** Starts the stage's client with its model at the origin. */
export function startController(stage: Stage, origin: string): Running {
  const config = ['--mcp-config', join(stage.project, '.mcp.json'), '--strict-mcp-config'];
  const { file, args, env } = headless(stage.client, {
    server: SERVER,
    origin,
    key: stage.env['CONTROLLER_KEY'] ?? '',
    shell: ['git -C:*', 'node --test:*'],
    more: [...config, '--setting-sources', 'project,local'],
  });
  return start(stage, file, args, env);
}
