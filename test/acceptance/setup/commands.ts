/** Runs one command to its end in a stage, with nothing of our environment. */
import { spawn } from 'node:child_process';
import type { Stage } from './stage.ts';

const TIME_LIMIT_MS = 180_000;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function runIn(stage: Stage, file: string, args: readonly string[], cwd = stage.project): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env: stage.env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const limit = setTimeout(() => child.kill('SIGKILL'), TIME_LIMIT_MS);
    const collect = (stream: NodeJS.ReadableStream) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      return () => Buffer.concat(chunks).toString('utf8');
    };
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(limit);
      resolve({ code, stdout: stdout(), stderr: stderr() });
    });
  });
}
