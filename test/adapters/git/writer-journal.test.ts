import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createWriterJournal, writerName } from '../../../src/adapters/git/writer-journal.ts';

function open() {
  const place = mkdtempSync(join(tmpdir(), 'journal-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const directory = join(place, 'shop-1');
  return { directory, file: join(directory, 'state.json'), journal: createWriterJournal(directory, 'shop-1') };
}

test('a phase is there from its record until it is forgotten', async () => {
  const { directory, file, journal } = open();
  expect(await journal.read()).toEqual({ ok: true, phase: null });
  for (const phase of ['cloning', 'ready'] as const) {
    expect(await journal.record(phase)).toEqual({ ok: true });
    expect(await journal.read()).toEqual({ ok: true, phase });
  }
  expect([statSync(directory).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
  expect(await journal.forget()).toEqual({ ok: true });
  expect(existsSync(directory)).toBe(false);
  expect(await journal.forget()).toEqual({ ok: true });
});

test('what an interrupted write left is no phase, and the next write takes its place', async () => {
  const { directory, journal } = open();
  mkdirSync(directory, { mode: 0o700 });
  writeFileSync(join(directory, 'state.json.new'), '{"sch');
  expect(await journal.read()).toEqual({ ok: true, phase: null });
  expect(await journal.record('cloning')).toEqual({ ok: true });
  expect(await journal.read()).toEqual({ ok: true, phase: 'cloning' });
});

test('a journal does not go while something is left beside it', async () => {
  const { directory, journal } = open();
  await journal.record('removing');
  mkdirSync(join(directory, 'clone'));
  expect(await journal.forget()).toEqual({ ok: false });
  expect(await journal.read()).toEqual({ ok: true, phase: 'removing' });
});

const GOOD = { schemaVersion: 1, name: 'shop-1', phase: 'ready' };
test.each<[string, string]>([
  ['no JSON', '{'],
  ['no object', '"ready"'],
  ['another version', JSON.stringify({ ...GOOD, schemaVersion: 2 })],
  ['another writer', JSON.stringify({ ...GOOD, name: 'shop-2' })],
  ['an unknown phase', JSON.stringify({ ...GOOD, phase: 'toString' })],
  ['a field too many', JSON.stringify({ ...GOOD, more: 1 })],
  ['too much', JSON.stringify(GOOD) + ' '.repeat(5000)],
])('%s is unreadable', async (_, text) => {
  const { directory, file, journal } = open();
  mkdirSync(directory, { mode: 0o700 });
  writeFileSync(file, JSON.stringify(GOOD));
  expect(await journal.read()).toEqual({ ok: true, phase: 'ready' });
  writeFileSync(file, text);
  expect(await journal.read()).toEqual({ ok: false });
});

test('so is a link, a directory, one that others may enter, and a clone without a journal', async () => {
  const { directory, file, journal } = open();
  mkdirSync(directory, { mode: 0o700 });
  writeFileSync(join(directory, 'elsewhere'), JSON.stringify(GOOD));
  expect(await journal.read()).toEqual({ ok: false });
  symlinkSync('elsewhere', file);
  expect(await journal.read()).toEqual({ ok: false });
  rmSync(file);
  mkdirSync(file);
  expect(await journal.read()).toEqual({ ok: false });
  rmSync(file, { recursive: true });
  writeFileSync(file, JSON.stringify(GOOD));
  expect(await journal.read()).toEqual({ ok: true, phase: 'ready' });
  chmodSync(directory, 0o755);
  expect(await journal.read()).toEqual({ ok: false });
});

test.each([
  ['shop', 1, 'shop-1'],
  ['shop', 16, 'shop-16'],
  ['shop', 17, undefined],
  ['shop', 0, undefined],
  ['../x', 1, undefined],
  ['-x', 1, undefined],
  ['', 1, undefined],
  ['a'.repeat(65), 1, undefined],
  ['Shop', 1, undefined],
])('the name of %s and %s is %s', (alias, index, name) => {
  expect(writerName(alias, index)).toBe(name);
});
