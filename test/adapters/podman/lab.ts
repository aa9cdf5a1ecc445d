/**
 * A disposable home for boxes, below that of a user without rights: the tests
 * may run as root, and rootless Podman may not. Everything that this user has to
 * read is copied there, so that it does not matter where the checkout lies.
 */
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import {
  accessSync,
  chownSync,
  constants,
  copyFileSync,
  cpSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants as constantsOf, homedir, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { createKernelLock } from '../../../src/adapters/process/kernel-lock.ts';
import type { HeldLock } from '../../../src/ports/setup/command.ts';
import type { BoundaryHost, CaptureCommand, WriterBox } from '../../../src/ports/writers/boundary.ts';
import type { Action } from './fixtures/host.ts';

const ROOT = join(import.meta.dirname, '../../..');
const USER = process.env['PI_WRITER_TEST_USER'] ?? 'pi-writer-test';
const PAUSE_FILE = 'xdg/libpod/tmp/pause.pid';
const TOOLS = ['podman', 'newuidmap'];
const TOOL_PLACES = ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/bin'];

interface User {
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/** Whom the boxes run as: ourselves, or as root the user that scripts/install-podman.sh makes. */
function findUser(): User | undefined {
  const uid = process.getuid?.() ?? 0;
  if (uid !== 0) return { uid, gid: process.getgid?.() ?? uid, home: homedir() };
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${USER}:`));
  const [, , id, group, , home] = line?.split(':') ?? [];
  return id && group && home ? { uid: Number(id), gid: Number(group), home } : undefined;
}

function isThere(tool: string): boolean {
  return TOOL_PLACES.some((place) => {
    try {
      accessSync(join(place, tool), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Why no box can run here; undefined when one can. */
function findReason(): string | undefined {
  if (process.platform !== 'linux') return 'not Linux';
  const tool = TOOLS.find((name) => !isThere(name));
  if (tool) return `${tool} is missing; scripts/install-podman.sh installs it`;
  return findUser() ? undefined : `there is no user ${USER}; scripts/install-podman.sh makes it`;
}

export const NO_PODMAN = findReason();
// The reporter tells how many were skipped, and not why.
if (NO_PODMAN) console.warn(`SKIPPED, real boxes: ${NO_PODMAN}`);

export class Lab {
  readonly directory: string;
  readonly node: string;
  /** The product as installed: `dist`, `package.json`, `skills`, `node_modules`. */
  readonly product: string;
  readonly state: string;
  readonly user: User;
  /** Set once the probe has run. */
  host: BoundaryHost | undefined;
  readonly #fixture: string;
  readonly #started: ChildProcess[] = [];
  readonly #states = new Set<string>();

  constructor(user: User) {
    this.user = user;
    this.directory = mkdtempSync(join(realpathSync(user.home), 'boundary-'));
    this.own(this.directory);
    this.node = join(this.directory, 'node');
    copyFileSync(process.execPath, this.node, constants.COPYFILE_FICLONE);
    this.#fixture = join(this.directory, 'host.mjs');
    this.product = this.#installProduct();
    this.state = this.path('state');
    buildSync({
      absWorkingDir: ROOT,
      entryPoints: [join(import.meta.dirname, 'fixtures/host.ts')],
      outfile: this.#fixture,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'warning',
    });
  }

  #installProduct(): string {
    const product = join(this.directory, 'product');
    cpSync(join(ROOT, 'dist'), join(product, 'dist'), { recursive: true });
    cpSync(join(ROOT, 'skills'), join(product, 'skills'), { recursive: true });
    copyFileSync(join(ROOT, 'package.json'), join(product, 'package.json'));
    // The user's own, so that what refuses a write is the mount.
    for (const path of [this.ownAll(product), this.node]) this.own(path);
    symlinkSync(realpathSync(join(ROOT, 'node_modules')), join(product, 'node_modules'));
    return product;
  }

  /** Gives it to the user that the boxes run as. */
  own(path: string): string {
    if (process.getuid?.() === 0) lchownSync(path, this.user.uid, this.user.gid);
    return path;
  }

  ownAll(path: string): string {
    const entries = readdirSync(path, { recursive: true, encoding: 'utf8' });
    for (const entry of entries) this.own(join(path, entry));
    return this.own(path);
  }

  /** A directory of the user's, made when it is missing. */
  path(...parts: string[]): string {
    const path = join(this.directory, ...parts);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    let made = this.directory;
    for (const part of parts.flatMap((name) => name.split('/'))) made = this.own(join(made, part));
    return path;
  }

  write(path: string, text: string, mode = 0o644): string {
    writeFileSync(path, text, { mode });
    if (process.getuid?.() === 0) chownSync(path, this.user.uid, this.user.gid);
    return path;
  }

  /** Starts a program as the user, with nothing in its environment that is not given. */
  spawn(file: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
    const { uid, gid } = this.user;
    const identity = process.getuid?.() === 0 ? { uid, gid } : {};
    const child = spawn(file, args, { cwd: '/', env: { PATH: '/usr/bin:/bin' }, ...identity, ...options });
    this.#started.push(child);
    return child;
  }

  /** Root may put a child before whatever else the machine does, so that its time is its own. */
  hurry({ pid }: ChildProcess): void {
    if (pid !== undefined && process.getuid?.() === 0) setPriority(pid, constantsOf.priority.PRIORITY_HIGHEST);
  }

  startAction(action: Action, env: Readonly<Record<string, string>> = {}, state: string = this.state): ChildProcess {
    this.#states.add(state);
    const request = JSON.stringify({ host: this.host, stateDirectory: state, action });
    return this.spawn(this.node, [this.#fixture, request], {
      env: { PATH: '/usr/bin:/bin', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  /** The action's result. `state` is another state directory than the lab's own. */
  async act<T>(action: Action, env: Readonly<Record<string, string>> = {}, state?: string): Promise<T> {
    const child = this.startAction(action, env, state);
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    await new Promise((resolve) => child.once('close', resolve));
    return JSON.parse(text) as T;
  }

  /** A writer with all its directories. */
  async writer(name: string, more: Partial<WriterBox> = {}): Promise<WriterBox> {
    const directory = join(this.state, name);
    const made = await this.act<{ kind: string }>({ do: 'create', directory });
    if (made.kind !== 'ready') throw new Error(`the layout was ${JSON.stringify(made)}`);
    return { name, directory, root: { kind: 'host' }, network: 'none', ...more };
  }

  run(
    writer: WriterBox,
    argv: readonly string[],
    more: Partial<CaptureCommand> & { env?: Readonly<Record<string, string>> } = {},
    world: Readonly<Record<string, string>> = {},
  ): Promise<Captured> {
    const { input, ...rest } = more;
    const command = { argv, timeoutMs: 60_000, maxOutputBytes: 4 * 1024 * 1024, ...rest };
    const text = input === undefined ? {} : { input: Buffer.from(input).toString('latin1') };
    return this.act({ do: 'capture', writer, command, ...text }, world);
  }

  sh(writer: WriterBox, script: string): Promise<Captured> {
    return this.run(writer, ['sh', '-c', script]);
  }

  /** What Podman and the kernel know of boxes of this lab. */
  instance(): string {
    const name = readdirSync(this.state).find((entry) => entry.startsWith('.podman-')) ?? 'none';
    return join(this.state, name);
  }

  /** Podman keeps one process for the user namespace, for as long as the machine runs. */
  namespaceHolder(): number {
    try {
      return Number(readFileSync(join(realpathSync(join(this.instance(), 'runtime')), PAUSE_FILE), 'utf8'));
    } catch {
      return 0;
    }
  }

  boxes(): string[] {
    return readdirSync(join(this.instance(), 'boxes'));
  }

  podman(...args: string[]): string {
    const instance = this.instance();
    const runtime = realpathSync(join(instance, 'runtime'));
    const { runtime: oci = 'runc', cgroupManager = 'cgroupfs', podman = 'podman' } = this.host ?? {};
    const { uid, gid } = this.user;
    return execFileSync(
      podman,
      [
        `--root=${instance}/store`,
        `--runroot=${runtime}/run`,
        '--storage-driver=vfs',
        `--runtime=${oci}`,
        `--cgroup-manager=${cgroupManager}`,
        ...args,
      ],
      {
        encoding: 'utf8',
        cwd: '/',
        env: {
          PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
          HOME: `${instance}/home`,
          XDG_RUNTIME_DIR: `${runtime}/xdg`,
          CONTAINERS_CONF: `${instance}/containers.conf`,
          CONTAINERS_STORAGE_CONF: `${instance}/storage.conf`,
        },
        ...(process.getuid?.() === 0 && { uid, gid }),
      },
    );
  }

  /** Names of this lab's containers, in any state. */
  containers(): string[] {
    return this.podman('ps', '--all', '--format={{.Names}}').split('\n').filter(Boolean);
  }

  close(): void {
    for (const child of this.#started) child.kill('SIGKILL');
    for (const state of this.#states) endInstance(state);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Podman keeps one process that holds the user namespace; this one is for a lab alone. */
function endInstance(state: string): void {
  try {
    const name = readdirSync(state).find((entry) => entry.startsWith('.podman-')) ?? 'none';
    const runtime = realpathSync(join(state, name, 'runtime'));
    process.kill(Number(readFileSync(join(runtime, PAUSE_FILE), 'utf8')), 'SIGKILL');
    rmSync(runtime, { recursive: true, force: true });
  } catch {
    // No box has ever run there.
  }
}

export type Captured =
  | { readonly kind: 'ended'; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'timed_out' | 'output_too_large' | 'interrupted' | 'not_started' | 'retained' };

function openLab(): Lab {
  const user = findUser();
  if (!user) throw new Error(NO_PODMAN);
  return new Lab(user);
}

const LAB_LOCK = join(tmpdir(), 'pi-writer-lab');
const PATIENCE_S = 900;
const UNHURRIED = new AbortController().signal;

/** One lab for a file's tests, with its probe done. Nothing is made where no box can run. */
export function useLab(): () => Lab {
  let lab: Lab | undefined;
  let turn: HeldLock | undefined;
  beforeAll(async () => {
    if (NO_PODMAN) return;
    // All labs share one user, and Podman on a busy machine keeps the boxes of one lab from starting beside another's.
    const waited = await createKernelLock({ directory: LAB_LOCK, waitSeconds: PATIENCE_S }).acquire(UNHURRIED);
    if (waited.kind !== 'locked') throw new Error(`another lab is open: ${waited.kind}`);
    turn = waited.lock;
    lab = openLab();
    const outcome = await lab.act<{ kind: string; host: BoundaryHost }>({ do: 'probe', stateDirectory: lab.state });
    if (outcome.kind !== 'usable') throw new Error(`Podman is there and not usable: ${JSON.stringify(outcome)}`);
    lab.host = outcome.host;
  }, PATIENCE_S * 1000);
  afterAll(() => {
    lab?.close();
    turn?.release();
  });
  return () => {
    if (!lab) throw new Error('no lab');
    return lab;
  };
}
