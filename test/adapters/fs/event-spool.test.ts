/** The writing side: a private directory, whole files, bounds, and an end without leftovers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { EVENT_LIFETIME_MS, MAX_EVENTS } from '../../../src/adapters/fs/event-spool.ts';
import { instanceName, ownInstance, STALE_AFTER_MS } from '../../../src/adapters/fs/event-spool-instance.ts';
import { startTimeOf } from '../../../src/adapters/process/process-table.ts';
import { namesIn, openLab, SESSION, TURN, turnOf } from './event-spool-lab.ts';

const WRITER = fileURLToPath(new URL('fixtures/write-event.ts', import.meta.url));
const DONE = { ok: true };
const FAILED = { ok: false };
const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8);
const manyIds = (count: number) =>
  Array.from({ length: count }, (_, index) => `${String(index).padStart(8, '0')}${TURN.slice(8)}`);

describe('an event', () => {
  test('is ids and a state, in a file of its own, private all the way down', async () => {
    const { spool, instance, place } = openLab();
    expect(await spool.open()).toEqual(DONE);
    expect(await spool.write(turnOf())).toEqual(DONE);
    expect(namesIn(instance)).toEqual([`${TURN}.json`]);
    expect(JSON.parse(readFileSync(join(instance, `${TURN}.json`), 'utf8'))).toEqual({
      schemaVersion: 1,
      sessionId: SESSION,
      turnId: TURN,
      state: 'completed',
      at: '2026-01-01T00:00:00.000Z',
    });
    expect([place, instance, join(instance, `${TURN}.json`)].map(modeOf)).toEqual(['700', '700', '600']);
  });

  test('goes to the state directory when the runtime directory is not told', async () => {
    const { spool, instance, state } = openLab({ withoutRuntime: true });
    await spool.write(turnOf());
    expect(namesIn(instance)).toHaveLength(1);
    expect(modeOf(state)).toBe('700');
  });

  test('is written although somebody has removed the directory', async () => {
    const { spool, instance, place } = openLab();
    await spool.open();
    rmSync(place, { recursive: true });
    expect(await spool.write(turnOf())).toEqual(DONE);
    expect(namesIn(instance)).toHaveLength(1);
  });

  test('that cannot be written leaves nothing behind and throws nothing', async () => {
    const { spool, instance } = openLab();
    await spool.open();
    mkdirSync(join(instance, `${TURN}.json`));
    expect(await spool.write(turnOf())).toEqual(FAILED);
    expect(namesIn(instance)).toEqual([`${TURN}.json`]);
  });

  test('that a full disk cuts short is no event', async () => {
    const { place, runtime, home } = openLab();
    // No file may grow any more: what a full disk does, for one process.
    const child = spawn('/bin/sh', ['-c', `trap '' XFSZ; ulimit -f 0; exec "$0" "$1"`, process.execPath, WRITER], {
      env: { XDG_RUNTIME_DIR: runtime, HOME: home, TURN: JSON.stringify(turnOf()) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const outcome = once(child.stdout, 'data').then(([text]) => JSON.parse(String(text)));
    await once(child, 'close');
    expect(await outcome).toEqual({ opened: DONE, written: FAILED });
    expect(namesIn(place).flatMap((name) => namesIn(join(place, name)))).toEqual([]);
  });
});

describe('bounds', () => {
  test('the oldest goes when there are too many', async () => {
    const { spool, instance } = openLab();
    const ids = manyIds(MAX_EVENTS + 3);
    for (const turnId of ids) await spool.write(turnOf({ turnId }));
    expect(namesIn(instance)).toEqual(ids.slice(3).map((id) => `${id}.json`));
  });

  test('what is too old goes with the next sweep, and nothing else', async () => {
    const { spool, instance, time } = openLab();
    const [old = '', young = ''] = manyIds(2);
    await spool.write(turnOf({ turnId: old, at: time.now - EVENT_LIFETIME_MS - 1 }));
    await spool.write(turnOf({ turnId: young, at: time.now - EVENT_LIFETIME_MS }));
    expect(await spool.sweep()).toEqual(DONE);
    expect(namesIn(instance)).toEqual([`${young}.json`]);
  });

  test('a sweep shows that the server lives, and makes nothing where nothing was', async () => {
    const { spool, instance, place, time } = openLab();
    expect(await spool.sweep()).toEqual(DONE);
    expect(namesIn(place)).toEqual([]);
    await spool.open();
    utimesSync(instance, 0, 0);
    expect(await spool.sweep()).toEqual(DONE);
    expect(lstatSync(instance).mtimeMs).toBeCloseTo(time.now, -2);
    rmSync(instance, { recursive: true });
    expect(await spool.sweep()).toEqual(FAILED);
    expect(await spool.write(turnOf())).toEqual(DONE);
  });

  test('a closed session takes its events along, and no others', async () => {
    const { spool, instance } = openLab();
    const [one = '', two = ''] = manyIds(2);
    await spool.write(turnOf({ turnId: one }));
    await spool.write(turnOf({ turnId: two, sessionId: 'other' }));
    expect(await spool.forget(SESSION)).toEqual(DONE);
    expect(namesIn(instance)).toEqual([`${two}.json`]);
  });

  test('at the end nothing is left but the place', async () => {
    const { spool, place, instance } = openLab();
    await spool.write(turnOf());
    writeFileSync(join(instance, '.leftover.tmp'), '');
    await spool.close();
    expect(namesIn(place)).toEqual([]);
  });
});

describe('servers before us', () => {
  /** A process that has surely ended, and one that surely lives. */
  async function deadInstance() {
    const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
    const started = startTimeOf(child.pid ?? 0) ?? '1';
    await once(child, 'exit');
    return { ...ownInstance(startTimeOf), pid: child.pid ?? 0, started };
  }
  const own = ownInstance(startTimeOf);
  const reused = { ...own, started: '1' };
  const otherBoot = { ...own, boot: '0123456789abcdef'.repeat(2) };
  const otherContainer = { ...own, pid: 2_147_483_647, namespace: '1' };

  const leave = (place: string, name: string, old = false) => {
    const path = join(place, name);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    writeFileSync(join(path, `${TURN}.json`), '');
    if (old) utimesSync(path, 0, (Date.now() - STALE_AFTER_MS) / 1_000 - 60);
    return path;
  };

  test.runIf(process.platform === 'linux')('the dead are removed, the living never', async () => {
    const lab = openLab();
    await lab.spool.open();
    const dead = leave(lab.place, instanceName(await deadInstance()));
    const secondOwner = leave(lab.place, instanceName(reused));
    const living = leave(
      lab.place,
      instanceName({ ...own, pid: process.ppid, started: startTimeOf(process.ppid) ?? '' }),
    );
    const elsewhere = [otherBoot, otherContainer].map((each) => leave(lab.place, instanceName(each)));
    const foreign = leave(lab.place, 'somebody-elses');
    await lab.spool.open();
    expect([dead, secondOwner].map((path) => existsSync(path))).toEqual([false, false]);
    expect([living, ...elsewhere, foreign].map((path) => existsSync(path))).toEqual([true, true, true, true]);
    expect(existsSync(lab.instance)).toBe(true);
  });

  test('of another boot or container, only the very old are removed', async () => {
    const lab = openLab();
    await lab.spool.open();
    const paths = [otherBoot, otherContainer].map((each) => leave(lab.place, instanceName(each), true));
    await lab.spool.open();
    expect(paths.map((path) => existsSync(path))).toEqual([false, false]);
  });

  test('a link in the place of a dead one is removed, and what it leads to is not', async () => {
    const lab = openLab();
    await lab.spool.open();
    const precious = join(lab.root, 'precious');
    mkdirSync(precious);
    writeFileSync(join(precious, 'file'), '');
    symlinkSync(precious, join(lab.place, instanceName(await deadInstance())));
    await lab.spool.open();
    expect(namesIn(precious)).toEqual(['file']);
    expect(namesIn(lab.place)).toHaveLength(1);
  });
});

