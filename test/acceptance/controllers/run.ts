/**
 * `npm run acceptance:controllers`: Claude Code and Codex, real and headless, each
 * control two Pi sessions at once through the built server. Writes a sanitized
 * result and ends with 0 when every check passed, 1 when one failed, 2 when it
 * could not be run. docs/acceptance.md says what it proves.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { endAll, processesOf } from '../../e2e/kit/processes.ts';
import type { ClientName } from '../kit/driving/wire/wire.ts';
import { registrationsIn } from '../setup/evidence.ts';
import { buildOf } from './build.ts';
import { commonChecks } from './checks/common.ts';
import { scan } from './checks/scan.ts';
import type { Evidence } from './evidence.ts';
import { gather } from './gather.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';

const { values } = parseArgs({
  options: {
    /** A built package: the repository itself, or where an installed one lies. */
    package: { type: 'string', default: resolve(import.meta.dirname, '../../..') },
    work: { type: 'string', default: join(homedir(), '.cache', 'pi-session-mcp-acceptance') },
    client: { type: 'string', multiple: true },
    scenario: { type: 'string', multiple: true },
    label: { type: 'string', default: 'working-tree' },
    out: { type: 'string' },
    /** Leaves the work directory, transcripts and the token included, to be looked at. Never publish it. */
    keep: { type: 'boolean', default: false },
  },
});

const EXECUTABLES: Readonly<Record<ClientName, string>> = { 'claude-code': 'claude', codex: 'codex' };
const CLIENTS = Object.keys(EXECUTABLES) as ClientName[];

function refuse(reason: string): never {
  process.stderr.write(`acceptance:controllers: ${reason}\n`);
  process.exit(2);
}

const installed = process.env['PI_SESSION_MCP_CLIENTS'] ?? '';
const binaries = join(installed, 'node_modules', '.bin');
const packageDir = resolve(values.package);
const work = resolve(values.work);
const clients = CLIENTS.filter((name) => values.client?.includes(name) ?? true);
const scenarios = SCENARIOS.filter(({ name }) => values.scenario?.includes(name) ?? true);
if (process.platform !== 'linux') refuse('the process watch needs Linux');
if (!installed || clients.some((name) => !existsSync(join(binaries, EXECUTABLES[name])))) {
  refuse('PI_SESSION_MCP_CLIENTS must name a directory whose node_modules hold claude and codex');
}
if (clients.length === 0 || scenarios.length === 0) refuse('no such client or scenario');
if (!existsSync(join(packageDir, 'dist', 'main.js'))) refuse('--package is not built');
for (const temporary of [tmpdir(), '/tmp', '/var/tmp', '/dev/shm']) {
  if (`${work}${sep}`.startsWith(`${temporary}${sep}`)) refuse('--work must not be below a temporary directory');
}

interface Check {
  readonly client: string;
  readonly scenario: string;
  readonly what: string;
  readonly passed: boolean;
}

interface Run {
  readonly client: ClientName;
  readonly scenario: string;
  readonly seconds: number;
  readonly results: number;
  readonly mentionsInAssistantText: number;
  readonly processesWatched: number;
}

const checks: Check[] = [];
const runs: Run[] = [];
const roots = new Set<string>();

function clear(root: string): void {
  endAll(processesOf(root));
  if (!values.keep) rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  roots.delete(root);
}

function conclude(evidence: Evidence, scenario: Scenario, seconds: number): void {
  const { client, setup, controller, processes } = evidence;
  const all = Object.entries({ ...commonChecks(evidence), ...scenario.checks(evidence) });
  checks.push(...all.map(([what, passed]) => ({ client, scenario: scenario.name, what, passed })));
  const { results, inAssistantText } = scan(evidence);
  const counts = { results, mentionsInAssistantText: inAssistantText, processesWatched: processes.seen.length };
  runs.push({ client, scenario: scenario.name, seconds: Math.round(seconds), ...counts });
  const failed = all.filter(([, passed]) => !passed);
  process.stdout.write(`${client} ${scenario.name}: ${all.length - failed.length} of ${all.length}\n`);
  for (const [what] of failed) process.stdout.write(`failed: ${what}\n`);
  if (!setup.skillCopied) process.stdout.write(`setup said: ${setup.statuses.join(', ') || 'nothing'}\n`);
  if (controller.failure) process.stdout.write(`the controller gave up: ${controller.failure}\n`);
}

async function run(client: ClientName, scenario: Scenario): Promise<string> {
  const root = join(work, `${process.pid}-${client}-${scenario.name}`);
  mkdirSync(root, { recursive: true });
  roots.add(root);
  const from = performance.now();
  try {
    const evidence = await gather({ root, client, scenario, package: packageDir, binaries });
    if (values.keep) writeFileSync(join(root, 'evidence.json'), JSON.stringify(evidence, null, 2), { mode: 0o600 });
    conclude(evidence, scenario, (performance.now() - from) / 1000);
    return evidence.made.token;
  } finally {
    clear(root);
  }
}

function versionOf(client: ClientName): string {
  const env = { HOME: work, PATH: `${resolve(process.execPath, '..')}:/usr/bin:/bin` };
  const printed = execFileSync(join(binaries, EXECUTABLES[client]), ['--version'], { env, encoding: 'utf8' });
  return /\d+\.\d+\.\d+/.exec(printed)?.[0] ?? 'unknown';
}

function write(tokens: readonly string[]): void {
  const passed = checks.filter((check) => check.passed).length;
  const versions = Object.fromEntries(clients.map((client) => [client, versionOf(client)]));
  const result = {
    schemaVersion: 1,
    label: values.label,
    build: buildOf(packageDir),
    versions,
    passed,
    total: checks.length,
    runs,
    checks,
  };
  const text = `${JSON.stringify(result, null, 2)}\n`;
  if ([work, packageDir, homedir(), ...tokens].some((secret) => text.includes(secret))) {
    refuse('the result would hold a path or a token and was not written');
  }
  if (values.out) writeFileSync(values.out, text);
  process.stdout.write(`controllers acceptance: ${passed} of ${checks.length} checks passed\n`);
}

for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
  process.once(signal, () => {
    for (const root of roots) clear(root);
    process.exit(code);
  });
}

const real = [join(homedir(), '.codex', 'config.toml'), join(homedir(), '.claude.json')];
const state = () => [buildOf(packageDir).modules, ...real.map(registrationsIn)];
try {
  mkdirSync(work, { recursive: true });
  const [built, ...registrations] = state();
  const tokens: string[] = [];
  for (const client of clients) for (const scenario of scenarios) tokens.push(await run(client, scenario));
  const [builtNow, ...registrationsNow] = state();
  const all = { client: 'all', scenario: 'all' };
  checks.push({ ...all, what: 'built files unchanged', passed: builtNow === built });
  checks.push({
    ...all,
    what: 'real registrations unchanged',
    passed: String(registrationsNow) === String(registrations),
  });
  write(tokens);
} catch (error) {
  refuse(`could not be run: ${(error as Error).message}`);
}
process.exit(checks.every((check) => check.passed) ? 0 : 1);
