/**
 * An operator's checkout, a writer's clone of it, and a stand-in for the boundary:
 * the same commands on the same parts, in a scrubbed environment, but without
 * walls. Whatever runs inside it carries a mark, so that a planted command can tell
 * where it runs: on the host it writes the sentinel.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createHostGit, type HostGit } from '../../../src/adapters/git/host-git.ts';
import type { ImportCaps } from '../../../src/adapters/git/import-bundle.ts';
import { type Layout, layoutAt, readBaseline } from '../../../src/adapters/git/layout.ts';
import { createWriterGit } from '../../../src/adapters/git/writer-git.ts';
import type {
  Baseline,
  Collection,
  InsideCommand,
  InsideResult,
  RunInside,
  WriterGit,
} from '../../../src/ports/writers/git.ts';

export const NAME = 'shop-1';
export const BRANCH = `writer-${NAME}`;
/** Nothing here is ever cancelled. */
export const SIGNAL = new AbortController().signal;
const HERE = join(import.meta.dirname, '../../..');

export interface Lab {
  /** Everything of the lab lies below it. */
  readonly place: string;
  readonly checkout: string;
  readonly directory: string;
  readonly layout: Layout;
  readonly git: HostGit;
  readonly writer: WriterGit;
  readonly inside: RunInside;
  /** A script that writes the sentinel when it runs on the host, and otherwise passes its input on. */
  readonly payload: string;
  /** What the product has asked git for on the host: arguments, one line a call. */
  hostCalls(): string[];
  hasRun(): boolean;
  baseline(): Baseline;
  /** Git as the operator, in the checkout. */
  operator(...args: readonly string[]): string;
  /** Shell as the writer, in its working tree; its output. */
  work(script: string, ...args: readonly string[]): string;
  /** Branch → commit, of what has come out. */
  landed(): Record<string, string>;
  snapshot(): Snapshot;
}

/** Path in the checkout → what is there. */
export type Snapshot = ReadonlyMap<string, string>;

export interface LabOptions {
  readonly caps?: ImportCaps;
  /** Another way to run a command inside. */
  readonly wrap?: (inside: RunInside) => RunInside;
  /** Before the clone is made, as the operator, in the checkout. */
  readonly prepare?: (lab: Pick<Lab, 'operator' | 'checkout' | 'payload' | 'place'>) => void;
}

/** A checkout with two commits and a writer's clone of it. */
export async function openLab(options: LabOptions = {}): Promise<Lab> {
  const lab = layOut(options);
  const made = await lab.writer.clone('HEAD', SIGNAL);
  if (!made.ok) throw new Error(`no clone: ${made.code}`);
  return lab;
}

/** The same without a clone. */
export function layOut({ caps, wrap = (inside) => inside, prepare }: LabOptions = {}): Lab {
  mkdirSync(join(HERE, 'coverage'), { recursive: true });
  const place = mkdtempSync(join(HERE, 'coverage', 'git-'));
  onTestFinished(() => {
    execFileSync('chmod', ['-R', 'u+rwx', place]);
    rmSync(place, { recursive: true, force: true });
  });
  const [checkout, directory, sentinel] = ['checkout', 'writers/shop-1', 'sentinel'].map((name) =>
    join(place, name),
  ) as [string, string, string];
  const layout = layoutAt(join(directory, 'clone'));
  const payload = plant(
    join(place, 'payload'),
    `[ "$PI_TEST_INSIDE" = 1 ] || echo "$0 $*" >>'${sentinel}'\ntimeout 0.2 cat\n`,
  );
  const log = join(place, 'host-git.log');
  const wrapper = plant(join(place, 'git'), `printf '%s\\n' "$*" >>'${log}'\nexec git "$@"\n`);
  const operator = (...args: readonly string[]) => run('git', args, checkout, OPERATOR);
  makeCheckout(checkout, operator);
  prepare?.({ operator, checkout, payload, place });
  const inside = wrap(standIn(layout, place));
  const git = createHostGit({ file: wrapper });
  return {
    place,
    checkout,
    directory,
    layout,
    git,
    inside,
    payload,
    writer: createWriterGit({ git, writer: NAME, checkout, directory, inside, ...(caps && { caps }) }),
    hostCalls: () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []),
    hasRun: () => existsSync(sentinel),
    baseline: () => {
      const baseline = readBaseline(layout);
      if (!baseline) throw new Error('no baseline');
      return baseline;
    },
    operator,
    work: (script, ...args) => {
      const unmount = mount(layout);
      try {
        return run('sh', ['-euc', script, 'sh', ...args], layout.work, insideEnvironment(layout, place));
      } finally {
        unmount();
      }
    },
    landed: () => {
      const lines = operator(
        'for-each-ref',
        '--format=%(refname:lstrip=3) %(objectname)',
        `refs/remotes/writer-${NAME}`,
      );
      return Object.fromEntries(
        lines
          .split('\n')
          .filter(Boolean)
          .map((line) => line.split(' ')),
      );
    },
    snapshot: () => snapshotOf(checkout),
  };
}

