/** The reading side in a hostile spool: at worst one wake too many for this very turn, or none. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventText } from '../../../src/adapters/fs/event-spool.ts';
import { instanceName, ownInstance, STALE_AFTER_MS } from '../../../src/adapters/fs/event-spool-instance.ts';
import { entriesOf } from '../../../src/adapters/fs/event-spool-place.ts';
import { createSpoolReader } from '../../../src/adapters/fs/event-spool-reader.ts';
import { startTimeOf } from '../../../src/adapters/process/process-table.ts';
import { until } from '../../e2e/kit/until.ts';
import { forge, type Lab, openLab, TARGET, TURN, turnOf } from './event-spool-lab.ts';

const OTHER = 'bbbbbbbb-cccc-4ddd-8eee-ffffffffffff';
const own = ownInstance(startTimeOf);

describe('finds', () => {
  test.each([
    ['beside the runtime directory', false],
    ['below the home', true],
  ])('an event %s', async (_, withoutRuntime) => {
    const { spool, reader, home, runtime, options } = openLab({ withoutRuntime });
    expect(await reader.look(TARGET)).toBe('deserted');
    await spool.open();
    expect(await reader.look(TARGET)).toBe('absent');
    await spool.write(turnOf({ state: 'failed' }));
    expect(await reader.look(TARGET)).toBe('found');
    // The hook knows the runtime directory even when the client kept it from the server.
    const informed = createSpoolReader({ ...options, env: { XDG_RUNTIME_DIR: runtime }, home });
    expect(await informed.look(TARGET)).toBe('found');
    await spool.close();
    expect(await reader.look(TARGET)).toBe('deserted');
  });

  test('an event of a writer, whose container counts its processes by itself', async () => {
    const { state, reader, time } = openLab();
    const instance = instanceName({ ...own, pid: 1, namespace: '4026531999' });
    const directory = join(state, 'writers', 'psm-alpha', 'events', instance);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    expect(await reader.look(TARGET)).toBe('absent');
    forge(join(directory, `${TURN}.json`));
    expect(await reader.look(TARGET)).toBe('found');
    time.now += STALE_AFTER_MS + 60_000;
    expect(await reader.look(TARGET)).toBe('deserted');
  });

  test('nothing of a server that has died', async () => {
    const { place, spool, reader } = openLab();
    await spool.open();
    await spool.close();
    const directory = join(place, instanceName({ ...own, started: '1' }));
    mkdirSync(directory, { mode: 0o700 });
    forge(join(directory, `${TURN}.json`));
    expect(await reader.look(TARGET)).toBe('deserted');
  });
});

describe('tells of changes', () => {
  test('in the place and in the directories of its servers', async () => {
    const { spool, reader } = openLab();
    await spool.open();
    let changes = 0;
    const end = reader.watch(() => {
      changes += 1;
    });
    // The watch begins when the directories have been looked up; until then a change goes untold.
    let turns = 0;
    await until('a change was told', async () => {
      await spool.write(turnOf({ turnId: `${String(turns++).padStart(8, '0')}${TURN.slice(8)}` }));
      return changes > 0;
    });
    end();
  });

  test('and not any more when it was ended before it began', async () => {
    const { spool, reader } = openLab();
    await spool.open();
    reader.watch(() => expect.unreachable())();
    await spool.write(turnOf());
    expect(await reader.look(TARGET)).toBe('found');
  });
});

/** What a worker may do to its spool. Afterwards no event of the turn may be believed. */
const HOSTILE: readonly (readonly [string, (path: string, lab: Lab) => void])[] = [
  ['a link to an event elsewhere', (path, { root }) => symlinkSync(forge(join(root, 'e')), path)],
  ['a second name of a file elsewhere', (path, { root }) => linkSync(forge(join(root, 'e')), path)],
  ['a link to nowhere', (path) => symlinkSync('/nowhere/at/all', path)],
  ['a link to itself', (path) => symlinkSync(path, path)],
  ['a link to a device', (path) => symlinkSync('/dev/zero', path)],
  ['a FIFO', (path) => execFileSync('mkfifo', ['-m', '600', path])],
  ['a directory', (path) => mkdirSync(path, { mode: 0o700 })],
  ['an empty file', (path) => forge(path, '')],
  ['half of it', (path) => forge(path, eventText(turnOf()).slice(0, 60))],
  ['more than 4 KiB', (path) => forge(path, eventText(turnOf()) + ' '.repeat(4_096))],
  ['a terabyte of nothing', (path) => truncateSync(forge(path), 2 ** 40)],
  ['something that is not JSON', (path) => forge(path, 'ended!')],
  ['deep nesting', (path) => forge(path, '['.repeat(4_000))],
  ['null', (path) => forge(path, 'null')],
  ['an array', (path) => forge(path, '[1]')],
  ['a turn of another session', (path) => forge(path, eventText(turnOf({ sessionId: OTHER })))],
  ['another turn', (path) => forge(path, eventText(turnOf({ turnId: OTHER })))],
  ['a turn that runs', (path) => forge(path, eventText(turnOf({ state: 'running' as 'failed' })))],
  ['a later version', (path) => forge(path, eventText(turnOf()).replace('"schemaVersion":1', '"schemaVersion":2'))],
  ['one field more', (path) => forge(path, eventText(turnOf()).replace('{', '{"message":"obey",'))],
  ['one field less', (path) => forge(path, eventText(turnOf()).replace('"state":"completed",', ''))],
  ['a time that is none', (path) => forge(path, eventText(turnOf()).replace('2026', 'never'))],
  ['a file that others can read', (path) => chmodSync(forge(path), 0o644)],
  ['a file that others can write', (path) => chmodSync(forge(path), 0o602)],
];

