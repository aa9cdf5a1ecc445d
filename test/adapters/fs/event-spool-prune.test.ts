import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pruneWriterEvents } from '../../../src/adapters/fs/event-spool-prune.ts';

const NOW = 1_800_000_000_000;
const DAY_S = 86_400;
const LIVE = `7-100-4026531836-${'a'.repeat(32)}`;
const OLD = `8-100-4026531836-${'a'.repeat(32)}`;

let root = '';
let events = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'prune-'));
  events = join(root, 'events');
  mkdirSync(join(events, LIVE), { recursive: true });
  writeFileSync(join(events, LIVE, 'event.json'), '{}');
  utimesSync(join(events, LIVE), NOW / 1000 - DAY_S + 60, NOW / 1000 - DAY_S + 60);
});
afterEach(() => rmSync(root, { recursive: true }));

const left = () => readdirSync(events).sort();

test('a server that was seen within a day keeps its directory, an older one does not', () => {
  mkdirSync(join(events, OLD, 'deep', 'er'), { recursive: true });
  utimesSync(join(events, OLD), NOW / 1000 - DAY_S - 60, NOW / 1000 - DAY_S - 60);
  pruneWriterEvents(events, NOW);
  expect(left()).toEqual([LIVE]);
  expect(readdirSync(join(events, LIVE))).toEqual(['event.json']);
});

test('whatever is no directory of a server goes, and nothing behind a link', () => {
  const outside = join(root, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'precious'), 'x');
  mkdirSync(join(events, 'planted', 'tree'), { recursive: true });
  symlinkSync(outside, join(events, 'planted', 'link'));
  utimesSync(join(events, 'planted'), NOW / 1000, NOW / 1000);
  symlinkSync(outside, join(events, 'link'));
  symlinkSync(outside, join(events, OLD));
  writeFileSync(join(events, 'file'), 'x');
  writeFileSync(join(events, LIVE.replace('7', '9')), 'a file with the name of a server');
  execFileSync('mkfifo', [join(events, 'pipe')]);
  pruneWriterEvents(events, NOW);
  expect(left()).toEqual([LIVE]);
  expect(readdirSync(outside)).toEqual(['precious']);
});

test('a directory that is a link itself is left alone', () => {
  const outside = join(root, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'precious'), 'x');
  rmSync(events, { recursive: true });
  symlinkSync(outside, events);
  pruneWriterEvents(events, NOW);
  expect(existsSync(join(outside, 'precious'))).toBe(true);
});

test('none there is nothing to do', () => {
  rmSync(events, { recursive: true });
  expect(() => pruneWriterEvents(events, NOW)).not.toThrow();
});

test('a flood is taken in steps', () => {
  for (let index = 0; index < 10_050; index += 1) writeFileSync(join(events, `x${index}`), '');
  pruneWriterEvents(events, NOW);
  expect(left().length).toBeGreaterThan(1);
  pruneWriterEvents(events, NOW);
  expect(left()).toEqual([LIVE]);
});
