/**
 * `npm run acceptance:setup`: the nine steps with the real clients, for every
 * target, in disposable homes. Writes a sanitized result and ends with 0 when
 * every check passed, 1 when one failed, 2 when it could not be run.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { processesOf } from '../../e2e/kit/processes.ts';
import { until } from '../../e2e/kit/until.ts';
import { runIn } from './commands.ts';
import { digestOf, registrationsIn } from './evidence.ts';
import { INTERRUPTED_TARGETS, pullThePlug } from './interruptions.ts';
import { clientFile, isRegistered, plantSentinel, readSentinel } from './sentinels.ts';
import { copyPackage, makeStage, type Stage, TARGETS, type TargetName } from './stage.ts';
import { STEPS, type Step } from './steps.ts';

const { values } = parseArgs({
  options: {
    /** A built package: the repository itself, or where an installed one lies. */
    package: { type: 'string', default: resolve(import.meta.dirname, '../../..') },
    work: { type: 'string', default: join(homedir(), '.cache', 'pi-session-mcp-acceptance') },
    target: { type: 'string', multiple: true },
    label: { type: 'string', default: 'working-tree' },
    out: { type: 'string' },
  },
});

interface Check {
  readonly target: string;
  readonly step: number;
  readonly what: string;
  readonly passed: boolean;
}

const checks: Check[] = [];
const notes: string[] = [];

function check(target: string, step: number, what: string, passed: boolean, note = ''): void {
  checks.push({ target, step, what, passed });
  if (!passed) notes.push(`${target} step ${step}: ${what}${note ? `: ${note}` : ''}`);
}

function refuse(reason: string): never {
  process.stderr.write(`acceptance:setup: ${reason}\n`);
  process.exit(2);
}

const clients = process.env['PI_SESSION_MCP_CLIENTS'] ?? '';
const binaries = join(clients, 'node_modules', '.bin');
if (!clients || !existsSync(join(binaries, 'claude')) || !existsSync(join(binaries, 'codex'))) {
  refuse('PI_SESSION_MCP_CLIENTS must name a directory whose node_modules hold claude and codex');
}
const work = resolve(values.work);
for (const temporary of [tmpdir(), '/tmp', '/var/tmp', '/dev/shm']) {
  if (`${work}${sep}`.startsWith(`${temporary}${sep}`)) refuse('--work must not be below a temporary directory');
}

interface Line {
  readonly target: { readonly alias: string };
  readonly status: string;
  readonly code: string;
}

async function runStep(
  stage: Stage,
  packageDir: string,
  target: TargetName,
  step: Step,
  number: number,
): Promise<void> {
  const setup = join(packageDir, 'dist', 'setup.js');
  const args = [
    setup,
    `--${step.operation}`,
    '--json',
    '--config',
    stage.configuration,
    '--target',
    `${target}:pi-session-mcp`,
  ];
  const ended = await runIn(stage, process.execPath, args);
  const say = (what: string, passed: boolean, note?: string) => check(target, number, what, passed, note);
  const lines = ended.stdout.split('\n').filter(Boolean);
  const report = (lines.length === 1 ? JSON.parse(lines[0] ?? '') : { findings: [] }) as {
    status?: string;
    findings: readonly Line[];
  };
  const told = (alias: string) => {
    const line = report.findings.find((finding) => finding.target.alias === alias);
    return line ? `${line.status} (${line.code})` : 'nothing';
  };
  say('overall status', report.status === step.overall, report.status);
  say('registration', told('pi-session-mcp') === step.registration, told('pi-session-mcp'));
  say('skill', told('pi-session-orchestration') === step.skill, told('pi-session-orchestration'));
  say('two findings', report.findings.length === 2);
  say('exit status', ended.code === 0, String(ended.code));
  say('sanitized', !leaks(stage, packageDir, ended.stdout + ended.stderr));
  say('skill file', existsSync(join(stage.skills, 'pi-session-orchestration', 'SKILL.md')) === step.installed);
  say('registered as reported', (await isRegistered(stage, target)) === step.installed);
}

