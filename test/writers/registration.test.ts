import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Inspection, RegistrationClient } from '../../src/ports/setup/registration.ts';
import { placesOf, type WriterPlaces } from '../../src/writers/places.ts';
import {
  type ClientOf,
  consult,
  type RegisteredWriter,
  readRegistration,
  register,
  unregister,
} from '../../src/writers/registration.ts';

const SIGNAL = new AbortController().signal;
const wanted: RegisteredWriter = {
  target: { client: 'codex', scope: 'user' },
  project: '/home/me',
  entry: { command: '/node', args: ['/writer.js', '/state/shop-1'], env: {} },
};
const elsewhere: RegisteredWriter = { ...wanted, target: { client: 'claude-code', scope: 'user' } };

let root: string;
let places: WriterPlaces;
/** `client entry` → what the client holds under the writer's name. */
let held: Map<string, string>;
let calls: string[];
/** The record when the client was first asked to change something. */
let recordedBefore: boolean | undefined;
let breaks: Partial<Record<'add' | 'remove', 'failed' | 'retained'>>;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'registration-'));
  places = placesOf(root, 'shop-1');
  mkdirSync(places.directory);
  held = new Map();
  calls = [];
  recordedBefore = undefined;
  breaks = {};
});
afterEach(() => rmSync(root, { recursive: true }));

const clientOf: ClientOf = ({ target, entry }, alias): RegistrationClient => {
  const key = `${target.client}:${target.scope}:${alias}`;
  const text = JSON.stringify(entry);
  const change = (verb: 'add' | 'remove', act: () => void) => async () => {
    calls.push(`${verb} ${key}`);
    recordedBefore ??= existsSync(places.registration);
    if (!breaks[verb]) act();
    return breaks[verb] ?? 'ended';
  };
  return {
    inspect: async (): Promise<Inspection> => {
      const found = held.get(key);
      return found === undefined ? 'absent' : found === text ? 'equivalent' : 'divergent';
    },
    add: change('add', () => held.set(key, text)),
    remove: change('remove', () => held.delete(key)),
  };
};
const add = (what = wanted) => register(places, what, clientOf, existsSync, SIGNAL);
const takeBack = () => unregister(places, clientOf, existsSync, SIGNAL);
const KEY = 'codex:user:shop-1';

describe('registering', () => {
  test('is written down first, then asked for, under the writer’s name', async () => {
    expect(await add()).toBe(true);
    expect(recordedBefore).toBe(true);
    expect(calls).toEqual([`add ${KEY}`]);
    expect(readRegistration(places, existsSync)).toEqual({ kind: 'known', registered: wanted });
  });
  test('again is nothing to do', async () => {
    await add();
    expect(await add()).toBe(true);
    expect(calls).toHaveLength(1);
  });
  test('again what the client has lost, from another Node too', async () => {
    await add();
    held.clear();
    const moved = { ...wanted, entry: { ...wanted.entry, command: '/other/node' } };
    expect(await add(moved)).toBe(true);
    expect(calls).toEqual([`add ${KEY}`, `add ${KEY}`]);
    expect(readRegistration(places, existsSync)).toEqual({ kind: 'known', registered: moved });
  });
  test('never replaces another entry', async () => {
    held.set(KEY, 'somebody else');
    expect(await add()).toBe(false);
    expect(calls).toEqual([]);
  });
  test.each(['failed', 'retained'] as const)('a client that answers %s has not registered it', async (how) => {
    breaks.add = how;
    expect(await add()).toBe(false);
  });
  test('with another client takes the first one back', async () => {
    await add(elsewhere);
    expect(await add()).toBe(true);
    expect([...held.keys()]).toEqual([KEY]);
  });
  test('a record that cannot be read stops it', async () => {
    writeFileSync(places.registration, '{}', { mode: 0o600 });
    expect(await add()).toBe(false);
    expect(calls).toEqual([]);
  });
});

describe('asking', () => {
  const ask = () => consult(places, clientOf, existsSync, SIGNAL);
  test.each<[string, string, () => void]>([
    ['present', 'it is there', () => {}],
    ['absent', 'it was lost', () => held.clear()],
    ['absent', 'nobody was ever asked', () => rmSync(places.registration)],
    ['unknown', 'it was changed', () => held.set(KEY, 'edited')],
    ['unknown', 'its record cannot be read', () => writeFileSync(places.registration, '{}', { mode: 0o600 })],
  ])('says %s when %s, and changes nothing', async (said, _, change) => {
    await add();
    change();
    const before = [[...held], calls.length];
    expect(await ask()).toBe(said);
    expect([[...held], calls.length]).toEqual(before);
  });
});

describe('taking back', () => {
  test('what was never asked for is nothing to do', async () => {
    held.set(KEY, 'somebody else');
    expect(await takeBack()).toBe(true);
    expect(calls).toEqual([]);
  });
  test('removes the entry, and is done when it is gone already', async () => {
    await add();
    expect(await takeBack()).toBe(true);
    expect(await takeBack()).toBe(true);
    expect(held.size).toBe(0);
    expect(calls).toEqual([`add ${KEY}`, `remove ${KEY}`]);
  });
  test('leaves an entry that was changed', async () => {
    await add();
    held.set(KEY, 'edited');
    expect(await takeBack()).toBe(false);
    expect(held.get(KEY)).toBe('edited');
  });
  test('believes the look, not the client', async () => {
    await add();
    breaks.remove = 'failed';
    expect(await takeBack()).toBe(false);
  });
});
