import { chmodSync, linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownershipStore } from '../../../src/adapters/fs/ownership-store.ts';
import { ensurePrivateDirectory } from '../../../src/adapters/fs/private-directory.ts';
import { REGISTRATION, SKILL } from '../../contracts/setup-records.ts';
import { litter, modeOf, picture, scratch, write } from './lab.ts';
import { failingAt, intercepted, killedAt } from './system-calls.ts';

const OK = { ok: true };
const FAILED = { ok: false };
const ENOUGH = 50;

function stageOf() {
  const home = join(scratch(), 'home');
  mkdirSync(home);
  const directory = join(home, '.local', 'state', 'pi-session-mcp');
  return { home, directory, file: join(directory, 'ownership.json'), store: ownershipStore(directory) };
}

async function withRecord() {
  const stage = stageOf();
  expect(await stage.store.put(REGISTRATION)).toEqual(OK);
  return stage;
}

describe('the state file', () => {
  it('is made for its owner alone, with every directory on the way, whatever the umask says', async () => {
    const { home, store } = stageOf();
    const before = process.umask(0);
    await store.put(REGISTRATION).finally(() => process.umask(before));
    const modes = Object.entries(picture(home)).map(([path, what]) => [path, what.split(' ', 2).join(' ')]);
    expect(Object.fromEntries(modes)).toMatchObject({
      './.local': 'directory 700',
      './.local/state': 'directory 700',
      './.local/state/pi-session-mcp': 'directory 700',
      './.local/state/pi-session-mcp/ownership.json': 'file 600',
    });
  });

  it('is made by the first record, not by looking or dropping', async () => {
    const { home, store } = stageOf();
    await store.read();
    await store.drop(REGISTRATION);
    expect(picture(home)).toEqual({ '.': expect.any(String) });
  });

  it('holds the records and nothing else', async () => {
    const { file, store } = await withRecord();
    await store.put(SKILL);
    const text = picture(file)['.'] ?? '';
    expect(JSON.parse(text.slice(text.indexOf('{')))).toEqual({ schemaVersion: 1, records: [REGISTRATION, SKILL] });
  });

  it('is not written with a record that could not be read again', async () => {
    const { home, store } = await withRecord();
    const before = picture(home);
    expect(await store.put({ ...SKILL, scope: 'local' })).toEqual(FAILED);
    expect(await store.put({ ...REGISTRATION, fingerprint: '/home/me' })).toEqual(FAILED);
    expect(picture(home)).toEqual(before);
  });

  it('is synced before it gets its name, and the name after', async () => {
    const { store } = await withRecord();
    const calls: string[] = [];
    await intercepted(
      (name, _args, run) => {
        calls.push(name);
        return run();
      },
      () => store.put(SKILL),
    );
    expect(calls).toEqual(['openSync', 'writeSync', 'fchmodSync', 'fsyncSync', 'renameSync', 'fsyncSync']);
  });
});

type Spoil = readonly [name: string, spoil: (file: string, directory: string) => unknown];

const good = (file: string): string => join(file, '..', '..', 'moved.json');
const moveTo = (file: string): string => {
  linkSync(file, good(file));
  rmSync(file);
  return good(file);
};

const SPOILED: readonly Spoil[] = [
  ['empty', (file) => writeFileSync(file, '')],
  ['cut off', (file) => writeFileSync(file, '{"schemaVersion":1,"rec')],
  ['too large', (file) => writeFileSync(file, ' '.repeat(70_000))],
  ['a link to a good file', (file) => symlinkSync(moveTo(file), file)],
  ['a link to nowhere', (file) => rmSync(file) ?? symlinkSync('nowhere', file)],
  ['hard-linked', (file) => linkSync(file, good(file))],
  ['a directory', (file) => rmSync(file) ?? mkdirSync(file)],
  ['readable for its group', (file) => chmodSync(file, 0o640)],
  ['writable for others', (file) => chmodSync(file, 0o602)],
  ['in a directory that others may enter', (_file, directory) => chmodSync(directory, 0o755)],
  ['in a directory that its group may list', (_file, directory) => chmodSync(directory, 0o740)],
];

