import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCodingAdmission } from '../../src/adapters/git/local-status.ts';
import { clearStale, dropHold, takeHold } from '../../src/writers/hold.ts';
import { placesOf, type WriterPlaces } from '../../src/writers/places.ts';

let root: string;
let places: WriterPlaces;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hold-'));
  places = placesOf(root, 'shop-1');
  for (const path of [places.server, join(places.clone, 'git')]) mkdirSync(path, { recursive: true, mode: 0o700 });
});
afterEach(() => rmSync(root, { recursive: true }));

const server = () => {
  const { baseline, hold, mark } = places;
  return createCodingAdmission({ workTree: root, baseline, hold, mark });
};

test('whoever comes first has it, and the other one gives way without a trace', () => {
  const contained = server();
  expect(contained.enter()).toBe(true);
  expect(takeHold(places)).toBe(false);
  expect(existsSync(places.hold)).toBe(false);
  contained.leave();
  expect(takeHold(places)).toBe(true);
  expect(contained.enter()).toBe(false);
  expect(existsSync(places.mark)).toBe(false);
  dropHold(places);
  expect(contained.enter()).toBe(true);
});

test('a mark that leads nowhere is a mark, and only the writer is kept waiting', () => {
  symlinkSync('/nowhere', places.mark);
  expect(takeHold(places)).toBe(false);
});

test('a launcher clears what the dead have left, and not the hold of a living setup', () => {
  expect(takeHold(places)).toBe(true);
  mkdirSync(join(places.mark, 'deep'), { recursive: true });
  clearStale(places);
  expect(existsSync(places.hold)).toBe(true);
  expect(existsSync(places.mark)).toBe(false);
  const { owner } = JSON.parse(readFileSync(places.hold, 'utf8')) as { owner: string };
  const dead = owner.replace(/\d+(?=\D*$)/, '1');
  writeFileSync(places.hold, JSON.stringify({ owner: dead }), { mode: 0o600 });
  clearStale(places);
  expect(existsSync(places.hold)).toBe(false);
});

test('nobody writes where no baseline can be read', async () => expect(await server().isAtBaseline()).toBe(false));
