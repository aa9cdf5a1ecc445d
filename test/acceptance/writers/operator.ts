/**
 * A disposable operator below the home of a user without rights: the acceptance
 * may run as root, and rootless Podman may not. A repository, a configuration, Pi's
 * agent directory with a scripted provider, and things that nobody inside may reach.
 */
import { type ChildProcess, execFileSync, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { QUIET } from '../kit/driving/headless.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const USER = process.env['PI_WRITER_TEST_USER'] ?? 'pi-writer-test';
const TOOL_PLACES = ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/bin'];
const TIME_LIMIT_MS = 180_000;

const SECRET = 'NOBODY-INSIDE-MAY-READ-THIS';
const PROVIDER = 'scripted';
const MODEL = 'scripted-1';

interface User {
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function findUser(): User | undefined {
  const uid = process.getuid?.() ?? 0;
  if (uid !== 0) return { uid, gid: process.getgid?.() ?? uid, home: homedir() };
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const [, , id, group, , home] = lines.find((line) => line.startsWith(`${USER}:`))?.split(':') ?? [];
  return id && group && home ? { uid: Number(id), gid: Number(group), home } : undefined;
}

/** Why it cannot run here; undefined when it can. */
export function reasonToSkip(): string | undefined {
  if (process.platform !== 'linux') return 'not Linux';
  const missing = ['podman', 'newuidmap'].find((tool) => !TOOL_PLACES.some((place) => existsSync(join(place, tool))));
  if (missing) return `${missing} is missing; scripts/install-podman.sh installs it`;
  return findUser() ? undefined : `there is no user ${USER}; scripts/install-podman.sh makes it`;
}

export class Operator {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  readonly configuration: string;
  readonly agent: string;
  readonly package: string;
  readonly env: Readonly<Record<string, string>>;
  readonly #user: User;

  /** @param clients Directory with the clients' executables. @param origin Of the model. */
  constructor(clients: string, origin: string) {
    const user = findUser();
    if (!user) throw new Error('no user');
    this.#user = user;
    // Not below a temporary directory: clients treat those differently.
    this.root = mkdtempSync(join(realpathSync(user.home), 'acceptance-writers-'));
    const at = (...parts: string[]) => join(this.root, ...parts);
    this.home = at('home of nobody');
    this.project = at('a shop');
    this.agent = join(this.home, '.pi', 'agent');
    this.package = at('package with space');
    this.configuration = join(this.home, '.config', 'pi-session-mcp', 'pi-session-mcp.json');
    for (const path of [
      this.agent,
      this.project,
      at('tmp'),
      at('run'),
      dirname(this.configuration),
      join(this.home, '.codex'),
    ]) {
      mkdirSync(path, { recursive: true });
    }
    this.#writeHome(origin);
    for (const part of ['dist', 'skills', 'package.json'])
      cpSync(join(ROOT, part), join(this.package, part), { recursive: true });
    symlinkSync(realpathSync(join(ROOT, 'node_modules')), join(this.package, 'node_modules'));
    // As a package manager would.
    mkdirSync(at('bin'));
    symlinkSync(join(this.package, 'dist', 'setup.js'), at('bin', 'pi-session-mcp-setup'));
    const path = [clients, at('bin'), dirname(this.node), '/usr/bin', '/bin'].join(':');
    this.env = {
      ...{ HOME: this.home, PATH: path, LANG: 'C.UTF-8', TERM: 'dumb', TMPDIR: at('tmp') },
      // Where the operator's own Podman keeps what runs.
      XDG_RUNTIME_DIR: at('run'),
      ...QUIET,
    };
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, this.root]);
    this.#makeRepository();
  }

  get node(): string {
    return realpathSync(process.execPath);
  }

  /** Of all writers. */
  get state(): string {
    return join(this.home, '.local', 'state', 'pi-session-mcp', 'writers');
  }

  #writeHome(origin: string): void {
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const model = { id: MODEL, reasoning: false, input: ['text'], cost, contextWindow: 1_000_000, maxTokens: 4096 };
    const provider = { baseUrl: `${origin}/v1`, api: 'openai-completions', apiKey: 'not-a-secret', models: [model] };
    const stranger = { ...provider, apiKey: SECRET };
    const json = (path: string, value: object) => writeFileSync(path, JSON.stringify(value, null, 2));
    json(join(this.agent, 'models.json'), { providers: { [PROVIDER]: provider, stranger } });
    json(join(this.agent, 'auth.json'), { stranger: { type: 'api_key', key: SECRET } });
    mkdirSync(join(this.agent, 'extensions'));
    mkdirSync(join(this.home, '.ssh'));
    for (const file of ['.ssh/id', '.git-credentials', '.profile', '.gitconfig'])
      writeFileSync(join(this.home, file), `# ${SECRET}\n`);
    const selection = { provider: PROVIDER, model: MODEL, thinkingLevel: 'off' };
    json(this.configuration, {
      workspaces: { shop: this.project },
      skillCatalog: { implementation: 'builtin:pi-session-implementation' },
      executionProfiles: {
        reader: { default: true, permissionProfile: 'read-only', ...selection },
        coder: { default: false, permissionProfile: 'coding', ...selection, skills: ['implementation'] },
      },
    });
  }

  #makeRepository(): void {
    this.writeFile(join(this.project, 'shop.txt'), 'open\n');
    for (const args of [
      ['init', '-q', '-b', 'main'],
      ['add', '.'],
      ['commit', '-qm', 'The shop'],
    ])
      this.git(...args);
    this.writeFile(join(this.project, '.git', 'hooks', 'post-commit'), '#!/bin/sh\n');
  }

  writeFile(path: string, text: string): void {
    writeFileSync(path, text);
    if (process.getuid?.() === 0) execFileSync('chown', [`${this.#user.uid}:${this.#user.gid}`, path]);
  }

  git(...args: string[]): string {
    const { uid, gid } = this.#user;
    const env = { PATH: '/usr/bin:/bin', HOME: '/dev/null', GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C' };
    const who = ['-c', 'user.name=operator', '-c', 'user.email=operator@localhost'];
    const identity = process.getuid?.() === 0 ? { uid, gid } : {};
    return execFileSync('git', [...who, ...args], { cwd: this.project, env, encoding: 'utf8', ...identity });
  }

  spawn(file: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
    const { uid, gid } = this.#user;
    const identity = process.getuid?.() === 0 ? { uid, gid } : {};
    return spawn(file, args, { cwd: this.project, env: this.env, ...identity, ...options });
  }

  /** @returns The exit status. */
  runSync(file: string, args: readonly string[]): number | null {
    const { uid, gid } = this.#user;
    const identity = process.getuid?.() === 0 ? { uid, gid } : {};
    return spawnSync(file, args, { cwd: this.project, env: this.env, stdio: 'ignore', ...identity }).status;
  }

  run(file: string, args: readonly string[], env: Readonly<Record<string, string>> = this.env): Promise<Ended> {
    return new Promise((done, reject) => {
      const child = this.spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      const limit = setTimeout(() => child.kill('SIGKILL'), TIME_LIMIT_MS);
      const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
      child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
      child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
      child.once('error', reject);
      child.once('close', (code) => {
        clearTimeout(limit);
        done({ code, stdout: Buffer.concat(stdout).toString('utf8'), stderr: Buffer.concat(stderr).toString('utf8') });
      });
    });
  }

  /** Arguments of Node for one command of setup. */
  setupArguments(...args: readonly string[]): string[] {
    return [
      join(this.package, 'dist', 'setup.js'),
      '--json',
      '--config',
      this.configuration,
      '--repo',
      'shop',
      ...args,
    ];
  }

  setup(...args: readonly string[]): Promise<Ended> {
    return this.run(this.node, this.setupArguments(...args));
  }

  phaseOf(writer: string): string | undefined {
    try {
      return (JSON.parse(readFileSync(join(this.state, writer, 'state.json'), 'utf8')) as { phase: string }).phase;
    } catch {
      return undefined;
    }
  }

  remove(): void {
    const names = existsSync(this.state)
      ? execFileSync('ls', ['-A', this.state], { encoding: 'utf8' }).split('\n')
      : [];
    for (const name of names.filter((entry) => entry.startsWith('.podman-')))
      endInstance(join(this.state, name, 'runtime'));
    endHolder(join(this.root, 'run'));
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Podman keeps one process that holds the user namespace; this one is for this operator alone. */
function endInstance(link: string): void {
  try {
    const runtime = realpathSync(link);
    endHolder(join(runtime, 'xdg'));
    rmSync(runtime, { recursive: true, force: true });
  } catch {
    // No box has ever run there.
  }
}

/** @param runtime What Podman has as its XDG_RUNTIME_DIR. */
function endHolder(runtime: string): void {
  try {
    process.kill(Number(readFileSync(join(runtime, 'libpod/tmp/pause.pid'), 'utf8')), 'SIGKILL');
  } catch {
    // Podman has not run there.
  }
}
