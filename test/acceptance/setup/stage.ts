/** One disposable operator: a home, a project, a configuration, and things in the clients that are not ours. */
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { QUIET } from '../kit/driving/headless.ts';

export type TargetName = 'codex:user' | 'claude-code:user' | 'claude-code:project' | 'claude-code:local';

export const TARGETS: readonly TargetName[] = [
  'codex:user',
  'claude-code:user',
  'claude-code:project',
  'claude-code:local',
];

export interface Stage {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  readonly configuration: string;
  readonly stateDirectory: string;
  /** Where the target's client looks for skills. */
  readonly skills: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * @param root Must not be below a temporary directory: clients treat those differently. Gets a space into
 *   every path on purpose.
 * @param clients Directory of the clients' executables.
 */
export function makeStage(root: string, target: TargetName, clients: string): Stage {
  const home = join(root, 'home of nobody');
  const project = join(root, 'a project');
  const temporary = join(root, 'tmp');
  const configuration = join(home, '.config', 'pi-session-mcp', 'pi-session-mcp.json');
  for (const directory of [home, project, temporary, dirname(configuration), join(home, '.codex')]) {
    mkdirSync(directory, { recursive: true });
  }
  writeFileSync(configuration, JSON.stringify(document(project)), { mode: 0o600 });
  const skills =
    target === 'codex:user'
      ? join(home, '.agents', 'skills')
      : join(target === 'claude-code:project' ? project : home, '.claude', 'skills');
  plantSkill(join(skills, 'a-foreign-skill'));
  const path = [clients, dirname(process.execPath), '/usr/bin', '/bin'].join(':');
  return {
    root,
    home,
    project,
    configuration,
    stateDirectory: join(home, '.local', 'state', 'pi-session-mcp'),
    skills,
    env: { HOME: home, PATH: path, LANG: 'C.UTF-8', TERM: 'dumb', TMPDIR: temporary, ...QUIET },
  };
}

function document(project: string) {
  const profile = {
    default: true,
    permissionProfile: 'read-only',
    provider: 'nobody',
    model: 'none',
    thinkingLevel: 'off',
  };
  return { workspaces: { project }, executionProfiles: { reader: profile } };
}

function plantSkill(directory: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'SKILL.md'), '---\nname: a-foreign-skill\ndescription: Not ours.\n---\n');
  writeFileSync(join(directory, 'run.sh'), '#!/bin/sh\n');
  chmodSync(join(directory, 'run.sh'), 0o750);
}

/** A copy of the built package, so that a run cannot change what it is judged by. */
export function copyPackage(from: string, to: string): void {
  for (const part of ['dist', 'skills', 'package.json', 'package-lock.json']) {
    cpSync(join(from, part), join(to, part), { recursive: true, verbatimSymlinks: true });
  }
}
