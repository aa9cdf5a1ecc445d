/** A disposable operator with faithful stand-ins for both clients, and the built setup to run. Linux and macOS. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';

const repository = resolve(import.meta.dirname, '../../..');
const preload = join(import.meta.dirname, 'crash-preload.mjs');
const BUILT_SETUP = join(repository, 'dist', 'setup.js');

export interface Operator {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  readonly configuration: string;
  readonly state: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface SetupRun {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Empties the directory and makes it again: paths stay the same, so records of two lives can be compared. */
export function makeOperator(root: string): Operator {
  rmSync(root, { recursive: true, force: true });
  const home = join(root, 'home');
  const project = join(root, 'project');
  const bin = join(root, 'bin');
  const configuration = join(home, '.config', 'pi-session-mcp', 'pi-session-mcp.json');
  for (const directory of [project, bin, dirname(configuration), join(home, '.fake')]) {
    mkdirSync(directory, { recursive: true });
  }
  for (const client of ['claude', 'codex']) {
    copyFileSync(join(import.meta.dirname, 'fake-client.mjs'), join(bin, client));
    chmodSync(join(bin, client), 0o755);
    const foreign = { command: '/bin/false', args: ['a'], env: { SECRET: 'x' }, scope: 'user' };
    writeFileSync(join(home, '.fake', `${client}.json`), JSON.stringify({ 'a-foreign-server': foreign }));
  }
  const profile = { default: true, permissionProfile: 'read-only', provider: 'p', model: 'm', thinkingLevel: 'off' };
  writeFileSync(configuration, JSON.stringify({ workspaces: { project }, executionProfiles: { reader: profile } }));
  chmodSync(configuration, 0o600);
  const path = [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const env = { HOME: home, PATH: path, LANG: 'C.UTF-8', PI_SESSION_MCP_CONFIG: configuration };
  return { root, home, project, configuration, state: join(home, '.local/state/pi-session-mcp'), env };
}

/** A foreign skill, with modes and a link of its own, beside where ours goes. */
export function plantForeignSkill(skills: string): void {
  const directory = join(skills, 'a-foreign-skill');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'SKILL.md'), 'not ours');
  writeFileSync(join(directory, 'run'), '#!/bin/sh\n', { mode: 0o750 });
}

/** Runs the built setup to its end. `env` adds to the operator's own. */
export function runSetup(
  operator: Operator,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  setup = BUILT_SETUP,
): Promise<SetupRun> {
  return new Promise((resolveRun, reject) => {
    const child = spawn(process.execPath, ['--import', preload, setup, ...args], {
      cwd: operator.project,
      env: { ...operator.env, CRASH_PID: join(operator.root, 'pid'), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => resolveRun({ code, signal, stdout, stderr }));
  });
}

export const codes = ({ stdout }: SetupRun): string[] =>
  (JSON.parse(stdout) as { findings: { status: string; code: string }[] }).findings.map(
    ({ status, code }) => `${status} (${code})`,
  );

/** Every entry below the directory: mode, kind, and bytes or link target. */
export function treeOf(directory: string, prefix = ''): Record<string, string> {
  const entries: Record<string, string> = {};
  if (!existsSync(directory)) return entries;
  for (const name of readdirSync(directory).sort()) {
    const path = join(directory, name);
    const stat = lstatSync(path);
    const mode = (stat.mode & 0o7777).toString(8);
    const key = `${prefix}${name}`;
    if (stat.isSymbolicLink()) entries[key] = `link ${readlinkSync(path)}`;
    else if (stat.isDirectory()) {
      entries[key] = `directory ${mode}`;
      Object.assign(entries, treeOf(path, `${key}/`));
    } else entries[key] = `file ${mode} ${stat.isFile() ? readFileSync(path, 'utf8') : 'special'}`;
  }
  return entries;
}
