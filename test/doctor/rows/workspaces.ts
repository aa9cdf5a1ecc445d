import { type Lab, SECRET } from '../lab.ts';
import { CODER, CONTAINER, HOST, MODES, READ_ONLY, type Row } from './row.ts';

function recorded(lab: Lab): Lab {
  const record = 'home/.local/state/pi-session-mcp/writers/shop-2/boundary.json';
  return lab
    .configure({ coder: CODER })
    .write(MODES, CONTAINER)
    .write('elsewhere/podman', '')
    .write(record, { host: { podman: lab.path('elsewhere/podman') } });
}

export const workspaceRows: readonly Row[] = [
  { world: 'no directory', prepare: (lab) => lab.without('shop'), found: ['error workspace_missing shop'] },
  {
    world: 'a file for a directory',
    prepare: (lab) => lab.without('shop').write('shop', SECRET),
    found: ['error workspace_not_directory shop'],
  },
  {
    world: 'a link that leads to itself',
    prepare: (lab) => lab.without('shop').link('shop', 'shop'),
    found: ['error workspace_unreadable shop'],
  },
  { world: 'a linked worktree, nobody codes', prepare: (lab) => lab.write('shop/.git', SECRET), found: [] },
  {
    world: 'a linked worktree for coding',
    prepare: (lab) => lab.configure({ coder: CODER }).write(MODES, HOST).write('shop/.git', SECRET),
    found: ['warning workspace_gitfile shop'],
  },
  {
    world: 'a linked worktree that coding never reaches',
    prepare: (lab) => lab.configure({ coder: CODER }).write(MODES, READ_ONLY).write('shop/.git', SECRET),
    found: [],
  },
  {
    world: 'a repository for coding',
    prepare: (lab) => lab.configure({ coder: CODER }).write(MODES, HOST).write('shop/.git/HEAD', SECRET),
    found: [],
  },
  {
    world: 'coding and no mode',
    prepare: (lab) => lab.configure({ coder: CODER }),
    found: ['warning workspace_mode_unset shop'],
  },
  {
    world: 'containers without Podman',
    prepare: (lab) => lab.configure({ coder: CODER }).write(MODES, CONTAINER),
    found: ['error podman_missing shop'],
  },
  {
    world: 'containers whose writer has a Podman elsewhere',
    prepare: (lab) => recorded(lab).mode('elsewhere/podman', 0o755),
    found: [],
  },
  {
    world: 'containers whose writer had a Podman elsewhere',
    prepare: (lab) => recorded(lab).without('elsewhere'),
    found: ['error podman_missing shop'],
  },
  {
    world: 'containers for root',
    prepare: (lab) => lab.configure({ coder: CODER }).write(MODES, CONTAINER).tool('podman'),
    input: () => ({ userId: 0 }),
    found: ['error podman_unusable shop'],
  },
  {
    world: 'containers where there are none',
    prepare: (lab) => lab.configure({ coder: CODER }).write(MODES, CONTAINER).tool('podman'),
    input: () => ({ platform: 'darwin' }),
    found: ['error podman_unusable shop'],
  },
  {
    world: 'containers with Podman',
    prepare: (lab) => lab.configure({ coder: CODER }).write(MODES, CONTAINER).tool('podman'),
    found: [],
  },
];
