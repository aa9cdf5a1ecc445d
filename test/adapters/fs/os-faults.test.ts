/** Faults that only the operating system can make: full and read-only disks, rights, owners. What a machine does not allow is skipped by name. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { customization } from '../../../src/adapters/fs/customization.ts';
import { ownershipStore } from '../../../src/adapters/fs/ownership-store.ts';
import { skillSlot } from '../../../src/adapters/fs/skill-slot.ts';
import { slotRootOf } from '../../../src/adapters/fs/slot-place.ts';
import { REGISTRATION, SKILL as SKILL_RECORD } from '../../contracts/setup-records.ts';
import { picture, scratch, write } from './lab.ts';
import { fingerprint, SKILL, VERSIONS } from './slot-lab.ts';

const OK = { ok: true };
const FAILED = { ok: false };
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

function mount(at: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=755', 'tmpfs', at], { stdio: 'ignore' });
}

function canMount(): boolean {
  if (!isRoot) return false;
  const at = scratch();
  try {
    mount(at);
    execFileSync('umount', [at]);
    return true;
  } catch {
    return false;
  }
}

function canBecomeNobody(): boolean {
  if (!isRoot) return false;
  try {
    // Nobody has to be able to read this checkout, too.
    return asNobody('read', scratch()) !== undefined;
  } catch {
    return false;
  }
}

function asNobody(step: string, directory: string): unknown {
  const fixture = join(import.meta.dirname, 'fixtures', 'as-somebody.ts');
  const identity = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
  const stdout = execFileSync('setpriv', [...identity, process.execPath, fixture, step, directory], {
    encoding: 'utf8',
  });
  return JSON.parse(stdout);
}

const mountable = canMount();
const nobody = canBecomeNobody();

function slotIn(home: string, packageRoot: string) {
  const root = slotRootOf({ client: 'claude-code', scope: 'user' }, { home, project: home });
  return skillSlot({ root, skill: SKILL, sources: [join(packageRoot, 'skills', SKILL)] });
}

/** Takes what is left of the disk, to the last byte. */
function fillUp(path: string): void {
  const descriptor = openSync(path, 'w');
  try {
    for (;;) writeSync(descriptor, Buffer.alloc(4096));
  } catch {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

describe.skipIf(!mountable)('a disk of its own (needs root and mount)', () => {
  let home = '';
  let packageRoot = '';
  beforeEach(() => {
    home = scratch();
    packageRoot = scratch();
    write(join(packageRoot, 'skills', SKILL), VERSIONS.old);
    mount(home);
  });
  afterEach(() => {
    execFileSync('umount', [home]);
  });
  const ship = (files: Readonly<Record<string, string | Uint8Array>>) => {
    rmSync(join(packageRoot, 'skills', SKILL), { recursive: true });
    write(join(packageRoot, 'skills', SKILL), files);
  };

  it('that is full keeps the old state file, and takes the new record once there is room', async () => {
    const store = ownershipStore(join(home, 'state'));
    await store.put(REGISTRATION);
    fillUp(join(home, 'filler'));
    const before = picture(join(home, 'state'));
    expect(await store.put(SKILL_RECORD)).toEqual(FAILED);
    expect(await store.drop(REGISTRATION)).toEqual(FAILED);
    expect(picture(join(home, 'state'))).toEqual(before);
    rmSync(join(home, 'filler'));
    expect(await store.put(SKILL_RECORD)).toEqual(OK);
    expect(await store.read()).toEqual({ ok: true, records: [REGISTRATION, SKILL_RECORD] });
  });

  it('that is full while a skill is staged keeps the old copy, and has nothing half-done', async () => {
    const slot = slotIn(home, packageRoot);
    expect([await slot.stage(), await slot.place()]).toEqual([OK, OK]);
    ship({ ...VERSIONS.new, 'z-large.md': new Uint8Array(600_000) });
    writeFileSync(join(home, 'filler'), new Uint8Array(500_000));
    const before = picture(home);
    expect(await slot.stage()).toEqual(FAILED);
    expect(picture(home)).toEqual(before);
    rmSync(join(home, 'filler'));
    expect(await slot.stage()).toEqual(OK);
  });

  it('that is full keeps a skill from being customized, without a trace', async () => {
    const own = customization({ name: SKILL, packageRoot, overrides: join(home, 'skills') });
    ship({ ...VERSIONS.new, 'z-large.md': new Uint8Array(600_000) });
    writeFileSync(join(home, 'filler'), new Uint8Array(500_000));
    const before = picture(home);
    expect([await own.stage(), await own.place()]).toEqual([FAILED, FAILED]);
    expect(picture(home)).toEqual(before);
  });

  it('that is read-only shows everything and changes nothing', async () => {
    const slot = slotIn(home, packageRoot);
    const store = ownershipStore(join(home, 'state'));
    const own = customization({ name: SKILL, packageRoot, overrides: join(home, 'skills') });
    await slot.stage();
    await slot.place();
    await store.put(REGISTRATION);
    const before = picture(home);
    execFileSync('mount', ['-o', 'remount,ro', home]);
    expect(await slot.look()).toMatchObject({ kind: 'tree', fingerprint: fingerprint('old') });
    expect(await store.read()).toEqual({ ok: true, records: [REGISTRATION] });
    expect(await slot.stage()).toEqual(FAILED);
    expect(await slot.displace(fingerprint('old'))).toEqual(FAILED);
    expect([await store.put(SKILL_RECORD), await store.drop(REGISTRATION)]).toEqual([FAILED, FAILED]);
    expect([await own.stage(), await own.recordBase('a'.repeat(64))]).toEqual([FAILED, FAILED]);
    expect(picture(home)).toEqual(before);
  });

  it('that is mounted at the slot is not moved', async () => {
    const other = scratch();
    const slot = slotIn(other, packageRoot);
    await slot.stage();
    await slot.place();
    const entry = join(other, '.claude', 'skills', SKILL);
    execFileSync('mount', ['--bind', entry, entry]);
    const before = picture(other);
    try {
      expect(await slot.displace(fingerprint('old'))).toEqual(FAILED);
      expect(picture(other)).toEqual(before);
    } finally {
      execFileSync('umount', [entry]);
    }
  });
});

describe.skipIf(!isRoot)('another owner (needs root)', () => {
  it.each<[string, (directory: string, file: string) => void]>([
    ['of the state file', (_directory, file) => chownSync(file, NOBODY, NOBODY)],
    ['of the state directory', (directory) => chownSync(directory, NOBODY, NOBODY)],
  ])('%s is not trusted', async (_name, spoil) => {
    const directory = join(scratch(), 'state');
    const store = ownershipStore(directory);
    await store.put(REGISTRATION);
    spoil(directory, join(directory, 'ownership.json'));
    const before = picture(directory);
    expect([await store.read(), await store.put(SKILL_RECORD), await store.drop(REGISTRATION)]).toEqual([
      FAILED,
      FAILED,
      FAILED,
    ]);
    expect(picture(directory)).toEqual(before);
  });

  it('of an abandoned temporary keeps it', async () => {
    const directory = join(scratch(), 'state');
    const store = ownershipStore(directory);
    await store.put(REGISTRATION);
    const temporary = join(directory, `ownership.json.tmp-${'a'.repeat(32)}`);
    writeFileSync(temporary, '');
    lchownSync(temporary, NOBODY, NOBODY);
    await store.put(REGISTRATION);
    expect(picture(temporary)['.']).toMatch(/^file/);
  });
});

describe.skipIf(!nobody)('a user without rights (needs root, setpriv and a readable checkout)', () => {
  /** A home of `owner` with these rights, and the package beside it. */
  function stageFor(owner: number, mode: number) {
    const root = scratch();
    chmodSync(root, 0o755);
    const home = join(root, 'home');
    write(join(root, 'package', 'skills', SKILL), VERSIONS.new);
    mkdirSync(home);
    chownSync(home, owner, owner);
    chmodSync(home, mode);
    return { root, home };
  }

  it('can use a home of their own', () => {
    const { root } = stageFor(NOBODY, 0o700);
    expect(asNobody('put', root)).toEqual(OK);
    expect(asNobody('read', root)).toEqual({ ok: true, records: [REGISTRATION] });
    expect(asNobody('install', root)).toEqual([OK, OK]);
    expect(asNobody('customize', root)).toEqual([OK, OK]);
    expect(asNobody('look', root)).toEqual({ kind: 'tree', fingerprint: fingerprint('new'), hidden: false });
  });

  it.each(['put', 'install', 'customize'])('changes nothing in a home that they may not write to: %s', (step) => {
    const { root } = stageFor(0, 0o755);
    const before = picture(root);
    const outcome = asNobody(step, root);
    expect(step === 'put' ? [outcome, FAILED] : outcome).toEqual([FAILED, FAILED]);
    expect(picture(root)).toEqual(before);
  });

  it('is told that there is no place in a home that they may not enter', () => {
    const { root, home } = stageFor(0, 0o700);
    write(join(home, '.claude', 'skills', SKILL), VERSIONS.new);
    expect(asNobody('look', root)).toEqual({ kind: 'unresolved' });
    expect(asNobody('read', root)).toEqual(FAILED);
  });

  it('sees a copy that they may not read as foreign', () => {
    const { root, home } = stageFor(NOBODY, 0o755);
    write(join(home, '.claude', 'skills', SKILL), VERSIONS.new);
    chmodSync(join(home, '.claude', 'skills', SKILL, 'SKILL.md'), 0o600);
    expect(asNobody('look', root)).toEqual({ kind: 'foreign' });
  });
});