/** Collects and expects that it worked. */
export async function collected({ writer }: Pick<Lab, 'writer'>): Promise<Collection> {
  const outcome = await writer.collect(SIGNAL);
  if (!outcome.ok) throw new Error(`not collected: ${outcome.code}`);
  return outcome.collection;
}

const OPERATOR = {
  PATH: '/usr/bin:/bin',
  HOME: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Operator',
  GIT_AUTHOR_EMAIL: 'operator@localhost',
  GIT_COMMITTER_NAME: 'Operator',
  GIT_COMMITTER_EMAIL: 'operator@localhost',
};

function makeCheckout(checkout: string, operator: Lab['operator']): void {
  mkdirSync(checkout);
  operator('init', '--quiet', '--initial-branch=main');
  for (const text of ['one', 'two']) {
    writeFileSync(join(checkout, 'file'), `${text}\n`);
    writeFileSync(join(checkout, '.gitignore'), 'cache/\n');
    operator('add', '--all');
    operator('commit', '--quiet', '--message', text);
  }
}

/** A script at a path. */
export function plant(path: string, script: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}`);
  chmodSync(path, 0o755);
  return path;
}

function run(file: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>>): string {
  return execFileSync(file, args, {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 26,
  });
}

/** The one mount that no variable can stand for; a writer's own content stays. */
function mount({ git, commonDir }: Layout): () => void {
  const place = join(git, 'commondir');
  const holds = (text: string) => {
    try {
      return lstatSync(place).isFile() && readFileSync(place, 'utf8') === text;
    } catch {
      return false;
    }
  };
  const pinned = readFileSync(commonDir, 'utf8');
  if (holds('')) writeFileSync(place, pinned);
  return () => holds(pinned) && writeFileSync(place, '');
}

/** What the other mounts of the boundary come to, as variables. */
function insideEnvironment(layout: Layout, place: string): Record<string, string> {
  return {
    PATH: '/usr/bin:/bin',
    HOME: join(place, 'home'),
    PI_TEST_INSIDE: '1',
    GIT_DIR: layout.git,
    GIT_WORK_TREE: layout.work,
    GIT_COMMON_DIR: layout.git,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: layout.config,
  };
}

function standIn(layout: Layout, place: string): RunInside {
  return (command: InsideCommand, signal: AbortSignal) =>
    new Promise<InsideResult>((resolve) => {
      const [file, ...args] = command.argv;
      const env = { ...command.env, ...insideEnvironment(layout, place) };
      const unmount = mount(layout);
      const child = spawn(file, args, { cwd: layout.work, env, stdio: ['pipe', 'pipe', 'ignore'], signal });
      const chunks: Buffer[] = [];
      let size = 0;
      child.stdout.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > command.maxOutputBytes) child.kill('SIGKILL');
        else chunks.push(chunk);
      });
      child.stdin.on('error', () => {});
      child.stdin.end(command.input);
      child.on('error', () => resolve({ kind: 'failed' }));
      child.on('close', (code) => {
        unmount();
        if (size > command.maxOutputBytes) resolve({ kind: 'output_too_large' });
        else resolve(code === null ? { kind: 'failed' } : { kind: 'exited', code, stdout: Buffer.concat(chunks) });
      });
    });
}

function snapshotOf(root: string): Snapshot {
  const seen = new Map<string, string>();
  const visit = (path: string): void => {
    for (const name of readdirSync(join(root, path)).sort()) {
      const inner = join(path, name);
      const stat = lstatSync(join(root, inner));
      if (stat.isDirectory()) {
        seen.set(inner, `directory ${stat.mode}`);
        visit(inner);
      } else if (stat.isSymbolicLink()) seen.set(inner, `link ${readlinkSync(join(root, inner))}`);
      else {
        const hash = createHash('sha256')
          .update(readFileSync(join(root, inner)))
          .digest('hex');
        seen.set(inner, `file ${stat.mode} ${stat.mtimeMs} ${hash}`);
      }
    }
  };
  visit('.');
  return seen;
}

const ALLOWED = [/^\.git\/objects\//, new RegExp(`^\\.git/(logs/)?refs/remotes(/writer-${NAME}(-kept)?(/.*)?)?$`)];

/** What has changed in the checkout but may not; a missing or changed file in any case. */
export function trespasses(before: Snapshot, after: Snapshot): string[] {
  const mayDiffer = /^\.git\/(logs\/)?refs\/remotes\/writer-shop-1\//;
  const changed = [...before].filter(([path, what]) => after.get(path) !== what && !mayDiffer.test(path));
  const added = [...after.keys()].filter((path) => !before.has(path) && !ALLOWED.some((allowed) => allowed.test(path)));
  return [...changed.map(([path]) => `changed ${path}`), ...added.map((path) => `added ${path}`)];
}

/** Nothing at all has changed, not even an object has been added. */
export function differences(before: Snapshot, after: Snapshot): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path));
}
