/** The clone seen from inside the box, by the server that lives there with it. */
import { spawn } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { CodingAdmission } from '../../ports/writers/admission.ts';
import type { Baseline, InsideCommand, InsideResult } from '../../ports/writers/git.ts';
import { isAtBaseline, readStatus } from './collect.ts';

const TIMEOUT_MS = 30_000;

export interface LocalClone {
  /** Absolute. */
  readonly workTree: string;
  /** The file that the operator's side keeps: `{schemaVersion, commit, branch}`. */
  readonly baseline: string;
  /** There while the operator's side works on the clone. */
  readonly hold: string;
  /** There while a session writes. */
  readonly mark: string;
}

export function createCodingAdmission({ workTree, baseline, hold, mark }: LocalClone): CodingAdmission {
  let isMarked = false;
  return {
    async isAtBaseline() {
      try {
        const { schemaVersion, commit, branch } = JSON.parse(await readFile(baseline, 'utf8')) as Record<
          string,
          unknown
        >;
        if (schemaVersion !== 1 || typeof commit !== 'string' || typeof branch !== 'string') return false;
        const base: Baseline = { commit, branch };
        const signal = AbortSignal.timeout(TIMEOUT_MS);
        const read = await readStatus((command) => runHere(command, workTree, signal), base, signal);
        return read.ok && isAtBaseline(read.status, base);
      } catch {
        return false;
      }
    },
    enter() {
      try {
        // First said, then looked: the other side does it the other way round, so one of the two gives way.
        writeFileSync(mark, '');
        isMarked = true;
        if (!existsSync(hold)) return true;
      } catch {
        // Nobody would know of the session.
      }
      this.leave();
      return false;
    },
    leave() {
      if (!isMarked) return;
      isMarked = false;
      rmSync(mark, { force: true, recursive: true });
    },
  };
}

function runHere(
  { argv, env, maxOutputBytes }: InsideCommand,
  cwd: string,
  signal: AbortSignal,
): Promise<InsideResult> {
  return new Promise((resolve) => {
    const [file, ...args] = argv;
    const environment = { PATH: process.env['PATH'] ?? '', HOME: '/dev/null', ...env };
    const child = spawn(file, args, { cwd, env: environment, stdio: ['ignore', 'pipe', 'ignore'], signal });
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxOutputBytes) chunks.push(chunk);
      else child.kill('SIGKILL');
    });
    child.once('error', () => resolve({ kind: 'failed' }));
    child.once('close', (code) => {
      if (size > maxOutputBytes) resolve({ kind: 'output_too_large' });
      else resolve(code === null ? { kind: 'failed' } : { kind: 'exited', code, stdout: Buffer.concat(chunks) });
    });
  });
}
