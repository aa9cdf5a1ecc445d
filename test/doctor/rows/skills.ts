import { readSkill } from '../../../src/adapters/fs/skill-tree.ts';
import { MAX_SKILL_BYTES } from '../../../src/config/limits.ts';
import { type Lab, SECRET } from '../lab.ts';
import type { Row } from './row.ts';

const UNREADABLE = ['error skill_unreadable reader:own'];
const OWN = 'config/own/SKILL.md';
const NAME = 'pi-session-review';
const OLD = 'a'.repeat(64);

const select = (lab: Lab, skillCatalog: object) =>
  lab.configure({ profile: { skills: Object.keys(skillCatalog) }, skillCatalog });
const selectOwn = (lab: Lab) => select(lab, { own: 'own/SKILL.md' });
const override = (lab: Lab, name: string) => lab.write(`config/skills/${name}/SKILL.md`, SECRET);

function record(lab: Lab, bases: object, filler = ''): Lab {
  return lab.write(
    'config/skills/.pi-session-mcp-bases.json',
    `${JSON.stringify({ schemaVersion: 1, bases })}${filler}`,
  );
}

function shippedFingerprint(lab: Lab): string {
  const shipped = readSkill(lab.path(`package/skills/${NAME}`));
  return shipped.ok ? shipped.tree.fingerprint : '';
}

export const skillRows: readonly Row[] = [
  { world: 'a shipped skill', prepare: (lab) => select(lab, { review: `builtin:${NAME}` }), found: [] },
  {
    world: 'a skill of no library',
    prepare: (lab) => select(lab, { review: 'builtin:nowhere' }),
    found: ['error skill_missing reader:review'],
  },
  { world: 'a directory for a skill', prepare: (lab) => selectOwn(lab).directory(OWN), found: UNREADABLE },
  { world: 'a FIFO for a skill', prepare: (lab) => selectOwn(lab).fifo(OWN), found: UNREADABLE },
  { world: 'an empty skill', prepare: (lab) => selectOwn(lab).write(OWN, ''), found: UNREADABLE },
  {
    world: 'the largest skill',
    prepare: (lab) => selectOwn(lab).write(OWN, new Uint8Array(MAX_SKILL_BYTES)),
    found: [],
  },
  {
    world: 'a skill that is too large',
    prepare: (lab) => selectOwn(lab).write(OWN, new Uint8Array(MAX_SKILL_BYTES + 1)),
    found: UNREADABLE,
  },
  {
    world: 'two ways to one skill',
    prepare: (lab) =>
      select(lab, { one: 'own/SKILL.md', two: 'same/SKILL.md' }).write(OWN, SECRET).link('config/same', 'own'),
    found: ['error skill_duplicate reader:two'],
  },
  {
    world: 'an override of what is shipped',
    prepare: (lab) => record(override(lab, NAME), { [NAME]: shippedFingerprint(lab) }),
    found: [],
  },
  {
    world: 'an override of what was shipped',
    prepare: (lab) => record(override(lab, NAME), { [NAME]: OLD }),
    found: [`warning skill_override_outdated skill:${NAME}`],
  },
  { world: 'an override without a base', prepare: (lab) => override(lab, NAME), found: [] },
  { world: 'a base without an override', prepare: (lab) => record(lab, { [NAME]: OLD }), found: [] },
  { world: 'a base of nothing shipped', prepare: (lab) => record(override(lab, 'own'), { own: OLD }), found: [] },
  {
    world: 'bases under names that are none',
    prepare: (lab) => record(lab, { [`../${SECRET}`]: OLD }),
    found: ['warning skill_override_outdated skill:bases'],
  },
  {
    world: 'too many bases',
    prepare: (lab) => record(lab, {}, ' '.repeat(65_536)),
    found: ['warning skill_override_outdated skill:bases'],
  },
];