describe('the place', () => {
  type Lab = ReturnType<typeof openLab>;
  const unsound: readonly (readonly [string, (lab: Lab) => void])[] = [
    ['a runtime directory that others can read', ({ runtime }) => chmodSync(runtime, 0o750)],
    [
      'a product directory that is a link',
      ({ runtime, root }) => {
        mkdirSync(join(root, 'elsewhere'), { mode: 0o700 });
        symlinkSync(join(root, 'elsewhere'), join(runtime, 'pi-session-mcp'));
      },
    ],
    ['a product directory that is a file', ({ runtime }) => writeFileSync(join(runtime, 'pi-session-mcp'), '')],
  ];
  test.each(unsound)('is the state directory for %s', async (_, spoil) => {
    const lab = openLab();
    spoil(lab);
    expect(await lab.spool.write(turnOf())).toEqual(DONE);
    expect(namesIn(join(lab.state, 'events'))).toHaveLength(1);
    expect(namesIn(join(lab.root, 'elsewhere'))).toEqual([]);
  });

  test('is none when the state directory is open to others, too', async () => {
    const lab = openLab({ withoutRuntime: true });
    mkdirSync(lab.state, { recursive: true });
    chmodSync(lab.state, 0o755);
    expect(await lab.spool.open()).toEqual(FAILED);
    expect(await lab.spool.write(turnOf())).toEqual(FAILED);
    expect(namesIn(lab.state)).toEqual([]);
  });

  test('of a writer is the one that it is told, and no other', async () => {
    const told = openLab();
    const inside = join(told.root, 'inside');
    const env = { ...told.world.env, PI_SESSION_MCP_EVENTS: inside };
    const { spool, instance } = openLab({ env });
    expect(await spool.open()).toEqual(FAILED);
    mkdirSync(inside, { mode: 0o755 });
    chmodSync(inside, 0o755);
    expect(await spool.open()).toEqual(FAILED);
    chmodSync(inside, 0o700);
    expect(await spool.write(turnOf())).toEqual(DONE);
    expect(namesIn(inside)).toHaveLength(1);
    expect([namesIn(instance), namesIn(told.place)]).toEqual([[], []]);
  });
});