/** The report may not hold a path, an environment value or a fingerprint. */
function leaks(stage: Stage, packageDir: string, text: string): boolean {
  return (
    [stage.root, packageDir, process.execPath].some((secret) => text.includes(secret)) || /[0-9a-f]{16}/.test(text)
  );
}

async function runTarget(target: TargetName, packageDir: string): Promise<void> {
  const stage = makeStage(join(work, `${process.pid}-${target.replace(':', '-')}`), target, binaries);
  try {
    check(target, 0, 'sentinel planted', await plantSentinel(stage, target));
    const sentinel = await readSentinel(stage, target);
    const file = clientFile(stage, target);
    const before = { file: registrationsIn(file), skill: digestOf(join(stage.skills, 'a-foreign-skill')) };
    for (const [index, step] of STEPS.entries()) {
      const number = index + 1;
      await runStep(stage, packageDir, target, step, number);
      if (!step.installed)
        check(target, number, "client's registrations as before", registrationsIn(file) === before.file);
      check(
        target,
        number,
        'foreign skill untouched',
        digestOf(join(stage.skills, 'a-foreign-skill')) === before.skill,
      );
    }
    const end = STEPS.length;
    check(target, end, 'sentinel unchanged', (await readSentinel(stage, target)) === sentinel);
    const state = await runIn(stage, 'stat', ['-c', '%a %n', '.', 'ownership.json'], stage.stateDirectory);
    check(target, end, 'modes of the state', state.stdout === '700 .\n600 ownership.json\n', state.stdout);
    const record = await runIn(stage, 'cat', ['ownership.json'], stage.stateDirectory);
    check(
      target,
      end,
      'no record left',
      JSON.stringify(JSON.parse(record.stdout)) === '{"schemaVersion":1,"records":[]}',
    );
    const alone = await until('no process left', () => processesOf(stage.root).length === 0).catch(() => false);
    check(target, end, 'no process left', alone !== false);
  } finally {
    rmSync(stage.root, { recursive: true, force: true });
  }
}

async function interrupt(target: TargetName, packageDir: string): Promise<void> {
  const stage = makeStage(join(work, `${process.pid}-${target.replace(':', '-')}-killed`), target, binaries);
  try {
    await pullThePlug(stage, target, packageDir, (what, passed, note) => check(target, 0, what, passed, note));
  } finally {
    rmSync(stage.root, { recursive: true, force: true });
  }
}

function conclude(): never {
  const passed = checks.filter((one) => one.passed).length;
  const steps = STEPS.map(({ operation, registration, skill }) => ({ operation, registration, skill }));
  const result = { schemaVersion: 1, label: values.label, passed, total: checks.length, steps, checks };
  if (values.out) writeFileSync(values.out, `${JSON.stringify(result, null, 2)}\n`);
  for (const note of notes) process.stdout.write(`failed: ${note}\n`);
  process.stdout.write(`setup acceptance: ${passed} of ${checks.length} checks passed\n`);
  process.exit(passed === checks.length ? 0 : 1);
}

const real = [join(homedir(), '.codex', 'config.toml'), join(homedir(), '.claude.json')];
const realBefore = real.map(registrationsIn);
const packageDir = join(work, `${process.pid}-package with space`);
mkdirSync(packageDir, { recursive: true });
try {
  copyPackage(resolve(values.package), packageDir);
  const built = digestOf(join(packageDir, 'dist'));
  for (const target of TARGETS.filter((name) => values.target?.includes(name) ?? true)) {
    process.stdout.write(`${target}: nine steps\n`);
    await runTarget(target, packageDir);
    if (!INTERRUPTED_TARGETS.includes(target)) continue;
    process.stdout.write(`${target}: killed in a command of the client\n`);
    await interrupt(target, packageDir);
  }
  check('all', STEPS.length, 'built files unchanged', digestOf(join(packageDir, 'dist')) === built);
  check('all', STEPS.length, 'real registrations unchanged', String(real.map(registrationsIn)) === String(realBefore));
} finally {
  rmSync(packageDir, { recursive: true, force: true });
}
conclude();
