/** Odd homes, under the built setup: refused with the right code, nothing half-done, or simply fine. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { codes, makeOperator, type Operator, runSetup, treeOf } from './setup-kit/operator.ts';

const root = mkdtempSync(join(tmpdir(), 'setup-places-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
const fresh = () => {
  count += 1;
  return makeOperator(join(root, String(count)));
};
const CODEX = ['--target', 'codex:user:pi-session-mcp', '--json'];
const PROJECT = ['--target', 'claude-code:project:pi-session-mcp', '--json'];
const clientFiles = ({ home }: Operator) => treeOf(join(home, '.fake'));
const recordFile = ({ state }: Operator) => join(state, 'ownership.json');

describe('a state that cannot be trusted changes nothing', () => {
  const asRoot = process.getuid?.() === 0;
  const CASES: readonly [string, (operator: Operator) => void][] = [
    ['is corrupt', (operator) => writeFileSync(recordFile(operator), '{"schemaVersion":1,"records":[{}]}')],
    ['is too large', (operator) => writeFileSync(recordFile(operator), ' '.repeat(70_000))],
    [
      'is a link',
      (operator) => {
        renameSync(recordFile(operator), join(operator.root, 'elsewhere.json'));
        symlinkSync(join(operator.root, 'elsewhere.json'), recordFile(operator));
      },
    ],
    ['has a second name', (operator) => linkSync(recordFile(operator), join(operator.root, 'twin'))],
    ['is readable by others', (operator) => chmodSync(recordFile(operator), 0o644)],
    [
      'lies in a linked directory',
      (operator) => {
        renameSync(operator.state, join(operator.root, 'state'));
        symlinkSync(join(operator.root, 'state'), operator.state);
      },
    ],
    ['lies in an open directory', (operator) => chmodSync(operator.state, 0o755)],
    [
      'has a lock file that is a link',
      (operator) => {
        const lock = join(operator.state, 'ownership.json.flock');
        rmSync(lock);
        symlinkSync(join(operator.root, 'lock'), lock);
      },
    ],
  ];
  test.each(CASES)('%s', async (_what, spoil) => refuses(spoil));
  test.skipIf(!asRoot)('is of another owner (only root can show it)', async () =>
    refuses((operator) => chownSync(recordFile(operator), 65534, 65534)),
  );

  async function refuses(spoil: (operator: Operator) => void): Promise<void> {
    const operator = fresh();
    expect((await runSetup(operator, ['--apply', ...CODEX])).code).toBe(0);
    spoil(operator);
    const before = { ...treeOf(operator.home), ...treeOf(operator.project) };
    for (const operation of ['--apply', '--remove']) {
      const run = await runSetup(operator, [operation, ...CODEX]);
      expect([run.code, codes(run)[0]]).toEqual([1, 'failed (ownership_unavailable)']);
    }
    expect({ ...treeOf(operator.home), ...treeOf(operator.project) }).toEqual(before);
  }
});

test.each([
  ['--dry-run', ...CODEX],
  ['--init', '--json'],
])('a working directory that is gone: %s', async (...args) => {
  const operator = fresh();
  const gone = join(operator.root, 'gone');
  const line = 'mkdir "$1" && cd "$1" && rmdir "$1" && shift && exec "$@"';
  const setup = resolve(import.meta.dirname, '../../dist/setup.js');
  const run = spawnSync('sh', ['-c', line, 'sh', gone, process.execPath, setup, ...args], {
    env: { ...operator.env },
    encoding: 'utf8',
  });
  expect([run.status, run.stderr, JSON.parse(run.stdout).code]).toEqual([1, '', 'operation_failed']);
});

describe('links', () => {
  test('a home that is a link works', async () => {
    const operator = fresh();
    renameSync(operator.home, join(operator.root, 'real'));
    symlinkSync(join(operator.root, 'real'), operator.home);
    expect((await runSetup(operator, ['--apply', ...CODEX])).code).toBe(0);
    expect((await runSetup(operator, ['--remove', ...CODEX])).code).toBe(0);
  });

  test("the operator's own link to a skills directory is followed", async () => {
    const operator = fresh();
    const dotfiles = join(operator.root, 'dotfiles');
    mkdirSync(dotfiles);
    mkdirSync(join(operator.home, '.agents'));
    symlinkSync(dotfiles, join(operator.home, '.agents', 'skills'));
    expect(codes(await runSetup(operator, ['--apply', ...CODEX]))[1]).toBe('ok (skill_installed)');
    expect(readdirSync(dotfiles)).toEqual(['pi-session-orchestration']);
    expect(codes(await runSetup(operator, ['--remove', ...CODEX]))[1]).toBe('ok (skill_removed)');
    expect(readdirSync(dotfiles)).toEqual([]);
  });

  test.each(['.claude', '.claude/skills'])("a project's %s that is a link is not", async (place) => {
    const operator = fresh();
    const outside = join(operator.root, 'outside');
    mkdirSync(outside);
    if (place !== '.claude') mkdirSync(join(operator.project, '.claude'));
    symlinkSync(outside, join(operator.project, place));
    const run = await runSetup(operator, ['--apply', ...PROJECT]);
    expect([run.code, ...codes(run)]).toEqual([1, 'ok (applied)', 'divergent (skill_divergent)']);
    expect(readdirSync(outside)).toEqual([]);
    const removal = await runSetup(operator, ['--remove', ...PROJECT]);
    expect(codes(removal)[0]).toBe('ok (removed)');
  });
});

describe('a disk that does not take it', () => {
  const canMount = (() => {
    const place = join(root, 'probe');
    mkdirSync(place);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', place], { stdio: 'ignore' });
      execFileSync('umount', [place]);
      return true;
    } catch {
      return false;
    }
  })();

  test.skipIf(!canMount)('a full one (needs the right to mount)', async () => {
    const operator = fresh();
    mkdirSync(operator.state, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k,mode=700', 'tmpfs', operator.state]);
    try {
      execFileSync('sh', ['-c', `head -c 1000000 /dev/zero > "${join(operator.state, 'filler')}" || true`], {
        stdio: 'ignore',
      });
      const before = clientFiles(operator);
      const run = await runSetup(operator, ['--apply', ...CODEX]);
      expect([run.code, codes(run)[0]]).toEqual([1, 'failed (ownership_unavailable)']);
      expect(clientFiles(operator)).toEqual(before);
      expect(existsSync(recordFile(operator))).toBe(false);
      rmSync(join(operator.state, 'filler'));
      expect((await runSetup(operator, ['--apply', ...CODEX])).code).toBe(0);
      expect(readdirSync(operator.state).sort()).toEqual(['ownership.json', 'ownership.json.flock']);
    } finally {
      execFileSync('umount', [operator.state]);
    }
  });

  test.skipIf(process.getuid?.() === 0 && !hasSetpriv())('a home that only can be read', async () => {
    const operator = fresh();
    const copy = join(root, 'package');
    const repository = resolve(import.meta.dirname, '../..');
    for (const part of ['dist', 'skills', 'package.json'])
      cpSync(join(repository, part), join(copy, part), { recursive: true });
    const kit = join(root, 'kit');
    cpSync(join(import.meta.dirname, 'setup-kit'), kit, { recursive: true });
    for (const open of [root, operator.root, operator.home]) chmodSync(open, 0o755);
    chmodSync(operator.configuration, 0o644);
    chmodSync(operator.home, 0o555);
    const mode = statSync(operator.home).mode;
    const output = asNobody([join(copy, 'dist', 'setup.js'), '--apply', ...CODEX], operator);
    expect(codes({ stdout: output, stderr: '', code: 1, signal: null })[0]).toBe('failed (ownership_unavailable)');
    expect(statSync(operator.home).mode).toBe(mode);
    expect(existsSync(join(operator.home, '.local'))).toBe(false);
  });
});

function hasSetpriv(): boolean {
  return existsSync('/usr/bin/setpriv');
}

/** @returns What it has printed; its exit status is 1. */
function asNobody(args: readonly string[], { env, project }: Operator): string {
  const drop = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  const [file = '', ...rest] = [...drop, process.execPath, ...args];
  try {
    execFileSync(file, rest, { env: { ...env }, cwd: project, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
    if (status === 1) return stdout;
    throw new Error(`ended with ${status}: ${stderr}`);
  }
  throw new Error('succeeded');
}
