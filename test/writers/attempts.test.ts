/** The attempts are worth something only if they notice a box that is none. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { WriterBoundary, WriterBox } from '../../src/ports/writers/boundary.ts';
import { type Attempted, attempt, held, stateOf } from '../../src/writers/attempts.ts';
import { controlIsolation } from '../../src/writers/control.ts';

const SIGNAL = new AbortController().signal;
const writer: WriterBox = { name: 'shop-1', directory: '/nowhere', root: { kind: 'host' }, network: 'none' };

/** Runs the same commands right here. */
const open: WriterBoundary = {
  create: () => ({ kind: 'refused', code: 'path_unusable' }),
  check: () => ({ kind: 'refused', code: 'path_unusable' }),
  reap: async () => ({ removed: 0, left: 0 }),
  capture: async (_writer, { argv: [, ...args], input }) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      input,
      env: { PATH: '/usr/bin:/bin', SSH_AUTH_SOCK: 'x' },
    });
    return { kind: 'ended', code: status ?? 1, stdout, stderr };
  },
};

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'attempts-'));
});
afterEach(() => {
  for (const name of ['canary-0', 'canary-1', 'canary-2', 'canary-3', 'canary-4'])
    rmSync(join('/tmp', name), { force: true });
  rmSync(root, { recursive: true });
});

test('without walls everything is written to, seen, and told apart from nothing', async () => {
  const [file, directory] = [join(root, 'file'), join(root, 'directory')];
  writeFileSync(file, 'x');
  mkdirSync(directory);
  const found = await attempt(
    open,
    writer,
    [],
    { forbidden: [file, directory], hidden: [file], allowed: [directory, join(root, 'none')] },
    SIGNAL,
  );
  expect(found).toMatchObject({
    written: [file, directory],
    seen: [file],
    refused: [join(root, 'none')],
    variables: ['SSH_AUTH_SOCK'],
  });
  expect(found?.namespaces['mnt']).toBe(readlinkSync('/proc/self/ns/mnt'));
});

describe('held', () => {
  const apart = Object.fromEntries(['mnt', 'pid', 'user', 'ipc', 'uts', 'net'].map((kind) => [kind, `${kind}:[1]`]));
  const good: Attempted = { written: [], seen: [], refused: [], variables: [], namespaces: apart };
  test.each<[string, Partial<Attempted>, boolean]>([
    ['nothing wrong', {}, true],
    ['one write', { written: ['/x'] }, false],
    ['one sight', { seen: ['/x'] }, false],
    ['a workspace that cannot be written', { refused: ['/work'] }, false],
    ['a variable', { variables: ['GITHUB_TOKEN'] }, false],
    ['a namespace of the host', { namespaces: { ...apart, net: readlinkSync('/proc/self/ns/net') } }, false],
    ['a namespace that nobody told of', { namespaces: { ...apart, pid: undefined as never } }, false],
  ])('%s', (_what, more, expected) => expect(held({ ...good, ...more })).toBe(expected));
});

describe('the control', () => {
  const control = (boundary = open) => controlIsolation({ home: root, boundary, writer, mounts: [] }, SIGNAL);
  const nest = () => join(root, '.pi-session-mcp-canary-shop-1');

  test('fails where there are no walls, and leaves no canary', async () => {
    expect(await control()).toBe(false);
    expect(stateOf([nest()])).toBe(stateOf([nest()]));
    expect(spawnSync('ls', ['-A', root]).stdout.toString()).not.toContain('canary-shop-1');
  });
  test('clears what an interrupted one has left, and nothing of anybody else’s', async () => {
    const blind: WriterBoundary = { ...open, capture: async () => ({ kind: 'not_started' }) };
    mkdirSync(nest());
    writeFileSync(join(nest(), 'canary'), 'mine');
    expect(await control(blind)).toBe(false);
    expect(spawnSync('cat', [join(nest(), 'canary')]).stdout.toString()).toBe('mine');
    writeFileSync(join(nest(), 'canary'), 'pi-session-mcp canary: may be deleted\nx');
    await control(blind);
    expect(spawnSync('ls', ['-A', root]).stdout.toString()).toBe('');
  });
});

test('a state is another one as soon as bytes, modes, names or links are', () => {
  const file = join(root, 'file');
  const seen = new Set([stateOf([file])]);
  for (const act of [
    () => writeFileSync(file, 'one', { mode: 0o600 }),
    () => writeFileSync(file, 'two'),
    () => spawnSync('chmod', ['700', file]),
    () => spawnSync('ln', ['-sf', '/nowhere', file]),
    () => spawnSync('sh', ['-c', 'rm "$1"; mkdir "$1"', 'sh', file]),
    () => writeFileSync(join(file, 'in'), ''),
  ]) {
    const before = seen.size;
    act();
    seen.add(stateOf([file]));
    expect(seen.size).toBe(before + 1);
  }
});
