/** A lab whose Pi has extension packages installed, by npm itself, the way Pi installs them. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { ExecutionProfile } from '../../../src/config/configuration.ts';
import { type Lab, type LabOptions, openLab, profile, REPOSITORY } from './lab.ts';

const FIXTURES = join(REPOSITORY, 'test/fixtures/extensions');
/** Pi's own arguments, then what keeps a local directory a real package, and everything off the network. */
const INSTALL = ['install', '--legacy-peer-deps', '--no-audit', '--no-fund', '--offline', '--install-links'];

export const PROVIDER = 'npm:@fixture/provider@1.2.3';
export const TOOLS = 'npm:fixture-tools@1.2.3';
export const NAMED = 'npm:fixture-named@1.2.3';
export const LOADING = 'npm:fixture-loading@1.2.3';
export const HOOKS = 'npm:fixture-hooks@1.2.3';

let installed: string | undefined;
afterAll(() => {
  if (installed) rmSync(join(installed, '..'), { recursive: true, force: true });
});

/** Takes npm a second or two, so it happens once per test file. */
export function installFixtures(): string {
  if (installed) return installed;
  const cache = join(REPOSITORY, '.cache/test');
  mkdirSync(cache, { recursive: true });
  const root = mkdtempSync(join(cache, 'npm-'));
  const packages = readdirSync(FIXTURES).map((name) => join(FIXTURES, name));
  const env = { ...process.env, HOME: root, npm_config_update_notifier: 'false' };
  execFileSync('npm', [...INSTALL, '--prefix', join(root, 'npm'), ...packages], { cwd: root, env, stdio: 'ignore' });
  installed = join(root, 'npm');
  return installed;
}

export interface ExtensionLab extends Lab {
  /** Pi's `npm/node_modules`, a copy of this lab's own. */
  readonly modules: string;
  /** What the fixtures have noted, in order. */
  log(): readonly string[];
}

const VARIABLES = ['FIXTURE_TOOL', 'FIXTURE_WHEN', 'FIXTURE_LOAD', 'FIXTURE_HOOKS', 'FIXTURE_EXPOSURE', 'FIXTURE_HIDE'];

/** @param environment What the fixtures are to do; see their sources. */
export async function openExtensionLab(
  options: LabOptions,
  environment: Readonly<Record<string, string>> = {},
): Promise<ExtensionLab> {
  const lab = await openLab(options);
  const npm = join(lab.agentDir, 'npm');
  cpSync(installFixtures(), npm, { recursive: true });
  const logFile = join(lab.root, 'fixture.log');
  for (const name of VARIABLES) delete process.env[name];
  Object.assign(process.env, environment, { FIXTURE_LOG: logFile, FIXTURE_BASE_URL: lab.model.baseUrl });
  return {
    ...lab,
    modules: join(npm, 'node_modules'),
    log: () => (existsSync(logFile) ? readFileSync(logFile, 'utf8').trimEnd().split('\n') : []),
  };
}

export function extended(alias: string, extensions: readonly string[], override: Partial<ExecutionProfile> = {}) {
  return profile(alias, { extensions, ...override });
}