describe('a state file that is not to be trusted', () => {
  it.each(SPOILED)('is left as it is: %s', async (_name, spoil) => {
    const { home, directory, file, store } = await withRecord();
    spoil(file, directory);
    const before = picture(home);
    expect(await store.read()).toEqual(FAILED);
    expect(await store.put(SKILL)).toEqual(FAILED);
    expect(await store.drop(REGISTRATION)).toEqual(FAILED);
    expect(picture(home)).toEqual(before);
  });

  it.each<[string, (directory: string) => unknown]>([
    ['is a link', (directory) => symlinkSync(write(join(directory, '..', 'other'), {}), directory)],
    ['is a file', (directory) => writeFileSync(directory, '')],
    ['is a link to nowhere', (directory) => symlinkSync('nowhere', directory)],
  ])('is not written where the directory %s', async (_name, make) => {
    const { home, directory, store } = stageOf();
    write(join(directory, '..'), {});
    make(directory);
    const before = picture(home);
    expect([await store.read(), await store.put(REGISTRATION)]).toEqual([FAILED, FAILED]);
    expect(ensurePrivateDirectory(directory)).toBe(false);
    expect(picture(home)).toEqual(before);
  });

  it('may lie behind links of the operator further up', async () => {
    const { home, store } = stageOf();
    write(join(home, 'elsewhere'), {});
    symlinkSync('elsewhere', join(home, '.local'));
    expect(await store.put(REGISTRATION)).toEqual(OK);
    expect(modeOf(join(home, 'elsewhere', 'state', 'pi-session-mcp'))).toBe('700');
  });
});

describe('a write', () => {
  it('that fails at any call leaves the old file and no temporary', async () => {
    for (const call of ['openSync', 'writeSync', 'fchmodSync', 'fsyncSync', 'renameSync'] as const) {
      for (let at = 0; at < ENOUGH; at += 1) {
        const { home, store } = await withRecord();
        const before = picture(home);
        const { result, failed } = await failingAt(call, at, 'ENOSPC', () => store.put(SKILL));
        expect(result).toEqual({ ok: !failed });
        expect(litter(home)).toEqual([]);
        if (!failed) break;
        // Once it has its name, it is there; only its durability is in doubt.
        if (call !== 'fsyncSync' || at === 0) expect(picture(home)).toEqual(before);
      }
    }
  });

  it('the first one of all, makes no directory when it cannot make them all', async () => {
    for (const at of [0, 1, 2]) {
      const { home, store } = stageOf();
      const { result } = await failingAt('mkdirSync', at, 'ENOSPC', () => store.put(REGISTRATION));
      expect([result, picture(home)]).toEqual([FAILED, { '.': expect.any(String) }]);
    }
  });

  it('that was killed anywhere left the old records or the new ones, and the next write clears up', async () => {
    let died = 0;
    for (let at = 0; at < ENOUGH; at += 1) {
      const { home, store } = await withRecord();
      if (!(await killedAt(at, () => store.put(SKILL)))) break;
      died += 1;
      const read = await store.read();
      expect([[REGISTRATION], [REGISTRATION, SKILL]]).toContainEqual(read.ok && read.records);
      expect(await store.put(SKILL)).toEqual(OK);
      expect(litter(home)).toEqual([]);
    }
    expect(died).toBe(6);
  });

  it('clears up temporaries with exactly its own names', async () => {
    const { directory, store } = await withRecord();
    const name = `ownership.json.tmp-${'a'.repeat(32)}`;
    const mine = [
      `${name}0`,
      `x${name}`,
      `ownership.json.tmp-${'A'.repeat(32)}`,
      'ownership.json.flock',
      'ownership.json.bak',
    ];
    write(directory, Object.fromEntries([name, ...mine].map((path) => [path, ''])));
    mkdirSync(join(directory, `ownership.json.tmp-${'b'.repeat(32)}`));
    symlinkSync('ownership.json', join(directory, `ownership.json.tmp-${'c'.repeat(32)}`));
    const before = picture(directory);
    await store.put(REGISTRATION);
    const { [`./${name}`]: _gone, ...others } = before;
    expect(picture(directory)).toEqual(others);
  });
});
