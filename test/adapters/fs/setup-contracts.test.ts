import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { customization } from '../../../src/adapters/fs/customization.ts';
import { ownershipStore } from '../../../src/adapters/fs/ownership-store.ts';
import { basesFile } from '../../../src/adapters/fs/skill-bases.ts';
import { skillSlot } from '../../../src/adapters/fs/skill-slot.ts';
import type { SlotContent } from '../../../src/ports/setup/skill-slot.ts';
import { customizationContract } from '../../contracts/setup-customization.ts';
import { ownershipContract } from '../../contracts/setup-ownership.ts';
import { type SlotHarness, skillSlotContract } from '../../contracts/setup-skill-slot.ts';
import { MemoryCustomization, MemoryOwnership, MemorySlot, type SlotDisk } from '../../kit/setup-fakes.ts';
import { litter, scratch, write } from './lab.ts';
import { fingerprint, SKILL, stageOf, VERSIONS } from './slot-lab.ts';

ownershipContract('file', () => {
  const directory = join(scratch(), 'state');
  return {
    store: ownershipStore(directory),
    reopen: () => ownershipStore(directory),
    corrupt: () => writeFileSync(join(directory, 'ownership.json'), '{}'),
  };
});

ownershipContract('memory', () => {
  const store = new MemoryOwnership();
  return {
    store,
    reopen: () => new MemoryOwnership(store.records),
    corrupt: () => {
      store.trouble = 'corrupt';
    },
  };
});

skillSlotContract('directory', () => {
  const stage = stageOf('home');
  const entry = stage.entry;
  const contents: Readonly<Record<Parameters<SlotHarness['fill']>[0], () => void>> = {
    old: () => write(entry, VERSIONS.old),
    new: () => write(entry, VERSIONS.new),
    edited: () => write(entry, { ...VERSIONS.old, 'SKILL.md': 'mine' }),
    'with hidden': () => write(entry, { ...VERSIONS.old, 'notes/.mine': 'mine' }),
    'link to the source': () => symlinkSync(stage.shipped, entry),
    'other link': () => symlinkSync(write(join(stage.root, 'elsewhere'), VERSIONS.old), entry),
  };
  return {
    slot: skillSlot(stage.input),
    reopen: () => skillSlot(stage.input),
    fingerprint,
    ship: stage.ship,
    fill: (content) => {
      rmSync(entry, { recursive: true, force: true });
      write(join(entry, '..'), {});
      contents[content]();
    },
    litter: () => litter(stage.root).length > 0,
  };
});

skillSlotContract('memory', () => {
  const disk: SlotDisk = { source: { ok: false }, slot: { kind: 'absent' } };
  const tree = (name: string, hidden = false): SlotContent => ({ kind: 'tree', fingerprint: name.repeat(64), hidden });
  const contents: Readonly<Record<Parameters<SlotHarness['fill']>[0], SlotContent>> = {
    old: tree('a'),
    new: tree('b'),
    edited: tree('c'),
    'with hidden': tree('a', true),
    'link to the source': { kind: 'linked' },
    'other link': { kind: 'foreign' },
  };
  return {
    slot: new MemorySlot(disk),
    reopen: () => new MemorySlot(disk),
    fingerprint: (version) => (version === 'old' ? 'a' : 'b').repeat(64),
    ship: (version) => {
      disk.source =
        version === 'none' ? { ok: false } : { ok: true, fingerprint: (version === 'old' ? 'a' : 'b').repeat(64) };
    },
    fill: (content) => {
      disk.slot = contents[content];
    },
    litter: () => disk.staged !== undefined || disk.displaced !== undefined,
  };
});

customizationContract('directory', () => {
  const root = scratch();
  const input = { name: SKILL, packageRoot: join(root, 'package'), overrides: join(root, 'config', 'skills') };
  write(join(input.packageRoot, 'skills', SKILL), VERSIONS.new);
  write(join(root, 'config'), {});
  return {
    skill: customization(input),
    reopen: () => customization(input),
    override: (content) => {
      write(input.overrides, content === 'good' ? { [`${SKILL}/SKILL.md`]: 'mine' } : { [SKILL]: 'a file' });
    },
    corruptBases: () => write(input.overrides, { '.pi-session-mcp-bases.json': '{"schemaVersion":2,"bases":{}}' }),
    litter: () => litter(root).length > 0 || existsSync(`${basesFile(input.overrides)}.tmp`),
  };
});

customizationContract('memory', () => {
  const skill = new MemoryCustomization({
    shipped: { ok: true, fingerprint: 'a'.repeat(64) },
    override: 'absent',
    base: { kind: 'none' },
  });
  return {
    skill,
    reopen: () => new MemoryCustomization(skill.disk),
    override: (content) => {
      skill.disk.override = content === 'good' ? 'present' : 'invalid';
    },
    corruptBases: () => {
      skill.disk.base = { kind: 'corrupt' };
    },
    litter: () => skill.disk.staged !== undefined,
  };
});
