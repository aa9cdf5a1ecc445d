import { relative } from 'node:path';
import { type Lab, SECRET } from '../lab.ts';
import type { Row } from './row.ts';

const server = (lab: Lab, changes: object = {}) => {
  const tools = { find: { name: SECRET, readOnly: true } };
  const search = { command: lab.path('bin/server'), args: [SECRET], tools, ...changes };
  return lab.tool('server').configure({ profile: { mcpServers: { search } } });
};
const reading = (lab: Lab, name: string) => server(lab, { envFrom: { KEY: name } });

export const serverRows: readonly Row[] = [
  { world: 'an external server', prepare: (lab) => server(lab), found: [] },
  {
    world: 'a command that is not there',
    prepare: (lab) => server(lab).without('bin/server'),
    found: ['error mcp_command_unusable reader:search'],
  },
  {
    world: 'a command that cannot be executed',
    prepare: (lab) => server(lab).mode('bin/server', 0o644),
    found: ['error mcp_command_unusable reader:search'],
  },
  {
    world: 'a directory for a command',
    prepare: (lab) => server(lab).without('bin/server').directory('bin/server'),
    found: ['error mcp_command_unusable reader:search'],
  },
  {
    world: 'a variable that is not set',
    prepare: (lab) => reading(lab, 'HUNTER2'),
    found: ['warning mcp_environment_missing reader:search'],
  },
  {
    world: 'a variable that is empty',
    prepare: (lab) => reading(lab, 'HUNTER2'),
    input: () => ({ env: { HUNTER2: '' } }),
    found: [],
  },
];

const NO_FD = 'warning search_tool_missing fd';
const NO_RG = 'warning search_tool_missing rg';
const pi = 'home/.pi/agent';

export const toolRows: readonly Row[] = [
  { world: 'no rg', prepare: (lab) => lab.without('bin/rg'), found: [NO_RG] },
  { world: 'an rg that is a directory', prepare: (lab) => lab.without('bin/rg').directory('bin/rg'), found: [NO_RG] },
  { world: 'neither fd nor fdfind', prepare: (lab) => lab.without('bin/fdfind'), found: [NO_FD] },
  { world: 'fd by its own name', prepare: (lab) => lab.move('bin/fdfind', 'bin/fd'), found: [] },
  {
    world: 'a PATH that depends on where the client works',
    input: (lab) => ({ env: { PATH: `${relative(process.cwd(), lab.path('bin'))}:` } }),
    found: [NO_FD, NO_RG],
  },
  { world: 'no PATH', input: () => ({ env: { PATH: undefined } }), found: [NO_FD, NO_RG] },
  {
    world: 'tools that Pi has already',
    prepare: (lab) => lab.without('bin').write(`${pi}/bin/rg`, SECRET).write(`${pi}/bin/fd`, SECRET),
    found: [],
  },
];

const anthropic = (lab: Lab) => lab.tool('codex').configure({ profile: { provider: 'anthropic' } });
const KEYS = { ANTHROPIC_API_KEY: SECRET, ANTHROPIC_OAUTH_TOKEN: '', OPENAI_API_KEY: SECRET };

export const clientRows: readonly Row[] = [
  { world: 'Codex and a bare environment', prepare: (lab) => lab.tool('codex'), found: [] },
  {
    world: 'Codex and another agent directory',
    prepare: (lab) => lab.tool('codex'),
    input: (lab) => ({ env: { PI_CODING_AGENT_DIR: lab.path('config') } }),
    found: ['warning client_environment_lacks PI_CODING_AGENT_DIR'],
  },
  {
    world: 'Codex and the usual agent directory by another name',
    prepare: (lab) => lab.tool('codex').directory(pi).link('same', pi),
    input: (lab) => ({ env: { PI_CODING_AGENT_DIR: lab.path('same') } }),
    found: [],
  },
  {
    world: 'another agent directory and no Codex',
    input: (lab) => ({ env: { PI_CODING_AGENT_DIR: lab.path('config') } }),
    found: [],
  },
  {
    world: 'Codex and a key in the environment',
    prepare: anthropic,
    input: () => ({ env: KEYS }),
    found: ['warning client_environment_lacks ANTHROPIC_API_KEY'],
  },
  {
    world: 'the same key with Pi',
    prepare: (lab) => anthropic(lab).write(`${pi}/auth.json`, { anthropic: { type: 'api_key', key: SECRET } }),
    input: () => ({ env: KEYS }),
    found: [],
  },
  {
    world: 'the same key among the models of Pi',
    prepare: (lab) =>
      anthropic(lab).write(`${pi}/models.json`, `{ "providers": { "anthropic": { "apiKey": "${SECRET}" } }, } // x`),
    input: () => ({ env: KEYS }),
    found: [],
  },
  {
    world: 'Codex and files of Pi that are broken',
    prepare: (lab) => anthropic(lab).write(`${pi}/models.json`, SECRET).write(`${pi}/auth.json`, `["${SECRET}"]`),
    input: () => ({ env: KEYS }),
    found: ['warning client_environment_lacks ANTHROPIC_API_KEY'],
  },
  {
    world: 'Codex and a variable for an external server',
    prepare: (lab) => reading(lab, 'HUNTER2').tool('codex'),
    input: () => ({ env: { HUNTER2: SECRET } }),
    found: ['warning client_environment_lacks reader:search'],
  },
  {
    world: 'Codex and a variable that it passes on',
    prepare: (lab) => reading(lab, 'HOME').tool('codex'),
    input: () => ({ env: { HOME: SECRET } }),
    found: [],
  },
];

const NODE = ['warning node_path_unstable node'];
const PACKAGE = ['warning package_path_unstable package'];
const node = (nodePath: string) => ({ input: () => ({ nodePath }) });

export const pathRows: readonly Row[] = [
  { world: 'a Node of nvm', ...node(`/home/${SECRET}/.nvm/versions/node/v22.19.0/bin/node`), found: NODE },
  { world: 'a Node of fnm', ...node(`/run/user/${SECRET}/fnm_multishells/1_2/bin/node`), found: NODE },
  { world: 'a Node of Volta', ...node(`/home/${SECRET}/.volta/tools/image/node/22.19.0/bin/node`), found: NODE },
  { world: 'a Node of Homebrew', ...node('/opt/homebrew/Cellar/node/22.19.0/bin/node'), found: NODE },
  { world: 'a Node of npx', ...node(`/home/${SECRET}/.npm/_npx/1/node_modules/node/bin/node`), found: NODE },
  { world: 'a Node whose folder merely sounds like it', ...node(`/opt/${SECRET}-nvm/my.volta/bin/node`), found: [] },
  {
    world: 'a package in a temporary directory',
    input: (lab) => ({ temporaryDirectories: ['/', lab.root] }),
    found: PACKAGE,
  },
  { world: 'a package beside it', input: (lab) => ({ temporaryDirectories: ['/', lab.path('pack')] }), found: [] },
  {
    world: 'a package in the cache of npx',
    prepare: (lab) => lab.move('package', '_npx'),
    input: (lab) => ({ packageRoot: lab.path('_npx') }),
    found: PACKAGE,
  },
];
