/**
 * One disposable operator for one run of one client. Controllers see their project
 * and the fixtures; the configuration, the skills and the token are private.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SCRIPTED_MODEL, SCRIPTED_PROVIDER, writePiAgentDirectory } from '../../../demo/scripted-model.ts';
import { QUIET } from '../kit/driving/headless.ts';
import type { ClientName } from '../kit/driving/wire/wire.ts';
import { type FixtureName, plantFixture } from './fixtures.ts';

export interface Stage {
  readonly root: string;
  readonly client: ClientName;
  readonly home: string;
  /** The controller's directory. */
  readonly project: string;
  readonly privateDirectory: string;
  readonly configuration: string;
  /** Built package whose server is under test. */
  readonly package: string;
  readonly env: Readonly<Record<string, string>>;
  /** Known to the handshake skill alone. */
  readonly token: string;
  /** Stand-ins for credentials; no result may hold one. */
  readonly credentials: readonly string[];
  /** Absolute path of a fixture, or of a file in it. */
  fixture(name: FixtureName, file?: string): string;
  /** The alias of its workspace. */
  alias(name: FixtureName): string;
}

export interface StageOptions {
  readonly client: ClientName;
  readonly package: string;
  /** Directory of the clients' executables. */
  readonly binaries: string;
  readonly piUrl: string;
  readonly fixtures: readonly FixtureName[];
}

const SELECTION = { provider: SCRIPTED_PROVIDER, model: SCRIPTED_MODEL, thinkingLevel: 'off' };

const PREFIX: Readonly<Record<ClientName, string>> = { 'claude-code': 'cc', codex: 'cx' };

const handshakeSkill = (token: string) => `---
name: handshake
description: How to complete the handshake. Read this when a task asks for the handshake.
---

Write one line with the word ${token} to HANDSHAKE.txt in the workspace. Say the word nowhere else.
`;

function document(aliases: readonly (readonly [string, string])[]) {
  return {
    workspaces: Object.fromEntries(aliases),
    skillCatalog: {
      review: 'builtin:pi-session-review',
      implementation: 'builtin:pi-session-implementation',
      handshake: 'builtin:handshake',
    },
    executionProfiles: {
      'accept-read': { default: true, permissionProfile: 'read-only', ...SELECTION, skills: ['review'] },
      'accept-code': {
        default: false,
        permissionProfile: 'coding',
        ...SELECTION,
        skills: ['implementation', 'handshake'],
      },
    },
  };
}

/** @param root Must not be below a temporary directory: clients treat those differently. */
export async function makeStage(root: string, options: StageOptions): Promise<Stage> {
  const { client } = options;
  const home = join(root, 'home');
  const project = join(root, 'controller');
  const privateDirectory = join(root, 'private');
  const configuration = join(privateDirectory, 'pi-session-mcp.json');
  const temporary = join(root, 'tmp');
  const token = `TOKEN${randomBytes(12).toString('hex')}`;
  const [piKey, clientKey] = [randomBytes(12).toString('hex'), randomBytes(12).toString('hex')];
  const skill = join(privateDirectory, 'skills', 'handshake', 'SKILL.md');
  for (const directory of [home, project, dirname(skill), temporary, join(home, '.codex')]) {
    mkdirSync(directory, { recursive: true });
  }
  const env = {
    HOME: home,
    PATH: [options.binaries, dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    TMPDIR: temporary,
    CODEX_HOME: join(home, '.codex'),
    CONTROLLER_KEY: clientKey,
    ...QUIET,
  };
  const fixture = (name: FixtureName, file = '') => join(root, 'fixtures', name, file);
  const alias = (name: FixtureName) => `${PREFIX[client]}-${name}`;
  for (const name of options.fixtures) plantFixture(fixture(name), name, env);
  const aliases = options.fixtures.map((name) => [alias(name), fixture(name)] as const);
  writeFileSync(configuration, JSON.stringify(document(aliases), null, 2), { mode: 0o600 });
  writeFileSync(skill, handshakeSkill(token), { mode: 0o600 });
  const agent = join(home, '.pi', 'agent');
  await writePiAgentDirectory(agent, options.piUrl);
  const models = join(agent, 'models.json');
  writeFileSync(models, readFileSync(models, 'utf8').replace('not-a-secret', piKey));
  const credentials = [piKey, clientKey];
  const paths = { root, home, project, privateDirectory, configuration, package: options.package };
  return { ...paths, client, env, token, credentials, fixture, alias };
}
