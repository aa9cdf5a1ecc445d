import { type Lab, SECRET } from '../lab.ts';
import type { Row } from './row.ts';

const ROOT = 'home/.pi/agent/npm/node_modules/@scope/tools';
const MISMATCH = ['error extension_version_mismatch reader:@scope/tools'];

const pinned = (lab: Lab) => lab.configure({ profile: { extensions: ['npm:@scope/tools@1.2.3'] } });

function install(lab: Lab, changes: object = {}): Lab {
  const pi = { extensions: ['./index.js', 'more/*.js'] };
  const manifest = { name: '@scope/tools', version: '1.2.3', pi, ...changes };
  return pinned(lab).write(`${ROOT}/package.json`, manifest).write(`${ROOT}/index.js`, SECRET);
}

const entries = (...extensions: readonly unknown[]) => ({ pi: { extensions } });

export const extensionRows: readonly Row[] = [
  { world: 'the pinned version', prepare: (lab) => install(lab), found: [] },
  {
    world: 'the pinned version in another agent directory',
    prepare: (lab) => install(lab).move('home/.pi/agent', 'home/other'),
    input: () => ({ env: { PI_CODING_AGENT_DIR: '~/other' } }),
    found: [],
  },
  { world: 'nothing installed', prepare: pinned, found: ['error extension_missing reader:@scope/tools'] },
  { world: 'another version', prepare: (lab) => install(lab, { version: '1.2.4' }), found: MISMATCH },
  { world: 'another name', prepare: (lab) => install(lab, { name: SECRET }), found: MISMATCH },
  { world: 'no entries', prepare: (lab) => install(lab, { pi: {} }), found: MISMATCH },
  { world: 'an empty list of entries', prepare: (lab) => install(lab, entries()), found: MISMATCH },
  { world: 'an entry that is no text', prepare: (lab) => install(lab, entries('./index.js', 1)), found: MISMATCH },
  { world: 'an entry that is not there', prepare: (lab) => install(lab, entries('gone.js')), found: MISMATCH },
  {
    world: 'an entry outside of the package',
    prepare: (lab) => install(lab, entries('../../x.js')).write(`${ROOT}/../../x.js`, SECRET),
    found: MISMATCH,
  },
  {
    world: 'an entry outside of the package that links back',
    prepare: (lab) => install(lab, entries('../back/index.js')).link(`${ROOT}/../back`, 'tools'),
    found: MISMATCH,
  },
  {
    world: 'an entry that links out of the package',
    prepare: (lab) => install(lab, entries('x.js')).link(`${ROOT}/x.js`, '../../../../../../../config/server.json'),
    found: MISMATCH,
  },
  {
    world: 'a manifest that is no JSON',
    prepare: (lab) => install(lab).write(`${ROOT}/package.json`, SECRET),
    found: MISMATCH,
  },
  {
    world: 'a package that is linked in',
    prepare: (lab) => install(lab).move(ROOT, 'checkout').link(ROOT, lab.path('checkout')),
    found: MISMATCH,
  },
];
