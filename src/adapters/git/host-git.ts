/**
 * Git on the host: only ever on the operator's checkout or on a repository that
 * was made a moment ago and that no writer has seen. Nothing of the caller's
 * environment or of the user's and the system's configuration reaches it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';

const TIMEOUT_MS = 120_000;
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;

/** Where a command may work: always named, never found by walking up. */
export interface HostRepository {
  readonly gitDir: string;
}

export interface GitCommand {
  readonly args: readonly string[];
  readonly repository: HostRepository;
  readonly input?: Uint8Array | string;
  /** Of stdout; more ends the command. */
  readonly maxOutputBytes?: number;
}

/** `code` is null when the command was ended before its time; `stdout` is empty then. */
export interface GitResult {
  readonly code: number | null;
  readonly stdout: Buffer;
}

export interface HostGitOptions {
  /** Name or absolute path of git. */
  readonly file?: string;
  readonly path?: string;
  readonly timeoutMs?: number;
}

export interface HostGit {
  /** Never rejects. */
  run(command: GitCommand, signal: AbortSignal): Promise<GitResult>;
  /** What one command prints is what the other reads; both have to succeed. Never rejects. */
  pipe(from: GitCommand, into: GitCommand, signal: AbortSignal): Promise<boolean>;
  /** The repository of a working tree, from its root alone. Undefined: there is none that git would use. */
  find(workTree: string, signal: AbortSignal): Promise<HostRepository | undefined>;
  /** A new bare repository; undefined when it cannot be made. */
  create(gitDir: string, branch: string, signal: AbortSignal): Promise<HostRepository | undefined>;
}

/** A configured value would have to be on this list to run something, so it is set here. */
const SETTINGS: readonly string[] = Object.entries({
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.alternateRefsCommand': 'true',
  'core.attributesFile': '/dev/null',
  'core.excludesFile': '/dev/null',
  'core.logAllRefUpdates': 'true',
  'core.pager': 'cat',
  'credential.helper': '',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'protocol.allow': 'never',
  'safe.bareRepository': 'explicit',
}).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

function environment(path: string): Record<string, string> {
  return {
    PATH: path,
    HOME: '/dev/null',
    LC_ALL: 'C',
    GIT_ALLOW_PROTOCOL: '',
    GIT_ASKPASS: 'false',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_COMMITTER_EMAIL: 'pi-session-mcp@localhost',
    GIT_COMMITTER_NAME: 'pi-session-mcp',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_EDITOR: 'false',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    SSH_ASKPASS: 'false',
  };
}

/** Git of this machine, scrubbed (docs/writers-git.md). */
export function createHostGit({
  file = 'git',
  path = '/usr/bin:/bin:/usr/local/bin',
  timeoutMs = TIMEOUT_MS,
}: HostGitOptions = {}): HostGit {
  const start = (args: readonly string[], extra: Readonly<Record<string, string>> = {}): ChildProcess =>
    spawn(file, [...SETTINGS, ...args], {
      cwd: '/',
      env: { ...environment(path), ...extra },
      // A group of its own, so that all of it can be ended.
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
  const at = ({ repository, args }: GitCommand) => start([`--git-dir=${repository.gitDir}`, ...args]);
  const bounded = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);

  async function run(command: GitCommand, signal: AbortSignal): Promise<GitResult> {
    return finish(at(command), command, bounded(signal));
  }

  return {
    run,
    async pipe(from, into, signal) {
      const bound = bounded(signal);
      const [source, sink] = [at(from), at(into)];
      const ends = [ended(source, bound), ended(sink, bound)];
      feed(source, from.input);
      sink.stdout?.resume();
      if (source.stdout && sink.stdin) await pipeline(source.stdout, sink.stdin).catch(() => {});
      return (await Promise.all(ends)).every((code) => code === 0);
    },
    async find(workTree, signal) {
      const args = ['-C', workTree, 'rev-parse', '--path-format=absolute', '--show-toplevel', '--absolute-git-dir'];
      // Found here or not at all.
      const child = start(args, { GIT_CEILING_DIRECTORIES: workTree.replace(/\/[^/]*$/, '') || '/' });
      const { code, stdout } = await finish(child, {}, bounded(signal));
      const [root, gitDir, ...rest] = stdout.toString('utf8').split('\n');
      return code === 0 && root === workTree && gitDir?.startsWith('/') && rest.join('') === ''
        ? { gitDir }
        : undefined;
    },
    async create(gitDir, branch, signal) {
      const args = ['init', '--quiet', '--bare', '--template=', '--object-format=sha1', `--initial-branch=${branch}`];
      const { code } = await finish(start([...args, '--', gitDir]), {}, bounded(signal));
      return code === 0 ? { gitDir } : undefined;
    },
  };
}

async function finish(
  child: ChildProcess,
  { input, maxOutputBytes = MAX_OUTPUT_BYTES }: Pick<GitCommand, 'input' | 'maxOutputBytes'>,
  signal: AbortSignal,
): Promise<GitResult> {
  const chunks: Buffer[] = [];
  const overflow = new AbortController();
  let size = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxOutputBytes) overflow.abort();
    else chunks.push(chunk);
  });
  child.stdout?.on('error', () => {});
  feed(child, input);
  const code = await ended(child, AbortSignal.any([signal, overflow.signal]));
  return code === null ? { code, stdout: Buffer.alloc(0) } : { code, stdout: Buffer.concat(chunks) };
}

function feed(child: ChildProcess, input: Uint8Array | string = ''): void {
  // It may end without reading everything.
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
}

/** Null: it was ended, or never started. */
async function ended(child: ChildProcess, signal: AbortSignal): Promise<number | null> {
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Gone in between.
    }
  };
  if (signal.aborted) kill();
  signal.addEventListener('abort', kill, { once: true });
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return signal.aborted ? null : code;
  } catch {
    return null;
  } finally {
    signal.removeEventListener('abort', kill);
  }
}
