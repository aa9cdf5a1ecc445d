/** The built launcher with the built server in a real box, as the user without rights. */
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WriterBox } from '../../../src/ports/writers/boundary.ts';
import type { Lab } from '../../adapters/podman/lab.ts';
import { INITIALIZE, request } from './server.ts';
import { profile } from './stage.ts';

/** A writer that setup has finished: the record, the contained configuration, an agent directory. */
export async function provision(lab: Lab, name: string, more: Partial<WriterBox> = {}): Promise<WriterBox> {
  const writer = await lab.writer(name, more);
  const at = (...parts: string[]): string => join(writer.directory, ...parts);
  const { root, network, limits = {} } = writer;
  lab.write(at('boundary.json'), JSON.stringify({ schemaVersion: 1, host: lab.host, root, network, limits }));
  const executionProfiles = { reader: profile({ default: true }), coder: profile({ permissionProfile: 'coding' }) };
  lab.write(at('server', 'config.json'), JSON.stringify({ workspaces: { app: '/work' }, executionProfiles }));
  lab.write(at('agent', 'auth.json'), '{}');
  return writer;
}

export class BoxedServer {
  readonly child: ChildProcess;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly closed: Promise<unknown>;
  stdout = '';
  stderr = '';
  readonly #waiting: (() => void)[] = [];

  constructor(child: ChildProcess) {
    this.child = child;
    this.exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    this.closed = new Promise((resolve) => child.once('close', resolve));
    child.stdin?.on('error', () => {});
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      for (const wake of this.#waiting.splice(0)) wake();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
  }

  write(message: object): void {
    this.child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  /** The first line of stdout, as soon as it is whole. */
  async firstLine(): Promise<Record<string, unknown>> {
    while (!this.stdout.includes('\n')) {
      const over = await Promise.race([
        this.closed,
        new Promise<undefined>((wake) => this.#waiting.push(() => wake(undefined))),
      ]);
      if (over !== undefined && !this.stdout.includes('\n')) throw new Error(`ended without an answer: ${this.stderr}`);
    }
    return JSON.parse(this.stdout.slice(0, this.stdout.indexOf('\n'))) as Record<string, unknown>;
  }

  initialize(): Promise<Record<string, unknown>> {
    this.write(request(1, 'initialize', INITIALIZE));
    return this.firstLine();
  }
}

export function launchBoxed(lab: Lab, writer: WriterBox, env: Readonly<Record<string, string>> = {}): BoxedServer {
  const args = [join(lab.product, 'dist/writer.js'), writer.directory];
  return new BoxedServer(lab.spawn(lab.node, args, { stdio: 'pipe', env: { PATH: '/usr/bin:/bin', ...env } }));
}

/** Of the one box that runs: whose process is whose. */
export function processesOf(lab: Lab): { client: number; conmon: number; inner: number } {
  const [id = ''] = lab.boxes();
  const read = (file: string): string => readFileSync(join(lab.instance(), 'boxes', id, file), 'utf8');
  const inner = lab.podman('inspect', '--format={{.State.Pid}}', `pi-writer-${id}`);
  return { client: Number.parseInt(read('client'), 10), conmon: Number(read('conmon')), inner: Number(inner) };
}

function statOf(pid: string): { state: string; parent: number; command: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state = 'X', parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state, parent: Number(parent), command: readFileSync(`/proc/${pid}/cmdline`, 'utf8') };
  } catch {
    return undefined;
  }
}

/** Also those that have never run a program of their own: the kernel says what their world is made of. */
function isOfLab(pid: string, command: string, lab: Lab): boolean {
  if (command.includes(lab.directory)) return true;
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(lab.directory);
  } catch {
    return false;
  }
}

/** Commands of live processes that come from the lab's boxes, but for Podman's own holder of the namespace. */
export function leftovers(lab: Lab): string[] {
  const spared = new Set([process.pid, lab.namespaceHolder()].map(String));
  return readdirSync('/proc').flatMap((pid) => {
    const stat = /^\d+$/.test(pid) && !spared.has(pid) ? statOf(pid) : undefined;
    return stat && !'ZX'.includes(stat.state) && isOfLab(pid, stat.command, lab) ? [stat.command] : [];
  });
}

export function childrenOf(parent: number): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    const stat = /^\d+$/.test(pid) ? statOf(pid) : undefined;
    return stat?.parent === parent && !'ZX'.includes(stat.state) ? [Number(pid)] : [];
  });
}

export function isAlive(pid: number): boolean {
  const stat = statOf(String(pid));
  return stat !== undefined && !'ZX'.includes(stat.state);
}

export function commandOf(pid: number): string {
  return statOf(String(pid))?.command ?? '';
}