describe('is not deceived by', () => {
  test.each(HOSTILE)('%s', async (_, make) => {
    const lab = openLab();
    await lab.spool.open();
    make(join(lab.instance, `${TURN}.json`), lab);
    expect(await lab.reader.look(TARGET)).toBe('absent');
  });

  const mayChown = process.getuid?.() === 0;
  if (!mayChown) console.warn('SKIPPED, foreign owners in the spool: only root can make files of others');
  test.runIf(mayChown)('an event or a directory of somebody else', async () => {
    const { spool, reader, instance } = openLab();
    await spool.write(turnOf());
    chownSync(join(instance, `${TURN}.json`), 12_345, 12_345);
    expect(await reader.look(TARGET)).toBe('absent');
    chownSync(join(instance, `${TURN}.json`), 0, 0);
    expect(await reader.look(TARGET)).toBe('found');
    chownSync(instance, 12_345, 12_345);
    expect(await reader.look(TARGET)).toBe('absent');
  });

  test('a directory that was swapped for a link, or is open to others', async () => {
    const { spool, reader, instance, root } = openLab();
    await spool.write(turnOf());
    renameSync(instance, join(root, 'moved'));
    symlinkSync(join(root, 'moved'), instance);
    expect(await reader.look(TARGET)).toBe('absent');
    rmSync(instance);
    renameSync(join(root, 'moved'), instance);
    expect(await reader.look(TARGET)).toBe('found');
    chmodSync(instance, 0o750);
    expect(await reader.look(TARGET)).toBe('absent');
  });

  test('a whole spool or a writer that is a link or open to others', async () => {
    const { state, reader, root } = openLab();
    const instance = instanceName({ ...own, namespace: '7' });
    const outside = join(root, 'outside');
    mkdirSync(join(outside, instance), { recursive: true, mode: 0o700 });
    chmodSync(outside, 0o700);
    forge(join(outside, instance, `${TURN}.json`));
    const writer = join(state, 'writers', 'psm-alpha');
    mkdirSync(writer, { recursive: true, mode: 0o700 });
    symlinkSync(outside, join(writer, 'events'));
    expect(await reader.look(TARGET)).toBe('deserted');
    rmSync(join(writer, 'events'));
    renameSync(outside, join(writer, 'events'));
    expect(await reader.look(TARGET)).toBe('found');
    chmodSync(join(writer, 'events'), 0o770);
    expect(await reader.look(TARGET)).toBe('deserted');
  });

  test.each(['-1-1-1-0', '1-1-1', '0-1-1-0', `${'9'.repeat(99)}-1-1-0`, 'x1-1-1-0', '1-1-1-0\n'])(
    'a directory called %j, which is no server’s',
    async (name) => {
      const { spool, place, instance, reader } = openLab();
      await spool.write(turnOf());
      renameSync(instance, join(place, name));
      expect(await reader.look(TARGET)).toBe('deserted');
    },
  );
});

test('of a flood of servers and events only a part is looked at', async () => {
  const { state, reader } = openLab();
  const events = join(state, 'writers', 'psm-flood', 'events');
  mkdirSync(events, { recursive: true, mode: 0o700 });
  for (let index = 1; index <= 600; index += 1) {
    mkdirSync(join(events, instanceName({ ...own, namespace: String(index) })), { mode: 0o700 });
  }
  const flooded = join(events, instanceName({ ...own, namespace: '1' }));
  for (let index = 0; index < 600; index += 1) writeFileSync(join(flooded, `${index}.json`), 'x', { mode: 0o600 });
  expect(await entriesOf(events, 256)).toHaveLength(256);
  expect(await reader.look(TARGET)).toBe('absent');
});
