/** Clients to talk to: scripted in memory, tiny scripts on disk, and the runner that starts them for tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createRegistrationClient } from '../../../src/adapters/clients/registration.ts';
import type { ClientCommand, CommandResult, CommandRunner } from '../../../src/ports/setup/command.ts';
import type { IntendedEntry, RegistrationClient } from '../../../src/ports/setup/registration.ts';
import type { Target } from '../../../src/ports/setup/target.ts';

export const CODEX: Target = { client: 'codex', scope: 'user' };
export const CLAUDE: Target = { client: 'claude-code', scope: 'user' };
export const PROJECT: Target = { client: 'claude-code', scope: 'project' };
export const LOCAL: Target = { client: 'claude-code', scope: 'local' };

export const ENTRY: IntendedEntry = {
  command: '/opt/my node/bin/node',
  args: ['/opt/pi "session"/dist/main.js'],
  env: { PI_SESSION_MCP_CONFIG: "/home/ü/a=b 'c'.json" },
};

export const never = (): AbortSignal => new AbortController().signal;

export function temporary(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'setup clients-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export function exited(code: number | null, stdout = '', stderr = ''): CommandResult {
  return { kind: 'exited', code, stdout, stderr };
}

export interface Scripted {
  readonly client: RegistrationClient;
  readonly commands: ClientCommand[];
}

/** A client whose commands end like this, one after the other. */
export function scripted(
  target: Target,
  results: readonly CommandResult[],
  entry: IntendedEntry = ENTRY,
  environment: Readonly<Record<string, string | undefined>> = { PATH: '/nowhere' },
): Scripted {
  const commands: ClientCommand[] = [];
  const runner: CommandRunner = {
    async run(command) {
      commands.push(command);
      const result = results[commands.length - 1];
      if (result === undefined) throw new Error(`unexpected command ${command.args.join(' ')}`);
      return result;
    },
    close: async () => 'released',
  };
  const place = { project: '/the/project', directory: tmpdir() };
  return { client: createRegistrationClient({ target, entry, runner, environment, ...place }), commands };
}

/** A directory for `PATH` that holds one executable: a shell script of this body. */
export function fakeClient(name: 'claude' | 'codex', body: string, mode = 0o755): string {
  const bin = join(temporary(), 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(bin, name), mode);
  return bin;
}

/** Starts the command for real and kills its group when it is over. Guards nothing; the guardian has its own tests. */
export function spawningRunner(timeoutMs?: number): CommandRunner {
  return { run: (command, signal) => runOnce(command, timeoutMs ?? command.timeoutMs, signal), close };
}

const close = async () => 'released' as const;

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Gone.
  }
}

function runOnce(command: ClientCommand, timeoutMs: number, signal: AbortSignal): Promise<CommandResult> {
  return new Promise((resolve) => {
    const { file, args, cwd, env, maxOutputBytes } = command;
    const child = spawn(file, [...args], { cwd, env: { ...env }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let broken: CommandResult | undefined;
    const breakOff = (result: CommandResult): void => {
      broken ??= result;
      killGroup(child);
    };
    const timer = setTimeout(() => breakOff({ kind: 'timed_out' }), timeoutMs);
    const interrupt = () => breakOff({ kind: 'interrupted' });
    signal.addEventListener('abort', interrupt);
    const stdout = collect(child.stdout, maxOutputBytes, () => breakOff({ kind: 'output_too_large' }));
    const stderr = collect(child.stderr, maxOutputBytes, () => breakOff({ kind: 'output_too_large' }));
    const over = (result: CommandResult): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', interrupt);
      resolve(broken ?? result);
    };
    child.once('error', () => child.pid === undefined && over({ kind: 'not_found' }));
    child.once('exit', () => killGroup(child));
    child.once('close', (code) => over({ kind: 'exited', code, stdout: stdout(), stderr: stderr() }));
  });
}

function collect(stream: NodeJS.ReadableStream, maxBytes: number, onTooMuch: () => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) onTooMuch();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}
